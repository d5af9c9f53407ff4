"""A child process as the server sees it: start it, let it work, end it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from n2s.serve.wire import Message, receive

PATIENCE = 2.0
"""Seconds in which a process whose pipe has ended should have ended, too."""
LOADING = 300.0
"""Seconds that a child may load and compile what its work needs, before the work itself begins."""


class ChildDiedError(Exception):
    """A child process ended before its work did."""


@dataclass(frozen=True)
class Command:
    """How to start a child."""

    role: str
    """``solver`` (which loads the kernels) or ``clerk``."""
    memory: int
    """Megabytes for a job."""

    def arguments(self) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "n2s.serve.worker", self.role, str(self.memory)]


class Child:
    """A running child process that does one thing at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.gone = asyncio.create_task(process.wait())
        """Done when the process is."""

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @staticmethod
    async def start(command: Command) -> Child:
        """A new process, as soon as it says that it is ready.

        In a session of its own: a Ctrl-C in the server's terminal is the server's to deal with.
        """
        # A search has one core; what clients must show is none of a child's business.
        threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        environment = {**threads, **os.environ}
        environment.pop("N2S_TOKEN", None)
        process = await asyncio.create_subprocess_exec(
            *command.arguments(), stdin=PIPE, stdout=PIPE, start_new_session=True, env=environment
        )
        child = Child(process)
        try:
            if await child._receive() is None:
                raise ChildDiedError(await child._epitaph())
        except BaseException:
            await child.close()
            raise
        return child

    async def work(
        self, message: Message, limit: float, hear: Callable[[Message], None] | None
    ) -> Message:
        """The answer to a message; what comes before it is heard on the way.

        The limit counts from when the child says that it has begun.

        Raises
        ------
        ChildDiedError
            If the process ended, or took longer than ``limit`` seconds and was ended.
        """
        try:
            async with asyncio.timeout(LOADING) as clock:
                await self._send(message)
                while True:
                    said = await self._receive()
                    if said is None:
                        raise ChildDiedError(await self._epitaph())
                    if said.head["say"] == "begun":
                        clock.reschedule(asyncio.get_running_loop().time() + limit)
                    elif said.head["say"] != "news":
                        return said
                    elif hear is not None:
                        hear(said)
        except TimeoutError:
            self.kill()
            raise ChildDiedError(f"it had not ended after {limit:g} seconds") from None

    async def interrupt(self) -> None:
        """Ask it to come to an end with what it is doing."""
        await self._send(Message({"do": "stop"}))

    def kill(self) -> None:
        """End the process; whoever waits for its answer is told."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """End the process; it holds nothing that is worth waiting for."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.kill()
        await self.gone

    async def _send(self, message: Message) -> None:
        stream = self._process.stdin
        if stream is not None:
            with suppress(ConnectionError):  # then reading tells of its death
                stream.write(message.packed())
                await stream.drain()

    async def _receive(self) -> Message | None:
        stream = self._process.stdout
        return None if stream is None else await receive(stream)

    async def _epitaph(self) -> str:
        """Why the process ended."""
        await asyncio.wait([self.gone], timeout=PATIENCE)
        code = self._process.returncode
        if code is None:
            self.kill()
            return "it stopped answering"
        if code >= 0:
            return f"it left with exit code {code}"
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"it was ended by signal {-code}"

"""A few child processes and a bounded queue before them."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from n2s.serve.child import Child, ChildDiedError, Command
from n2s.serve.wire import Message

GRACE = 10.0
"""Seconds that a task may take beyond what it asked for."""
STOPPING = 3.0
"""Seconds that a child has to come to an end with a task when asked to."""
PAUSES = (0.0, 0.5, 2.0, 5.0)
"""Seconds before a child is started again, by how many starts in a row have failed."""


class RefusedError(Exception):
    """The pool takes no task now."""

    def __init__(self, reason: str, full: bool, retry_after: int) -> None:
        super().__init__(reason)
        self.full = full
        """Whether there are too many others; else the service is going down or cannot work."""
        self.retry_after = retry_after


class FailedError(Exception):
    """A task failed for a reason that the client did not give."""


class CancelledTaskError(Exception):
    """A task was cancelled before it began."""


class Task:
    """A piece of work on its way through a pool."""

    def __init__(
        self,
        what: str,
        options: Mapping[str, Any],
        body: bytes = b"",
        seconds: float = 0.0,
        hear: Callable[[Message], None] | None = None,
        begin: Callable[[], None] | None = None,
    ) -> None:
        self.message = Message({"do": what, "options": dict(options)}, body)
        self.seconds = seconds
        """How long it will take, as far as known."""
        self.hear = hear
        self.begin = begin
        self.asked_at = time.monotonic()
        self.begun_at: float | None = None
        self.answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(self._end)

    @property
    def waited(self) -> float:
        """Seconds in the queue."""
        begun = time.monotonic() if self.begun_at is None else self.begun_at
        return begun - self.asked_at

    def _end(self, answer: asyncio.Future[Message]) -> None:
        # Finished jobs are kept for a while, and what was asked may be megabytes.
        self.message = Message(self.message.head)
        if not answer.cancelled():
            answer.exception()  # nobody may be left to look at a failure

    def fail(self, error: Exception) -> None:
        """Answer with an error, unless there is an answer."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Pool:
    """Child processes of one kind, each replaced when it dies."""

    def __init__(self, command: Command, size: int, most_waiting: int, most_bytes: int) -> None:
        self._command = command
        self._most_waiting = most_waiting
        self._most_bytes = most_bytes
        self._waiting: dict[Task, None] = {}
        self._arrived = asyncio.Event()
        self._running: dict[Task, Child] = {}
        self._children: dict[int, Child] = {}
        self._size = size
        self._slots: list[asyncio.Task[None]] = []
        self._refusing = ""
        self._trouble = ""
        self.restarts = 0

    # --- what there is -----------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Children when all are up."""
        return self._size

    @property
    def ready(self) -> int:
        """Children that can work."""
        return len(self._children)

    @property
    def waiting(self) -> int:
        """Tasks that no child has begun."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Tasks that children work on."""
        return len(self._running)

    @property
    def trouble(self) -> str:
        """Why no child can be started; empty if they can."""
        return self._trouble

    def place(self, task: Task) -> int | None:
        """How many tasks are before this one; None once it has begun."""
        return list(self._waiting).index(task) if task in self._waiting else None

    # --- what it does ------------------------------------------------------------------------

    def start(self) -> None:
        """Start the children, one after the other: the first may have kernels to compile for all."""
        first: asyncio.Event | None = None
        for _ in range(self._size):
            up = asyncio.Event()
            self._slots.append(asyncio.create_task(self._slot(first, up)))
            first = up

    def submit(self, task: Task) -> None:
        """Let a task wait for a child.

        Raises
        ------
        RefusedError
            If too many wait, or none will be done.
        """
        if self._refusing or self._trouble:
            raise RefusedError(self._refusing or self._trouble, False, 10)
        held = sum(len(other.message.body) for other in self._waiting)
        if (
            len(self._waiting) >= self._most_waiting
            or held + len(task.message.body) > self._most_bytes
        ):
            raise RefusedError("too many others are waiting: come back later", True, self._later())
        self._waiting[task] = None
        self._arrived.set()

    def cancel(self, task: Task) -> None:
        """A waiting task will not begin; a running one ends with what it has."""
        if task in self._waiting:
            del self._waiting[task]
            task.fail(CancelledTaskError("cancelled before it began"))
        elif task in self._running:
            asyncio.create_task(self._stop(task, self._running[task])).add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )

    async def drain(self, reason: str) -> None:
        """Take no more tasks, fail the waiting ones, let the running ones end with what they have."""
        self._refusing = reason
        for task in list(self._waiting):
            del self._waiting[task]
            task.fail(RefusedError(reason, False, 10))
        running = list(self._running)
        for task in running:
            self.cancel(task)
        if running:
            await asyncio.wait([task.answer for task in running], timeout=STOPPING + 1)

    async def close(self) -> None:
        """End the children."""
        for slot in self._slots:
            slot.cancel()
        await asyncio.gather(*self._slots, return_exceptions=True)

    async def _slot(self, before: asyncio.Event | None, up: asyncio.Event) -> None:
        """Keep one child alive and let it work, for as long as the pool lives."""
        if before is not None:
            await before.wait()
        failures = 0
        while True:
            await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])
            try:
                child = await Child.start(self._command)
            except (ChildDiedError, OSError) as error:
                failures += 1
                if failures >= len(PAUSES) - 1 and not self._children:
                    self._give_up(f"no worker can be started: {error}")
                up.set()
                continue
            failures, self._trouble = 0, ""
            up.set()
            self._children[child.pid] = child
            try:
                await self._serve(child)
            except Exception:  # death, or words that make no sense: another child takes its place
                self.restarts += 1
            finally:
                del self._children[child.pid]
                await child.close()

    async def _serve(self, child: Child) -> None:
        while True:
            await self._arrival(child)
            task = next(iter(self._waiting))
            del self._waiting[task]
            task.begun_at = time.monotonic()
            self._running[task] = child
            if task.begin is not None:
                task.begin()
            try:
                answer = await child.work(task.message, task.seconds + GRACE, task.hear)
                if not task.answer.done():
                    task.answer.set_result(answer)
            except ChildDiedError as error:
                task.fail(FailedError(f"the worker died: {error}"))
                raise
            finally:
                task.fail(FailedError("the service went down"))
                del self._running[task]

    async def _arrival(self, child: Child) -> None:
        """Wait until there is a task, and notice if the child dies meanwhile."""
        while not (self._waiting or child.gone.done()):
            self._arrived.clear()
            arrived = asyncio.create_task(self._arrived.wait())
            try:
                await asyncio.wait([arrived, child.gone], return_when=asyncio.FIRST_COMPLETED)
            finally:
                arrived.cancel()
        if child.gone.done():
            raise ChildDiedError("it died while it had nothing to do")

    async def _stop(self, task: Task, child: Child) -> None:
        if self._running.get(task) is not child:
            return  # it ended meanwhile, and the child may be doing something else
        await child.interrupt()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.wait([task.answer]), STOPPING)
        if not task.answer.done():
            child.kill()

    def _give_up(self, reason: str) -> None:
        """Nobody should wait for children that do not come; they are still tried."""
        self._trouble = reason
        for task in list(self._waiting):
            del self._waiting[task]
            task.fail(RefusedError(reason, False, 10))

    def _later(self) -> int:
        """Seconds after which there should be room again."""
        ahead = sum(task.seconds for task in (*self._waiting, *self._running))
        return max(1, math.ceil(ahead / max(1, self._size) / 2))

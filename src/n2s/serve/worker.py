"""A child process: takes orders from standard input, one at a time, and answers on standard output.

``python -m n2s.serve.worker solver MEGABYTES`` loads the kernels first; a ``clerk`` does quick things and
needs none. It ends when its input does: no child outlives its server.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from n2s.errors import N2SError
from n2s.search.interrupt import Interrupt
from n2s.serve.asked import Limits
from n2s.serve.settings import MEGABYTE
from n2s.serve.wire import Message, read
from n2s.serve.work import BEGUN, WORK, Order, warm_up

NICENESS = 5
"""Searches give way to the server and to clerks: answers come at once while all cores search."""
MEMORY = "the job needs more memory than it may have here"
LONGEST_SENTENCE = 1000
"""Characters of an error; names that clients give are in it, and the server looks at every one."""
LARGEST_ANSWER = 128 * MEGABYTE
"""A stack at every stop can repeat long ids until a small body makes an answer of gigabytes."""


class Inbox:
    """Orders in the order they came; a thread reads them, so that "stop" is heard during work."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._orders: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.interrupt = Interrupt()
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> Message | None:
        """The next order; None at the end."""
        return self._orders.get()

    def _read(self) -> None:
        while True:
            try:
                message = read(self._stream)
            except MemoryError:  # then there is nothing to answer: the server notices the end
                message = None
            if message is None:
                self.interrupt.asked = True
                self._orders.put(None)
                return
            if message.head["do"] == "stop":
                self.interrupt.asked = True
            else:
                # Fresh before the order can be taken: a "stop" that follows is meant for it.
                self.interrupt = Interrupt()
                self._orders.put(message)


def main(role: str, megabytes: int) -> None:
    """Work until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the server decides when to end
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the messages
    if role == "solver":
        with suppress(OSError):
            os.nice(NICENESS)
        warm_up()
    _bound_memory(megabytes)

    def tell(message: Message) -> None:
        out.write(message.packed())
        out.flush()

    inbox = Inbox(sys.stdin.buffer)
    with suppress(BrokenPipeError):  # nobody is left to answer
        tell(Message({"say": "ready"}))
        while (message := inbox.next()) is not None:
            tell(_answer(message, inbox.interrupt, tell))


def _answer(message: Message, interrupt: Interrupt, tell: Callable[[Message], None]) -> Message:
    """The result, or why there is none."""
    options = message.head["options"]
    order = Order(
        body=message.body,
        query=options.get("query", {}),
        limits=Limits(options.get("nodes", 0), options.get("seconds", 0.0)),
        stream=options.get("stream", False),
        interrupt=interrupt,
        tell=tell,
    )
    try:
        if message.head["do"] != "solve":  # which begins when all it needs is loaded
            tell(BEGUN)
        result = WORK[message.head["do"]](order)
    except N2SError as error:
        return Message({"say": "refused", "error": str(error)[:LONGEST_SENTENCE]})
    except MemoryError:
        return Message({"say": "failed", "error": MEMORY})
    except BrokenPipeError:
        raise
    except Exception as error:
        if "memory" in str(error):  # torch says it in its own words
            return Message({"say": "failed", "error": MEMORY})
        return Message({"say": "failed", "error": f"{type(error).__name__}: {str(error)[:300]}"})
    if len(result.data) > LARGEST_ANSWER:
        limit = f"more than the {LARGEST_ANSWER // MEGABYTE} megabytes that are sent"
        return Message({"say": "refused", "error": f"the answer would be {limit}"})
    return Message({"say": "done", **result.about}, result.data)


def _bound_memory(megabytes: int) -> None:
    """From now on, so many megabytes more and not one beyond; where the system can do that."""
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + megabytes * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""Ctrl-C and SIGTERM as a wish to stop, not as an explosion."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
IMPATIENT = 5


class Interrupt:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        self.times = 0

    def ask(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Ask to stop; who asks a fifth time is not interested in the best so far any more."""
        self.times += 1
        self.asked = True
        if self.times >= IMPATIENT:
            # No exception: it would surface inside a native kernel and lose its meaning.
            os._exit(130)


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Catch the signals inside; outside the main thread, where that is not possible, nothing happens."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = {number: signal.signal(number, interrupt.ask) for number in SIGNALS}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""A budget of processor time: other work on the machine does not count."""

from __future__ import annotations

import time

from n2s.search.interrupt import Interrupt


class Spent(Interrupt):
    """Asks a run to stop when its process has had so many minutes of a core."""

    def __init__(self, minutes: float) -> None:
        self._end = time.process_time() + 60 * minutes
        super().__init__()

    @property
    def asked(self) -> bool:
        """Whether the time is over."""
        return time.process_time() >= self._end

    @asked.setter
    def asked(self, _: bool) -> None:
        """Nobody else asks."""

"""Dividing the steps of a search into rounds, as a policy that builds tours wants them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from n2s.problem.distance import FloatArray

NEARLY = 1e-9
"""Of a step: what rounding may have left of it."""


class Rounds:
    """The round that a search is in, and when the next one begins.

    The rounds that remain are equally long, but the first has more to build. Where steps are limited, it is
    known how many there will be; by the clock or by patience it is what the pace so far promises, and the
    plan changes with it.

    Parameters
    ----------
    divide
        How many rounds the policy makes of so many steps.
    n
        The requests, and so the steps behind which the first tour is built: before, no plan is needed, and
        the pace says little.
    share
        Of the requests that further rounds build anew.
    """

    def __init__(self, divide: Callable[[float], int], n: int, share: float = 1.0) -> None:
        self.share = share
        self._divide = divide
        self._n = n
        self._begin = 0.0
        self._length: float | None = None

    @property
    def length(self) -> float | None:
        """Steps of the present round, once there is a plan."""
        return self._length

    def begins(self, step: int, left: float | None) -> bool:
        """Whether a round begins with this step, when about so many are ``left``, as far as known."""
        if left is None or step < self._n:
            return False
        total = step + left
        self._plan(total)
        end = self._begin + (self._length or 0.0)
        if step < end - NEARLY or total < end + 1.0:
            return False
        # A plan that has changed may find the end far behind.
        self._begin = end if step < end + 1.0 else float(step)
        self._plan(total)
        return True

    def used(self, step: int) -> float:
        """The share of the present round that is behind."""
        return 0.0 if self._length is None else max(0.0, (step - self._begin) / self._length)

    def draw(self, generator: np.random.Generator, copies: int) -> FloatArray:
        """What ``SearchState.begin_round`` draws by, for the copies of an instance."""
        return generator.random((copies, self._n + 2 if self.share < 1.0 else 0))

    def _plan(self, total: float) -> None:
        """How long the present round is; the last one if there is no time for most of another."""
        more = (1.0 - self.share) * self._n  # what the first round builds beyond the others
        first = more if self._begin == 0.0 else 0.0
        left = total - self._begin - first
        remaining = max(1, round(left * self._divide(total) / max(total - more, 1.0)))
        self._length = max(1.0, first + left / remaining)

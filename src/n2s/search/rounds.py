"""Dividing the steps of a search into rounds, as a policy that builds tours wants them."""

from __future__ import annotations

from collections.abc import Callable

DIGITS = 6
"""Of a number of steps: what is behind them is rounding."""
NEARLY = 10.0**-DIGITS


class Rounds:
    """The round that a search is in, and when the next one begins.

    The rounds that remain are equally long. Where steps are limited, it is known how many there will be; by
    the clock or by patience it is what the pace so far promises, and the plan changes with it.

    Parameters
    ----------
    divide
        How many rounds the policy makes of so many steps.
    settled
        The steps behind which the first tour is built: before, no plan is needed, and the pace says little.
    """

    def __init__(self, divide: Callable[[float], int], settled: int) -> None:
        self._divide = divide
        self._settled = settled
        self._begin = 0.0
        self._length: float | None = None

    @property
    def length(self) -> float | None:
        """Steps of the present round, once there is a plan."""
        return self._length

    def begins(self, step: int, left: float | None) -> bool:
        """Whether a round begins with this step, when about so many are ``left``, as far as known."""
        if left is None or step < self._settled:
            return False
        total = round(step + left, DIGITS)
        self._plan(total)
        end = self._begin + (self._length or 0.0)
        if step < end - NEARLY:
            return False
        # A plan that has changed may find the end far behind.
        self._begin = end if step < end + 1.0 else float(step)
        self._plan(total)
        return True

    def used(self, step: int) -> float:
        """The share of the present round that is behind."""
        return 0.0 if self._length is None else max(0.0, (step - self._begin) / self._length)

    def _plan(self, total: float) -> None:
        """How long the present round is; the last one if there is no time for most of another."""
        remaining = max(1, round((total - self._begin) * self._divide(total) / total))
        self._length = (total - self._begin) / remaining

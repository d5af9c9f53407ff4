"""What a progress callback is told."""

from __future__ import annotations

from dataclasses import dataclass

from n2s.problem.instance import IntArray


@dataclass(frozen=True)
class Tick:
    """How a search stands after a step, or after some of them."""

    step: int
    seconds: float
    best: float
    current: float
    """Cheapest of the current tours."""
    tour: IntArray | None = None
    """The best tour as nodes, not to be changed; None where several instances are searched together."""

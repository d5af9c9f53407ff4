"""What a progress callback is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """How a search stands after a step, or after some of them."""

    step: int
    seconds: float
    best: float
    current: float
    """Cheapest of the current tours."""

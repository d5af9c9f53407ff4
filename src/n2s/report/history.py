"""The course of a search as (step, seconds, best cost so far), checked before anything draws it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from n2s.errors import InputError, quoted

Point = tuple[int, float, float]


def checked(history: Sequence[Point]) -> list[Point]:
    """The same points as plain numbers.

    Raises
    ------
    InputError
        If one of them is not three finite numbers: an axis has no place for it.
    """
    points = []
    for number, entry in enumerate(history):
        try:
            step, seconds, best = entry
            point = (int(step), float(seconds), float(best))
        except (TypeError, ValueError, OverflowError):
            point = (0, math.nan, math.nan)
        if not (math.isfinite(point[1]) and math.isfinite(point[2])):
            raise InputError(
                f"history[{number}] must be a step, seconds and a cost, not {quoted(entry)}"
            )
        points.append(point)
    return points

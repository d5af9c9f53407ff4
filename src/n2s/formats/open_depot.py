"""The depot of a route that has none: it has to be some node, but nobody goes there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from n2s.problem import Id
from n2s.problem.distance import FloatArray
from n2s.problem.instance import LARGEST


def middle(points: ArrayLike) -> FloatArray:
    """(2,) the mean of all stops: costs nothing to know and serves pictures and networks best."""
    with np.errstate(all="ignore"):
        mean = np.asarray(np.mean(np.asarray(points, dtype=np.float64), axis=0))
    # Coordinates beyond use are to be reported of the stop that has them, not of this place.
    return mean if (np.abs(mean) < LARGEST).all() else np.zeros(2)


def unused(name: str, ids: Iterable[Id]) -> str:
    """``name``, or a variation of it that is no id yet."""
    taken = set(map(str, ids))
    variations = (name, *(f"{name}-{i}" for i in range(2, len(taken) + 3)))
    return next(variation for variation in variations if variation not in taken)

"""Where a policy plugs in: which requests to take out, and which places to prefer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from n2s.errors import InputError
from n2s.problem.distance import FloatArray


@dataclass(frozen=True)
class Guide:
    """Scores from outside; they steer choices, never what a tour costs."""

    removal: FloatArray | None = None
    """(n,) the seed of a ruin is drawn with probability proportional to exp(score)."""
    pickup: FloatArray | None = None
    """(n, N) added to the cost of putting a request's pickup right behind a node."""
    delivery: FloatArray | None = None
    """(n, N) the same for its delivery."""

    def cumulative(self, n: int) -> FloatArray:
        """Running sums of the seeds' weights; empty if all are alike."""
        if self.removal is None:
            return np.empty(0)
        scores = _checked("removal", self.removal, (n,))
        return np.cumsum(np.exp(scores - scores.max()))

    def reach(self, costs: FloatArray) -> FloatArray:
        """(N, N) by node: what it costs to come to it from every other, as insertions see it."""
        size = len(costs)
        n = size // 2
        reach = np.array(costs.T, order="C")
        for name, first in (("pickup", 1), ("delivery", n + 1)):
            terms = getattr(self, name)
            if terms is not None:
                reach[first : first + n] += _checked(name, terms, (n, size))
        reach.setflags(
            write=False
        )  # as an instance's costs: kernels are compiled for one kind of array
        return reach

    @property
    def plain(self) -> bool:
        """Whether insertions see the costs as they are."""
        return self.pickup is None and self.delivery is None


def _checked(name: str, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(f"the {name} scores of the guide are {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise InputError(f"the {name} scores of the guide hold a number that is not finite")
    return array

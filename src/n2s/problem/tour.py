"""Tours in tour order: an integer array of nodes by position that starts with the depot.

The predecessor of a position is then a shift, precedence a comparison of positions, and the way back
to the depot is understood. Successor arrays appear nowhere.
"""

from __future__ import annotations

import numpy as np

from n2s.problem.instance import IntArray
from n2s.problem.variant import Variant


def inverse(tour: IntArray) -> IntArray:
    """Position of each node: ``inverse(tour)[tour[k]] == k``. The inverse of the inverse is the tour."""
    positions = np.empty_like(tour)
    positions[tour] = np.arange(len(tour))
    return positions


def random_tour(n: int, variant: Variant, rng: np.random.Generator) -> IntArray:
    """A feasible tour built stop by stop, as the paper starts its search.

    Every next stop is drawn uniformly from the pickups still to be made and the deliveries that the
    variant allows at that moment.
    """
    waiting = list(rng.permutation(n) + 1)
    loaded: list[int] = []
    tour = np.zeros(2 * n + 1, dtype=np.int64)
    for position, u in enumerate(rng.random(2 * n), start=1):
        deliverable = variant.deliverable(loaded)
        choice = int(u * (len(waiting) + len(deliverable)))
        if choice < len(waiting):
            request = waiting.pop()  # already in random order
            loaded.append(request)
            tour[position] = request
        else:
            request = deliverable[choice - len(waiting)]
            loaded.remove(request)
            tour[position] = request + n
    return tour


def random_tours(n: int, variant: Variant, count: int, rng: np.random.Generator) -> IntArray:
    """(count, N) independent random feasible tours."""
    return np.stack([random_tour(n, variant, rng) for _ in range(count)])

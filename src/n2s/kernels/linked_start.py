"""A first tour of an instance whose costs are computed when asked for."""

from __future__ import annotations

import numpy as np
from numba import njit

from n2s.kernels.legs import leg
from n2s.kernels.rules import gap_labels


@njit(cache=True, nogil=True)
def start_long_tour(variant, legs, order):  # type: ignore[no-untyped-def]
    """``chain.start_tour`` without a matrix: requests in the order given, each at its cheapest place."""
    n = len(order)
    size = 2 * n + 1
    tour = np.zeros(size, np.int64)
    labels = np.zeros((2, size), np.int64)
    least, where = np.empty(n + 1), np.zeros(n + 1, np.int64)
    left = 1
    for pickup in order:
        delivery = pickup + n
        if variant != 0:
            gap_labels(variant, tour[:left], n, labels[0], labels[1], where)
        for gap in range(left):
            least[labels[0, gap]] = np.inf
            least[labels[1, gap]] = np.inf
        between = leg(legs, pickup, delivery)
        best, best_j, best_k = np.inf, 0, 0
        behind = 0
        for j in range(left - 1, -1, -1):
            node = tour[j]
            p, d = labels[0, j], labels[1, j]
            arc = leg(legs, node, behind)
            into = leg(legs, node, pickup) - arc
            on = leg(legs, delivery, behind)
            if p == d and into + between + on < best:
                best, best_j, best_k = into + between + on, j, j
            apart = into + leg(legs, pickup, behind) + least[p]
            if apart < best:
                best, best_j, best_k = apart, j, where[p]
            drop = leg(legs, node, delivery) + on - arc
            if drop < least[d]:
                least[d] = drop
                where[d] = j
            behind = node
        for position in range(left - 1, best_k, -1):
            tour[position + 2] = tour[position]
        tour[best_k + 2] = delivery
        for position in range(best_k, best_j, -1):
            tour[position + 1] = tour[position]
        tour[best_j + 1] = pickup
        left += 2
    return tour

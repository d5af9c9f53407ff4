"""A cheap first tour: requests go in one after the other, each at its cheapest place."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from n2s.kernels.change import insertion_terms
from n2s.kernels.reinsertion import best_gaps
from n2s.kernels.rules import gap_labels
from n2s.kernels.tours import put_in


@njit(cache=True, parallel=True)
def greedy_tours(variant, costs, orders):  # type: ignore[no-untyped-def]
    """(B, N) tours by best insertion of the requests in the order given, (B, n)."""
    batch, n = orders.shape
    copies = batch // len(costs)
    tours = np.zeros((batch, 2 * n + 1), np.int64)
    for b in prange(batch):
        terms = np.empty((3, 2 * n + 1))
        labels = np.empty((2, 2 * n + 1), np.int64)
        scratch = np.empty(n + 1, np.int64)
        least = np.empty(n + 1)
        rest = np.zeros(2 * n + 1, np.int64)
        cost = costs[b // copies]
        length = 1  # the depot
        for request in orders[b]:
            a, d, both = terms[0, :length], terms[1, :length], terms[2, :length]
            pickup, delivery = labels[0, :length], labels[1, :length]
            insertion_terms(cost, rest[:length], request, request + n, a, d, both)
            gap_labels(variant, rest[:length], n, pickup, delivery, scratch)
            j, k, _ = best_gaps(pickup, delivery, a, d, both, least, scratch)
            put_in(rest[:length], request, n, j, k, tours[b, : length + 2])
            length += 2
            rest[:length] = tours[b, :length]
    return tours

"""Heat-bath annealing of many tours: one random request at a time at falling temperatures."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from n2s.kernels.change import insertion_terms
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.reinsertion import draw_gaps
from n2s.kernels.rules import gap_labels
from n2s.kernels.tours import put_in, take_out, tour_cost


@njit(cache=True, parallel=True)
def anneal_tours(variant, costs, tours, steps, hot, cold, seeds):  # type: ignore[no-untyped-def]
    """(B, N) the best tours met from (B, N) ``tours`` in (B,) ``steps`` each.

    ``hot`` and ``cold`` (B,) are the first and last temperatures, ``seeds`` (B,) uint64.
    """
    batch, size = tours.shape
    n = size // 2
    gaps = size - 2
    copies = batch // len(costs)
    result = np.empty_like(tours)
    for b in prange(batch):
        cost = costs[b // copies]
        tour = tours[b].copy()
        result[b] = tour
        current = tour_cost(cost, tour)
        least = current
        rest = np.empty(gaps, np.int64)
        terms = np.empty((3, gaps))
        labels = np.empty((2, gaps), np.int64)
        scratch = np.empty(n + 1, np.int64)
        weight = np.empty((4, gaps))
        total = np.empty(n + 1)
        state = np.empty(1, np.uint64)
        state[0] = seeds[b]
        temperature = hot[b]
        cooling = (cold[b] / hot[b]) ** (1.0 / max(1, steps[b] - 1))
        for _ in range(steps[b]):
            request = 1 + next_below(state, n)
            take_out(tour, request, n, rest)
            insertion_terms(cost, rest, request, request + n, terms[0], terms[1], terms[2])
            gap_labels(variant, rest, n, labels[0], labels[1], scratch)
            u, v = next_uniform(state), next_uniform(state)
            j, k = draw_gaps(
                labels[0], labels[1], terms[0], terms[1], terms[2], temperature, u, v, weight, total
            )
            put_in(rest, request, n, j, k, tour)
            current = tour_cost(cost, tour)
            if current < least:
                least = current
                result[b] = tour
            temperature *= cooling
    return result

"""Editing and measuring batches of tours.

Shapes: B tours of N = 2n + 1 nodes, (B, N); costs of I instances, (I, N, N), where B is a multiple of
I and every instance owns B / I consecutive tours. A place in a tour without a request is a *gap*: gap
g is right behind the g-th remaining node (see ``rules``).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True)
def tour_cost(costs, tour):  # type: ignore[no-untyped-def]
    """Cost of one closed tour (N,) under costs (N, N)."""
    total = 0.0
    last = len(tour) - 1
    for position in range(last):
        total += costs[tour[position], tour[position + 1]]
    return total + costs[tour[last], tour[0]]


@njit(cache=True)
def take_out(tour, request, n, rest):  # type: ignore[no-untyped-def]
    """Write the tour without a request into ``rest`` (N - 2,)."""
    delivery = request + n
    filled = 0
    for position in range(len(tour)):
        node = tour[position]
        if node != request and node != delivery:
            rest[filled] = node
            filled += 1


@njit(cache=True)
def put_in(rest, request, n, j, k, tour):  # type: ignore[no-untyped-def]
    """Write ``rest`` with the pickup in gap j and the delivery in gap k >= j into ``tour``."""
    for gap in range(j + 1):
        tour[gap] = rest[gap]
    tour[j + 1] = request
    for gap in range(j + 1, k + 1):
        tour[gap + 1] = rest[gap]
    tour[k + 2] = request + n
    for gap in range(k + 1, len(rest)):
        tour[gap + 2] = rest[gap]


@njit(cache=True, parallel=True)
def tour_costs(costs, tours):  # type: ignore[no-untyped-def]
    """(B,) costs of (B, N) tours."""
    batch = len(tours)
    copies = batch // len(costs)
    result = np.empty(batch)
    for b in prange(batch):
        result[b] = tour_cost(costs[b // copies], tours[b])
    return result


@njit(cache=True, parallel=True)
def positions(tours):  # type: ignore[no-untyped-def]
    """(B, N) position of every node: the inverse of each tour."""
    result = np.empty_like(tours)
    for b in prange(len(tours)):
        for position in range(tours.shape[1]):
            result[b, tours[b, position]] = position
    return result


@njit(cache=True, parallel=True)
def remove_requests(tours, requests):  # type: ignore[no-untyped-def]
    """(B, N - 2) tours without one request each."""
    batch, size = tours.shape
    rests = np.empty((batch, size - 2), tours.dtype)
    for b in prange(batch):
        take_out(tours[b], requests[b], size // 2, rests[b])
    return rests


@njit(cache=True, parallel=True)
def insert_requests(rests, requests, j, k):  # type: ignore[no-untyped-def]
    """(B, N) tours: pickups into gaps ``j``, deliveries into gaps ``k`` of (B, N - 2) ``rests``."""
    batch, gaps = rests.shape
    tours = np.empty((batch, gaps + 2), rests.dtype)
    for b in prange(batch):
        put_in(rests[b], requests[b], gaps // 2 + 1, j[b], k[b], tours[b])
    return tours


@njit(cache=True, parallel=True)
def apply_moves(tours, requests, j, k):  # type: ignore[no-untyped-def]
    """(B, N) tours after taking each request out and putting it into gaps ``j`` and ``k``."""
    batch, size = tours.shape
    moved = np.empty_like(tours)
    for b in prange(batch):
        rest = np.empty(size - 2, tours.dtype)
        take_out(tours[b], requests[b], size // 2, rest)
        put_in(rest, requests[b], size // 2, j[b], k[b], moved[b])
    return moved


@njit(cache=True, parallel=True)
def stack_tops(tours):  # type: ignore[no-untyped-def]
    """(B, N) the request loaded last and still on board after each position of LIFO tours, or 0."""
    batch, size = tours.shape
    n = size // 2
    tops = np.empty_like(tours)
    for b in prange(batch):
        below = np.empty(n + 1, tours.dtype)
        top = 0
        for position in range(size):
            node = tours[b, position]
            if node > n:
                top = below[node - n]
            elif node > 0:
                below[node] = top
                top = node
            tops[b, position] = top
    return tops

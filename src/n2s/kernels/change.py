"""Exact cost changes of taking requests out and putting them in, symmetric costs or not."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True)
def insertion_terms(costs, rest, pickup, delivery, into_pickup, into_delivery, into_both):  # type: ignore[no-untyped-def]
    """Fill the three cost terms (M,) of putting one request into the gaps of ``rest``.

    Pickup in gap j and delivery in gap k cost ``into_pickup[j] + into_delivery[k]`` for j < k, and
    ``into_both[j]`` for j = k.
    """
    last = len(rest) - 1
    between = costs[pickup, delivery]
    for gap in range(last + 1):
        a = rest[gap]
        b = rest[gap + 1] if gap < last else rest[0]
        arc = costs[a, b]
        reach = costs[a, pickup] - arc
        leave = costs[delivery, b]
        into_pickup[gap] = reach + costs[pickup, b]
        into_delivery[gap] = costs[a, delivery] + leave - arc
        into_both[gap] = reach + between + leave


@njit(cache=True, parallel=True)
def insertion_changes(costs, rests, requests):  # type: ignore[no-untyped-def]
    """The three terms of ``insertion_terms`` for a batch, each (B, M)."""
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    copies = batch // len(costs)
    into_pickup = np.empty((batch, gaps))
    into_delivery = np.empty((batch, gaps))
    into_both = np.empty((batch, gaps))
    for b in prange(batch):
        insertion_terms(
            costs[b // copies],
            rests[b],
            requests[b],
            requests[b] + n,
            into_pickup[b],
            into_delivery[b],
            into_both[b],
        )
    return into_pickup, into_delivery, into_both


@njit(cache=True, parallel=True)
def detours(costs, tours):  # type: ignore[no-untyped-def]
    """(B, N) what visiting each node costs between its two neighbours, by node; 0 for the depot."""
    batch, size = tours.shape
    copies = batch // len(costs)
    result = np.zeros((batch, size))
    for b in prange(batch):
        cost = costs[b // copies]
        for position in range(1, size):
            a = tours[b, position - 1]
            node = tours[b, position]
            c = tours[b, position + 1] if position + 1 < size else tours[b, 0]
            result[b, node] = cost[a, node] + cost[node, c] - cost[a, c]
    return result


@njit(cache=True, parallel=True)
def removal_gains(costs, tours):  # type: ignore[no-untyped-def]
    """(B, n) by how much the tour gets cheaper when a request is taken out, by request - 1."""
    batch, size = tours.shape
    n = size // 2
    copies = batch // len(costs)
    result = np.empty((batch, n))
    for b in prange(batch):
        cost = costs[b // copies]
        tour = tours[b]
        place = np.empty(size, np.int64)
        for position in range(size):
            place[tour[position]] = position
        for request in range(1, n + 1):
            delivery = request + n
            p, d = place[request], place[delivery]
            before = tour[p - 1]
            behind = tour[d + 1] if d + 1 < size else tour[0]
            if d == p + 1:
                gain = (
                    cost[before, request]
                    + cost[request, delivery]
                    + cost[delivery, behind]
                    - cost[before, behind]
                )
            else:
                gain = (
                    cost[before, request]
                    + cost[request, tour[p + 1]]
                    - cost[before, tour[p + 1]]
                    + cost[tour[d - 1], delivery]
                    + cost[delivery, behind]
                    - cost[tour[d - 1], behind]
                )
            result[b, request - 1] = gain
    return result

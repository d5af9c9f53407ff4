"""The chain of ``chain.run_chain`` for long tours: an iteration costs about the same at any length.

The tour is a linked list, requests go back beside their nearest stops only, rejected iterations are undone
and the best tour is brought up to date by what has changed since.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.chain import pick_seed
from n2s.kernels.legs import BORROWING, leg, route_cost
from n2s.kernels.linked_change import new_log, put_request, take_request, undo
from n2s.kernels.linked_list import SPAN, new_links, read_tour, write_tour
from n2s.kernels.linked_recreate import cheapest_place, new_places
from n2s.kernels.linked_ruin import ruin_linked_stretch, ruin_linked_strings
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.ruin import mark, ruin_similar

STRINGS, STRETCH, SIMILAR = range(3)
KINDS = 3
ORDERS = 4
"""Half of the time at random; longest requests first; farthest from the depot first."""


@njit(**BORROWING)
def sort_by_legs(kind, legs, out, listed, n, keys, state):  # type: ignore[no-untyped-def]
    """``chain.sort_requests`` without a matrix."""
    for index in range(listed - 1, 0, -1):
        other = next_below(state, index + 1)
        out[index], out[other] = out[other], out[index]
    if kind == 1 or kind == 2:
        for index in range(listed):
            request = out[index]
            if kind == 1:
                key = -leg(legs, request, request + n)
            else:
                key = -(leg(legs, 0, request) + leg(legs, request + n, 0))
            at = index
            while at > 0 and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                out[at] = out[at - 1]
                at -= 1
            keys[at] = key
            out[at] = request


class Best(NamedTuple):
    """The best tour met, as links, and the nodes whose successor may be another one by now."""

    succ: NDArray[np.uint32]
    stale: NDArray[np.uint32]
    is_stale: NDArray[np.uint8]
    filled: NDArray[np.int64]
    """(1,) how many are stale."""


class Picked(NamedTuple):
    """The requests taken out: flags (n + 1,), the list, and the keys by which it is sorted (n,)."""

    gone: NDArray[np.uint8]
    out: NDArray[np.int64]
    keys: NDArray[np.float64]


@njit(**BORROWING)
def mark_stale(best, node):  # type: ignore[no-untyped-def]
    """Remember that the successor of a node changed."""
    if best.is_stale[node] == 0:
        best.is_stale[node] = 1
        best.stale[best.filled[0]] = node
        best.filled[0] += 1


@njit(**BORROWING)
def keep_best(best, succ):  # type: ignore[no-untyped-def]
    """Bring the best tour up to date."""
    for index in range(best.filled[0]):
        node = best.stale[index]
        best.succ[node] = succ[node]
        best.is_stale[node] = 0
    best.filled[0] = 0


@njit(**BORROWING)
def pick_requests(legs, links, near, alike, cumulative, n, count, picked, state):  # type: ignore[no-untyped-def]
    """List up to ``count`` related requests in the order in which they go back; how many."""
    gone, out = picked.gone, picked.out
    seed = pick_seed(cumulative, n, state)
    listed = mark(seed, n, gone, out, 0)
    kind = next_below(state, KINDS)
    if kind == STRINGS:
        listed = ruin_linked_strings(links, near, seed, count, n, gone, out, listed, state)
    elif kind == STRETCH:
        listed = ruin_linked_stretch(links, seed, count, n, gone, out, listed)
    else:
        listed = ruin_similar(alike, seed, count, n, gone, out, listed, state)
    sort_by_legs(next_below(state, ORDERS), legs, out, listed, n, picked.keys, state)
    for index in range(listed):
        gone[out[index]] = 0
    return listed


@njit(**BORROWING)
def iterate(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    cumulative,
    links,
    best,
    picked,
    places,
    log,
    costs,
    state,
    iterations,
    temperature,
    cooling,
    largest,
):
    """The iterations of ``run_linked_chain``; ``costs`` are added up change by change."""
    n = len(links.succ) // 2
    out = picked.out
    for _ in range(iterations):
        count = 1 + next_below(state, largest)
        listed = pick_requests(legs, links, near, alike, cumulative, n, count, picked, state)
        deals = links.span[1]
        cost = costs[0]
        for index in range(listed):
            pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
            cost += take_request(variant, links, legs, pickup, delivery, log, index)
        for index in range(listed):
            pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
            j, k = cheapest_place(variant, links, legs, near, pickup, delivery, places)
            cost += put_request(variant, links, legs, pickup, delivery, j, k, log, index)

        if cost < costs[0] - temperature * math.log(1.0 - next_uniform(state)):
            costs[0] = cost
            for entry in range(2 * listed):
                node = np.uint32(out[entry >> 1] + n * (entry & 1))
                mark_stale(best, node)
                mark_stale(best, log.pred[entry])
                mark_stale(best, links.pred[node])
            if cost < costs[1]:
                costs[1] = cost
                keep_best(best, links.succ)
        else:
            undo(variant, links, out, listed, n, log, deals)
        temperature *= cooling
    return temperature


@njit(cache=True, nogil=True)
def anneal_links(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    cumulative,
    tour,
    best_tour,
    costs,
    state,
    iterations,
    temperature,
    cooling,
    largest,
    span,
):
    """``run_linked_chain`` with keys below ``span``."""
    size = len(tour)
    n = size // 2
    links = new_links(size, span)
    read_tour(links, variant, legs, tour)
    best = Best(
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.zeros(size, np.uint8),
        np.zeros(1, np.int64),
    )
    for position in range(size):
        best.succ[best_tour[position]] = best_tour[(position + 1) % size]
    for node in range(size):
        if links.succ[node] != best.succ[node]:
            mark_stale(best, node)
    picked = Picked(np.zeros(n + 1, np.uint8), np.empty(n, np.int64), np.empty(n))
    temperature = iterate(
        variant,
        legs,
        near,
        alike,
        cumulative,
        links,
        best,
        picked,
        new_places(n, near.shape[1]),
        new_log(n),
        costs,
        state,
        iterations,
        temperature,
        cooling,
        largest,
    )
    # Sums of changes drift: what is handed back is measured, and a best that only seemed better dropped.
    write_tour(links.succ, tour)
    costs[0] = route_cost(legs, tour)
    costs[1] = route_cost(legs, best_tour)
    found = np.empty(size, np.int64)
    write_tour(best.succ, found)
    cost = route_cost(legs, found)
    if cost < costs[1]:
        costs[1] = cost
        best_tour[:] = found
    return temperature


@njit(cache=True, nogil=True)
def run_linked_chain(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    cumulative,
    tour,
    best_tour,
    costs,
    state,
    iterations,
    temperature,
    cooling,
    largest,
):
    """Anneal ``tour`` in place for some iterations; returns the last temperature.

    The face of ``chain.run_chain``, with ``legs`` (a matrix or a ``Plane``) for its two matrices: ``costs``
    (2,) are the current and the best cost; ``near`` (N, K) the nearest stops of every node, ``alike``
    (n + 1, L) the most similar requests; up to ``largest`` requests are taken out at a time.
    """
    return anneal_links(
        variant,
        legs,
        near,
        alike,
        cumulative,
        tour,
        best_tour,
        costs,
        state,
        iterations,
        temperature,
        cooling,
        largest,
        SPAN,
    )

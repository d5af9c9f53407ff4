"""A chain of ruin and recreate under simulated annealing: one tour, many iterations, no allocation."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from n2s.kernels.blocks import move_block
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.recreate import recreate
from n2s.kernels.ruin import mark, ruin_similar, ruin_stretch, ruin_strings

ORDERS = 4
"""Half of the time at random; longest requests first; farthest from the depot first."""


@njit(cache=True)
def sort_requests(kind, leave, out, listed, n, keys, state):  # type: ignore[no-untyped-def]
    """Put the listed requests into one of the orders in which they go back."""
    for index in range(listed - 1, 0, -1):
        other = next_below(state, index + 1)
        out[index], out[other] = out[other], out[index]
    if kind == 1 or kind == 2:
        for index in range(listed):
            request = out[index]
            if kind == 1:
                key = -leave[request, request + n]
            else:
                key = -(leave[0, request] + leave[request + n, 0])
            at = index
            while at > 0 and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                out[at] = out[at - 1]
                at -= 1
            keys[at] = key
            out[at] = request


@njit(cache=True)
def pick_seed(cumulative, n, state):  # type: ignore[no-untyped-def]
    """A node whose request is drawn by the removal scores; by none of them if there are none."""
    if len(cumulative) == 0:
        return 1 + next_below(state, 2 * n)
    target = next_uniform(state) * cumulative[-1]
    request = 1 + min(np.searchsorted(cumulative, target, side="right"), n - 1)
    return request + n * next_below(state, 2)


@njit(cache=True, nogil=True)
def start_tour(variant, leave, reach, order):  # type: ignore[no-untyped-def]
    """A first tour (N,): the requests of ``order`` (n,) go in one by one, each where it is cheapest."""
    n = len(order)
    size = 2 * n + 1
    tour, arcs = np.zeros(size, np.int64), np.zeros(size)
    labels, least = np.zeros((2, size), np.int64), np.empty(n + 1)
    where = np.zeros(n + 1, np.int64)
    recreate(variant, reach, leave, tour, arcs, 1, order, n, n, labels, least, where)
    return tour


@njit(cache=True, nogil=True)
def run_chain(  # type: ignore[no-untyped-def]
    variant,
    leave,
    reach,
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
    kinds,
    orders,
    blocks,
    careful,
):
    """Anneal ``tour`` in place for some iterations; returns the last temperature.

    ``costs`` (2,) are the current and the best cost; ``near`` (N, K) the nearest stops of every node,
    ``alike`` (n + 1, L) the most similar requests; up to ``largest`` requests are taken out at a time.
    ``kinds`` (3,) are running shares of the ways of ruin, ``orders`` how many orders of recreation are in
    use, ``blocks`` how many block moves are offered before each iteration (LIFO only). ``careful`` adds
    costs up anew instead of change by change: beside an arc that means "never" a change has no digits.
    """
    size = len(tour)
    n = size // 2
    rest, arcs = np.empty(size, np.int64), np.empty(size)
    tour_arcs, place = np.empty(size), np.empty(size, np.int64)
    gone = np.zeros(n + 1, np.uint8)
    out, keys = np.empty(n, np.int64), np.empty(n)
    labels = np.zeros((2, size), np.int64)
    least, where = np.empty(n + 1), np.zeros(n + 1, np.int64)
    for position in range(size):
        node = tour[position]
        place[node] = position
        tour_arcs[position] = leave[node, tour[(position + 1) % size]]
    current, best = costs[0], costs[1]
    for _ in range(iterations):
        for _ in range(blocks):
            moved, change = move_block(leave, tour, place, n, temperature, state, rest)
            if moved:
                current += change
                for position in range(size):
                    tour_arcs[position] = leave[tour[position], tour[(position + 1) % size]]
                if careful:
                    current = tour_arcs.sum()
                if current < best:
                    best = current
                    best_tour[:] = tour
        count = 1 + next_below(state, largest)
        seed = pick_seed(cumulative, n, state)
        listed = mark(seed, n, gone, out, 0)
        kind = next_uniform(state)
        if kind < kinds[0]:
            listed = ruin_strings(tour, place, near, seed, count, n, gone, out, listed, state)
        elif kind < kinds[1]:
            listed = ruin_stretch(tour, place, seed, count, n, gone, out, listed)
        else:
            listed = ruin_similar(alike, seed, count, n, gone, out, listed, state)

        # What remains, and its cost: arcs between nodes that stayed neighbours are not looked up again.
        rest[0] = 0
        left, last, cost = 1, 0, 0.0
        for position in range(1, size):
            node = tour[position]
            if gone[node if node <= n else node - n] == 0:
                arc = tour_arcs[last] if position == last + 1 else leave[rest[left - 1], node]
                arcs[left - 1] = arc
                cost += arc
                rest[left] = node
                left += 1
                last = position
        arcs[left - 1] = leave[rest[left - 1], 0]
        cost += arcs[left - 1]
        sort_requests(next_below(state, orders), leave, out, listed, n, keys, state)
        for index in range(listed):
            gone[out[index]] = 0
        cost += recreate(
            variant, reach, leave, rest, arcs, left, out, listed, n, labels, least, where
        )
        if careful:
            cost = arcs.sum()

        if cost < current - temperature * math.log(1.0 - next_uniform(state)):
            current = cost
            for position in range(size):
                node = rest[position]
                tour[position] = node
                place[node] = position
                tour_arcs[position] = arcs[position]
            if current < best:
                best = current
                best_tour[:] = tour
        temperature *= cooling
    costs[0], costs[1] = current, best
    return temperature

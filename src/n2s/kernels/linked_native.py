"""The native policy of ``native_chain`` for long tours: a step costs about the same at any length.

The parameters and what they decide are the same. The tour is a linked list, the request is drawn among a
sample (``linked_sight``), it goes back beside near stops (``linked_bath``), blocks of a stack move there
too (``linked_blocks``); what is rejected is undone, and the best tour is brought up to date by what has
changed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.legs import BORROWING, route_cost
from n2s.kernels.linked_bath import Taste, draw_place, new_bath
from n2s.kernels.linked_blocks import block_length, cheapest_near, shift_links
from n2s.kernels.linked_chain import ORDERS, Best, Picked, keep_best, mark_stale, sort_by_legs
from n2s.kernels.linked_change import new_log, put_request, take_request, undo
from n2s.kernels.linked_list import SPAN, new_links, read_tour, write_tour
from n2s.kernels.linked_ruin import ruin_linked_stretch, ruin_linked_strings
from n2s.kernels.linked_sight import (
    Memory,
    look_along,
    new_sight,
    pick_request,
    remember,
    settle,
)
from n2s.kernels.native_decisions import (
    EAGER_BLOCKS,
    LEVELS,
    PLACES,
    SEVERAL,
    VIEWS,
    WAYS,
    block_chance,
    count_chances,
    draw_count,
    factor,
    temperature_of,
    views,
    way_chances,
)
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.ruin import mark, ruin_similar
from n2s.kernels.rules import LIFO

DRIFT = 1e-9
"""Mean edges by which a tour must be better to count as improved: sums of changes are not exact."""


class Mind(NamedTuple):
    """What the policy sees of the whole, and running probabilities of its choices."""

    seen: NDArray[np.float64]
    counts: NDArray[np.float64]
    ways: NDArray[np.float64]


@njit(**BORROWING)
def list_related(legs, links, near, alike, ways, request, count, picked, state):  # type: ignore[no-untyped-def]
    """List a request and those related to it, ``count`` at most, in the order in which they go back."""
    n = len(links.succ) // 2
    gone, out = picked.gone, picked.out
    listed = mark(request, n, gone, out, 0)
    if count > 1:
        u = next_uniform(state)
        node = np.uint32(request + n * next_below(state, 2))
        if u < ways[0]:
            listed = ruin_linked_strings(links, near, node, count, n, gone, out, listed, state)
        elif u < ways[1]:
            listed = ruin_linked_stretch(links, node, count, n, gone, out, listed)
        else:
            listed = ruin_similar(alike, node, count, n, gone, out, listed, state)
    if listed > 1:
        sort_by_legs(next_below(state, ORDERS), legs, out, listed, n, picked.keys, state)
    for index in range(listed):
        gone[out[index]] = 0
    return listed


@njit(**BORROWING)
def offer_block(legs, near, links, best, temperature, costs, state):  # type: ignore[no-untyped-def]
    """Move the block of a random request to its cheapest other place, or not; whether it was moved."""
    n = len(links.succ) // 2
    request = 1 + next_below(state, n)
    first, last = np.uint32(request), np.uint32(request + n)
    length = block_length(links, first, last)
    if length == 0:
        return False
    gap, change = cheapest_near(links, legs, near, first, last)
    if change == np.inf or change >= -temperature * math.log(1.0 - next_uniform(state)):
        return False
    mark_stale(best, links.pred[first])
    mark_stale(best, last)
    mark_stale(best, gap)
    shift_links(links, legs, first, last, length, gap)
    costs[0] += change
    return True


@njit(**BORROWING)
def reinsert(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    theta,
    links,
    best,
    picked,
    listed,
    log,
    bath,
    sight,
    temperature,
    costs,
    state,
):
    """Take the listed requests out and put them back by the heat bath; whether it was left so."""
    n = len(links.succ) // 2
    out = picked.out
    deals = links.span[1]
    cost = costs[0]
    for index in range(listed):
        pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
        cost += take_request(variant, links, legs, pickup, delivery, log, index)
    alone = listed == 1
    taste = Taste(theta[PLACES], theta[PLACES + 1], theta[PLACES + 2], theta[PLACES + 3])
    inverse_t = 1.0 / (temperature if alone else temperature * factor(theta[SEVERAL]))
    for index in range(listed):
        pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
        u, v = next_uniform(state), next_uniform(state)
        j, k = draw_place(
            variant,
            links,
            legs,
            near,
            pickup,
            delivery,
            inverse_t,
            alone,
            log.pred[0],
            log.pred[1],
            taste,
            bath,
            u,
            v,
        )
        cost += put_request(variant, links, legs, pickup, delivery, j, k, log, index)
    if not alone:
        eager = temperature * factor(theta[SEVERAL + 1])
        if not cost < costs[0] - eager * math.log(1.0 - next_uniform(state)):
            undo(variant, links, out, listed, n, log, deals)
            return False
    costs[0] = cost
    for index in range(listed):
        for side in range(2):
            node = np.uint32(out[index] + n * side)
            mark_stale(best, node)
            mark_stale(best, log.pred[2 * index + side])
            mark_stale(best, links.pred[node])
            settle(links, sight, node, 1 - 2 * side)
    return True


@njit(**BORROWING)
def iterate_native(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    theta,
    scale,
    links,
    best,
    picked,
    log,
    bath,
    sight,
    mind,
    memory,
    costs,
    state,
    steps,
    progress,
    pace,
    toil,
    budget,
    timed,
):
    """The steps of ``run_linked_native``; ``costs`` are added up change by change."""
    size = len(links.succ)
    n = size // 2
    log_fade = math.log(1.0 - 0.5 / n)
    counters, seen = memory.counters, mind.seen
    for step in range(steps):
        if toil > 0.0 and progress >= 1.0:
            break
        if step % size == 0:
            look_along(links, sight)
        views(costs[0], costs[1], scale, counters[1], size, min(progress, 1.0), budget, timed, seen)
        temperature = temperature_of(theta, seen, scale)
        progress += pace
        counters[0] += 1
        counters[1] += 1
        if variant == LIFO and next_uniform(state) < block_chance(theta, seen):
            progress += toil
            eager = temperature * factor(theta[EAGER_BLOCKS])
            changed = offer_block(legs, near, links, best, eager, costs, state)
        else:
            count_chances(theta, seen, mind.counts)
            count = draw_count(mind.counts, n, state)
            request = pick_request(
                links, legs, theta, seen, scale, memory, sight, count == 1, state
            )
            listed = list_related(
                legs, links, near, alike, mind.ways, request, count, picked, state
            )
            counters[2] += 1
            for index in range(listed):
                remember(memory, picked.out[index], log_fade)
            progress += toil * listed
            changed = reinsert(
                variant,
                legs,
                near,
                theta,
                links,
                best,
                picked,
                listed,
                log,
                bath,
                sight,
                temperature,
                costs,
                state,
            )
        if changed and costs[0] < costs[1] - DRIFT * scale:
            costs[1] = costs[0]
            keep_best(best, links.succ)
            counters[1] = 0


@njit(cache=True, nogil=True)
def native_links(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    theta,
    scale,
    tour,
    best_tour,
    costs,
    times,
    traces,
    stamps,
    counters,
    state,
    steps,
    progress,
    pace,
    toil,
    budget,
    timed,
    span,
):
    """``run_linked_native`` with keys below ``span``."""
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
    mind = Mind(np.empty(VIEWS), np.empty(LEVELS), np.empty(WAYS))
    way_chances(theta, mind.ways)
    iterate_native(
        variant,
        legs,
        near,
        alike,
        theta,
        scale,
        links,
        best,
        Picked(np.zeros(n + 1, np.uint8), np.empty(n, np.int64), np.empty(n)),
        new_log(n),
        new_bath(size, near.shape[1]),
        new_sight(size),
        mind,
        Memory(times, traces, stamps, counters),
        costs,
        state,
        steps,
        progress,
        pace,
        toil,
        budget,
        timed,
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


@njit(cache=True, nogil=True)
def run_linked_native(  # type: ignore[no-untyped-def]
    variant,
    legs,
    near,
    alike,
    theta,
    scale,
    tour,
    best_tour,
    costs,
    times,
    traces,
    stamps,
    counters,
    state,
    steps,
    progress,
    pace,
    toil,
    budget,
    timed,
):
    """Go on with ``tour`` for some steps, in place.

    The face of ``native_chain.run_native``, with ``legs`` (a matrix or a ``Plane``) for its two matrices,
    ``stamps`` (n,) for the rounds of fading as of which the traces are, and these as the third of the
    ``counters`` (3,).
    """
    native_links(
        variant,
        legs,
        near,
        alike,
        theta,
        scale,
        tour,
        best_tour,
        costs,
        times,
        traces,
        stamps,
        counters,
        state,
        steps,
        progress,
        pace,
        toil,
        budget,
        timed,
        SPAN,
    )

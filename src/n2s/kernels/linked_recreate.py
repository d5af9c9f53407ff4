"""The cheapest place of a request among the gaps beside its nearest stops.

The pickup may go into the gaps behind and before the stops nearest to it and those beside the depot, the
delivery likewise, and both together into any of these. All pairs that the labels allow (``rules``) are
covered without being listed: a pickup gap is first tried with the cheapest delivery gap of its label, and
only if that one lies ahead of it, and their sum promises something, with all of them.

On a stack few pairs of gaps have the same label. So from every promising pickup gap a few blocks on its
level are passed to find further gaps for the delivery, and the same backwards from the delivery gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.legs import BORROWING, INLINE, leg, leg_pair
from n2s.kernels.rules import LIFO

STEPS = 3
"""Blocks passed; without them LIFO tours of 1,001 nodes end 4 % longer (30 neighbours, 5 s)."""


class Gaps(NamedTuple):
    """The gaps to try for one stop: what they cost, and that cost without one of the two new arcs."""

    behind: NDArray[np.uint32]
    cost: NDArray[np.float64]
    part: NDArray[np.float64]
    """Without the arc from the pickup on, or without the arc to the delivery."""


class Places(NamedTuple):
    """Scratch for the search of a place; ``least`` and ``where`` (n + 1,) by label."""

    pickup: Gaps
    delivery: Gaps
    least: NDArray[np.float64]
    where: NDArray[np.uint32]


@njit(cache=True)
def new_gaps(width):  # type: ignore[no-untyped-def]
    """Room for the gaps beside ``width`` stops and the depot."""
    room = 2 * width + 2
    return Gaps(np.zeros(room, np.uint32), np.zeros(room), np.zeros(room))


@njit(cache=True)
def new_places(n, width):  # type: ignore[no-untyped-def]
    """Scratch for tours of n requests with ``width`` neighbours a node."""
    return Places(
        new_gaps(width), new_gaps(width), np.full(n + 1, np.inf), np.zeros(n + 1, np.uint32)
    )


@njit(**INLINE)
def _note(gaps, count, behind, come, go, old, is_pickup):  # type: ignore[no-untyped-def]
    gaps.behind[count] = behind
    gaps.cost[count] = come + go - old
    gaps.part[count] = (come if is_pickup else go) - old


@njit(**BORROWING)
def list_gaps(links, legs, near, node, is_pickup, gaps):  # type: ignore[no-untyped-def]
    """List the gaps behind and before the nearest stops of a node and the depot; how many.

    One may be there twice: to find out would take longer than to look at it again.
    """
    succ, pred, arc = links.succ, links.pred, links.arc
    count = 0
    for rank in range(-1, near.shape[1]):
        stop = np.uint32(near[node, rank] if rank >= 0 else 0)
        if links.key[stop] >= 0:
            there, back = leg_pair(legs, node, stop)
            _note(gaps, count, stop, back, leg(legs, node, succ[stop]), arc[stop], is_pickup)
            last = pred[stop]
            _note(gaps, count + 1, last, leg(legs, last, node), there, arc[last], is_pickup)
            count += 2
    return count


@njit(**BORROWING)
def cheapest_along(links, legs, pickup, delivery, gaps, count, bound, best, best_j, best_k):  # type: ignore[no-untyped-def]
    """(cost, j, k), better if the delivery finds a place a few blocks behind one of the pickup gaps.

    ``bound`` is the least that a delivery is known to cost.
    """
    succ, arc = links.succ, links.arc
    n = delivery - pickup
    for index in range(count):
        into = gaps.cost[index]
        if into + bound >= best:
            continue
        gap = gaps.behind[index]
        node = succ[gap]
        for _ in range(STEPS):
            if node == 0 or node > n:
                break
            last = np.uint32(node + n)
            node = succ[last]
            cost = into - arc[last] + leg(legs, last, delivery) + leg(legs, delivery, node)
            if cost < best:
                best, best_j, best_k = cost, gap, last
    return best, best_j, best_k


@njit(**BORROWING)
def cheapest_back(links, legs, pickup, delivery, gaps, count, bound, best, best_j, best_k):  # type: ignore[no-untyped-def]
    """(cost, j, k), better if the pickup finds a place a few blocks before one of the delivery gaps."""
    pred, arc = links.pred, links.arc
    n = delivery - pickup
    for index in range(count):
        drop = gaps.cost[index]
        if drop + bound >= best:
            continue
        gap = gaps.behind[index]
        node = gap
        for _ in range(STEPS):
            if node <= n:
                break
            first = np.uint32(node - n)
            node = pred[first]
            cost = drop - arc[node] + leg(legs, node, pickup) + leg(legs, pickup, first)
            if cost < best:
                best, best_j, best_k = cost, node, gap
    return best, best_j, best_k


@njit(**BORROWING)
def cheapest_place(variant, links, legs, near, pickup, delivery, places):  # type: ignore[no-untyped-def]
    """(j, k): the nodes behind which pickup and delivery cost least; j = k means one behind the other."""
    key, top, least, where = links.key, links.top, places.least, places.where
    p_gap, p_cost, p_part = places.pickup
    d_gap, d_cost, d_part = places.delivery
    p_count = list_gaps(links, legs, near, pickup, True, places.pickup)
    d_count = list_gaps(links, legs, near, delivery, False, places.delivery)
    best, best_j, best_k = np.inf, np.uint32(0), np.uint32(0)

    for index in range(d_count):
        gap = d_gap[index]
        label = top[gap]
        if d_cost[index] < least[label]:
            least[label] = d_cost[index]
            where[label] = gap
    for index in range(p_count):
        gap = p_gap[index]
        label = top[gap]
        cost = p_cost[index] + least[label]
        if cost < best and key[gap] < key[where[label]]:
            best, best_j, best_k = cost, gap, where[label]

    # Both into one gap. No arc costs less than nothing, so most are ruled out before the last look-up.
    between = leg(legs, pickup, delivery)
    for index in range(p_count):
        cost = p_part[index] + between
        if cost < best:
            gap = p_gap[index]
            cost += leg(legs, delivery, links.succ[gap])
            if cost < best:
                best, best_j, best_k = cost, gap, gap
    for index in range(d_count):
        cost = d_part[index] + between
        if cost < best:
            gap = d_gap[index]
            cost += leg(legs, gap, pickup)
            if cost < best:
                best, best_j, best_k = cost, gap, gap

    for index in range(p_count):
        gap = p_gap[index]
        label = top[gap]
        if p_cost[index] + least[label] < best and key[gap] >= key[where[label]]:
            for other in range(d_count):
                cost = p_cost[index] + d_cost[other]
                if cost < best:
                    k = d_gap[other]
                    if top[k] == label and key[gap] < key[k]:
                        best, best_j, best_k = cost, gap, k

    for index in range(d_count):
        least[top[d_gap[index]]] = np.inf
    if variant == LIFO:
        low_p, low_d = np.inf, np.inf
        for index in range(p_count):
            low_p = min(low_p, p_cost[index])
        for index in range(d_count):
            low_d = min(low_d, d_cost[index])
        best, best_j, best_k = cheapest_along(
            links, legs, pickup, delivery, places.pickup, p_count, low_d, best, best_j, best_k
        )
        best, best_j, best_k = cheapest_back(
            links, legs, pickup, delivery, places.delivery, d_count, low_p, best, best_j, best_k
        )
    return best_j, best_k

"""Putting one request after the other back at its cheapest place, in place, O(N) each.

The scan is that of ``reinsertion.best_gaps`` with the cost terms computed on the way. ``reach[v, a]`` is
what it costs to come to v from a, as the insertion sees it, and ``leave[v, b]`` to go on from v to b:
the rows of one node lie together. ``arcs[g]`` is the cost of the arc behind ``rest[g]``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from n2s.kernels.legs import BORROWING
from n2s.kernels.rules import gap_labels


@njit(cache=True)
def cheapest_anywhere(reach, leave, rest, arcs, left, pickup, delivery):  # type: ignore[no-untyped-def]
    """(j, k) of least cost if only precedence counts: one running minimum over the ``left`` gaps."""
    reach_p, leave_p = reach[pickup], leave[pickup]
    reach_d, leave_d = reach[delivery], leave[delivery]
    between = reach_d[pickup]
    best, best_j, best_k = np.inf, 0, 0
    least, where = np.inf, 0
    on_p, on_d = leave_p[0], leave_d[0]  # the tour closes at the depot
    for j in range(left - 1, -1, -1):
        node = rest[j]
        arc = arcs[j]
        into = reach_p[node] - arc
        both = into + between + on_d
        if both < best:
            best, best_j, best_k = both, j, j
        apart = into + on_p + least
        if apart < best:
            best, best_j, best_k = apart, j, where
        drop = reach_d[node] - arc + on_d
        if drop < least:
            least, where = drop, j
        on_p, on_d = leave_p[node], leave_d[node]
    return best_j, best_k


@njit(cache=True)
def cheapest_allowed(  # type: ignore[no-untyped-def]
    reach, leave, rest, arcs, left, pickup, delivery, pickup_label, delivery_label, least, where
):
    """(j, k) of least cost among the gaps whose labels agree: one running minimum a label."""
    reach_p, leave_p = reach[pickup], leave[pickup]
    reach_d, leave_d = reach[delivery], leave[delivery]
    between = reach_d[pickup]
    best, best_j, best_k = np.inf, -1, -1
    for gap in range(left):
        least[delivery_label[gap]] = np.inf
        least[pickup_label[gap]] = np.inf
    on_p, on_d = leave_p[0], leave_d[0]
    for j in range(left - 1, -1, -1):
        node = rest[j]
        arc = arcs[j]
        p, d = pickup_label[j], delivery_label[j]
        into = reach_p[node] - arc
        both = into + between + on_d
        if p == d and both < best:
            best, best_j, best_k = both, j, j
        apart = into + on_p + least[p]
        if apart < best:
            best, best_j, best_k = apart, j, where[p]
        drop = reach_d[node] - arc + on_d
        if drop < least[d]:
            least[d] = drop
            where[d] = j
        on_p, on_d = leave_p[node], leave_d[node]
    return best_j, best_k


@njit(**BORROWING)
def _shift(rest, arcs, first, last, by):  # type: ignore[no-untyped-def]
    """Move what stands from first to last back by some places."""
    for step in range(last + 1 - first):
        gap = np.uint32(last - step)
        rest[gap + by] = rest[gap]
        arcs[gap + by] = arcs[gap]


@njit(**BORROWING)
def open_gaps(leave, rest, arcs, left, pickup, delivery, j, k):  # type: ignore[no-untyped-def]
    """Shift ``left`` nodes so that the request fits into gaps j <= k; returns the change in cost."""
    first = rest[j]
    last = rest[k]
    behind_k = rest[k + 1] if k + 1 < left else rest[0]
    behind_j = rest[j + 1] if j + 1 < left else rest[0]
    _shift(rest, arcs, k + 1, left - 1, np.uint32(2))
    removed = arcs[k]
    rest[k + 2] = delivery
    arcs[k + 2] = leave[delivery, behind_k]
    added = arcs[k + 2]
    if j == k:
        rest[j + 1] = pickup
        arcs[j + 1] = leave[pickup, delivery]
        arcs[j] = leave[first, pickup]
        return added + arcs[j + 1] + arcs[j] - removed
    arcs[k + 1] = leave[last, delivery]
    added += arcs[k + 1]
    rest[k + 1] = last
    _shift(rest, arcs, j + 1, k - 1, np.uint32(1))
    removed += arcs[j]
    rest[j + 1] = pickup
    arcs[j + 1] = leave[pickup, behind_j]
    arcs[j] = leave[first, pickup]
    return added + arcs[j + 1] + arcs[j] - removed


@njit(cache=True)
def recreate(  # type: ignore[no-untyped-def]
    variant, reach, leave, rest, arcs, left, out, listed, n, labels, least, where
):
    """Put the ``listed`` requests of ``out`` back, in this order; returns the change in cost.

    ``labels`` (2, N), ``least`` and ``where`` (n + 1,) are scratch; ``variant`` 0 needs no labels.
    """
    change = 0.0
    for index in range(listed):
        pickup = out[index]
        delivery = pickup + n
        if variant == 0:
            j, k = cheapest_anywhere(reach, leave, rest, arcs, left, pickup, delivery)
        else:
            gap_labels(variant, rest[:left], n, labels[0], labels[1], where)
            j, k = cheapest_allowed(
                reach,
                leave,
                rest,
                arcs,
                left,
                pickup,
                delivery,
                labels[0],
                labels[1],
                least,
                where,
            )
        change += open_gaps(leave, rest, arcs, left, pickup, delivery, j, k)
        left += 2
    return change

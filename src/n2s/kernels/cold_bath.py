"""The heat bath where it is cold: most places have no weight worth an exponential.

One backward scan as that for the cheapest place (``recreate``), which lists what may still count: pickup
gaps within a window of FAINTEST temperatures above the cheapest pair so far, delivery gaps within as much
of the cheapest delivery gap behind them. Of what is listed each pair is weighed against the cheapest one,
so nothing leaves the range of numbers, however cold it is. What is left out has less than exp(-FAINTEST)
of the weight of the cheapest pair.

The warmer it is, the more is listed: above COLD_BATH mean edges, and where stops lie so close together that
the lists have too many pairs all the same, the vector loops of ``native_draw`` are faster.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from n2s.kernels.legs import BORROWING

COLD_BATH = 0.1
"""In mean edges: up to where this draw is the faster one."""
FAINTEST = 20.0
"""What is left out has less than exp(-20) of the weight of the cheapest pair, a thousand pairs 2e-6."""
MOST_PAIRS = 8
"""For each gap; with more of them in the lists there is no draw here."""


@njit(cache=True)
def new_scratch(size):  # type: ignore[no-untyped-def]
    """For tours of ``size`` nodes: gaps as they are listed, their terms, their labels; minima by label.

    The scan without labels leaves the labels of the lists 0, so a scratch serves one of the two scans.
    """
    return (
        np.zeros((3, size), np.int64),
        np.zeros((5, size)),
        np.zeros((2, size), np.int64),
        np.zeros(size // 2 + 1),
    )


@njit(**BORROWING)
def _choose(gaps, terms, labels, rows, best, window, inverse_t, first, second):  # type: ignore[no-untyped-def]
    """(j, k) from the lists: a row for each pickup gap, with the delivery gaps ``seen`` before it.

    ``head`` is the cheapest pair of a row whose delivery goes elsewhere, with a delivery term of ``least``.
    Others are compared with it by these terms alone: beside an arc that means "never" a sum has no digits.
    """
    pickup_gap, seen, delivery_gap = gaps[0], gaps[1], gaps[2]
    head, least, both, drop, weight = terms[0], terms[1], terms[2], terms[3], terms[4]
    pickup_label, delivery_label = labels[0], labels[1]
    limit = best + window
    everything = 0.0
    for row in range(rows):
        mine = math.exp((best - both[row]) * inverse_t) if both[row] <= limit else 0.0
        if head[row] <= limit:
            ahead, low, label = best - head[row], least[row], pickup_label[row]
            for index in range(seen[row]):
                if drop[index] - low <= window + ahead and delivery_label[index] == label:
                    mine += math.exp((ahead + (low - drop[index])) * inverse_t)
        weight[row] = mine
        everything += mine
    target = first * everything
    chosen = -1
    for row in range(rows):
        if weight[row] > 0.0:
            chosen = row  # of positive weight even if rounding leaves a rest of the target
            target -= weight[row]
            if target < 0.0:
                break
    target = second * weight[chosen]
    k = -1
    if both[chosen] <= limit:
        k = pickup_gap[chosen]
        target -= math.exp((best - both[chosen]) * inverse_t)
    if head[chosen] <= limit and (k < 0 or target >= 0.0):
        ahead, low, label = best - head[chosen], least[chosen], pickup_label[chosen]
        for index in range(seen[chosen] - 1, -1, -1):
            if drop[index] - low <= window + ahead and delivery_label[index] == label:
                k = delivery_gap[index]
                target -= math.exp((ahead + (low - drop[index])) * inverse_t)
                if target < 0.0:
                    break
    return pickup_gap[chosen], k


@njit(**BORROWING)
def draw_cold_anywhere(  # type: ignore[no-untyped-def]
    reach, leave, rest, arcs, left, pickup, delivery, temperature, bonus, first, second, scratch
):
    """(j, k) with j <= k by exp(-change / temperature), where the change of j = k is less by ``bonus``.

    (-1, -1) if there are too many pairs for it.

    ``first`` and ``second`` are uniform numbers; the labels in ``scratch`` are 0, as they were made.
    """
    gaps, terms, labels, _ = scratch
    pickup_gap, seen, delivery_gap = gaps[0], gaps[1], gaps[2]
    listed_head, listed_least, listed_both, listed_drop = terms[0], terms[1], terms[2], terms[3]
    reach_p, leave_p = reach[pickup], leave[pickup]
    reach_d, leave_d = reach[delivery], leave[delivery]
    between = reach_d[pickup] - bonus
    window = FAINTEST * temperature
    best, limit = np.inf, np.inf
    least, close = np.inf, np.inf
    rows, listed, pairs = 0, 0, 0
    on_p, on_d = leave_p[0], leave_d[0]  # the tour closes at the depot
    for step in range(left):
        j = np.uint32(left - 1 - step)
        node, arc = rest[j], arcs[j]
        into = reach_p[node] - arc
        both = into + between + on_d
        head = into + on_p + least
        mine = min(both, head)
        if mine <= limit:
            pickup_gap[rows], seen[rows] = j, listed
            listed_head[rows], listed_least[rows], listed_both[rows] = head, least, both
            rows += 1
            pairs += listed
            if mine < best:
                best, limit = mine, mine + window
        drop = reach_d[node] - arc + on_d
        if drop <= close:
            delivery_gap[listed], listed_drop[listed] = j, drop
            listed += 1
            if drop < least:
                least, close = drop, drop + window
        on_p, on_d = leave_p[node], leave_d[node]
    if pairs > MOST_PAIRS * left:
        return -1, -1
    return _choose(gaps, terms, labels, rows, best, window, 1.0 / temperature, first, second)


@njit(**BORROWING)
def draw_cold_allowed(  # type: ignore[no-untyped-def]
    reach,
    leave,
    rest,
    arcs,
    left,
    pickup,
    delivery,
    pickup_label,
    delivery_label,
    temperature,
    bonus,
    first,
    second,
    scratch,
):
    """The same over the pairs whose labels agree: one running minimum a label."""
    gaps, terms, labels, least = scratch
    pickup_gap, seen, delivery_gap = gaps[0], gaps[1], gaps[2]
    listed_head, listed_least, listed_both, listed_drop = terms[0], terms[1], terms[2], terms[3]
    row_label, drop_label = labels[0], labels[1]
    reach_p, leave_p = reach[pickup], leave[pickup]
    reach_d, leave_d = reach[delivery], leave[delivery]
    between = reach_d[pickup] - bonus
    window = FAINTEST * temperature
    best, limit = np.inf, np.inf
    rows, listed, pairs = 0, 0, 0
    for gap in range(left):
        least[delivery_label[gap]] = np.inf
        least[pickup_label[gap]] = np.inf
    on_p, on_d = leave_p[0], leave_d[0]
    for step in range(left):
        j = np.uint32(left - 1 - step)
        node, arc = rest[j], arcs[j]
        p, d = pickup_label[j], delivery_label[j]
        into = reach_p[node] - arc
        both = into + between + on_d if p == d else np.inf
        head = into + on_p + least[p]
        mine = min(both, head)
        if mine <= limit and mine < np.inf:
            pickup_gap[rows], seen[rows], row_label[rows] = j, listed, p
            listed_head[rows], listed_least[rows], listed_both[rows] = head, least[p], both
            rows += 1
            pairs += listed
            if mine < best:
                best, limit = mine, mine + window
        drop = reach_d[node] - arc + on_d
        if drop <= least[d] + window:
            delivery_gap[listed], drop_label[listed] = j, d
            listed_drop[listed] = drop
            listed += 1
            least[d] = min(least[d], drop)
        on_p, on_d = leave_p[node], leave_d[node]
    if pairs > MOST_PAIRS * left:
        return -1, -1
    return _choose(gaps, terms, labels, rows, best, window, 1.0 / temperature, first, second)

"""Stretches of a tour that move as they are, whole blocks of a LIFO tour above all.

A block is what lies between a pickup and its delivery. Pair moves cannot move it: they would have to empty
it and fill it again elsewhere. Where precedence alone counts, any stretch may move within the room that the
partners of its stops leave.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from n2s.kernels.random import next_below, next_uniform


@njit(cache=True)
def room_of(tour, place, n, first, last):  # type: ignore[no-untyped-def]
    """(lowest, highest) gap that the stops first..last may go to without overtaking their partners.

    For a LIFO block these are all gaps, as its partners are in it.
    """
    lowest, highest = 0, len(tour) - 1
    for position in range(first, last + 1):
        node = tour[position]
        if node <= n:
            delivery = place[node + n]
            if delivery > last:
                highest = min(highest, delivery - 1)
        else:
            pickup = place[node - n]
            if pickup < first:
                lowest = max(lowest, pickup)
    return lowest, highest


@njit(cache=True)
def cheapest_elsewhere(leave, tour, first, last, lowest, highest):  # type: ignore[no-untyped-def]
    """(gap, change): the cheapest other gap for the stops first..last, between two gaps.

    (-1, inf) if there is none.
    """
    size = len(tour)
    head, tail = tour[first], tour[last]
    before = tour[first - 1]
    behind = tour[last + 1] if last + 1 < size else 0
    saved = leave[before, head] + leave[tail, behind] - leave[before, behind]
    least, where = np.inf, -1
    for gap in range(lowest, highest + 1):
        if gap < first - 1 or gap > last:
            a = tour[gap]
            b = tour[gap + 1] if gap + 1 < size else 0
            change = leave[a, head] + leave[tail, b] - leave[a, b]
            if change < least:
                least, where = change, gap
    return where, least - saved


@njit(cache=True)
def shift_block(tour, place, first, last, gap, block):  # type: ignore[no-untyped-def]
    """Move the stops first..last right behind position ``gap`` outside of them; ``block`` is scratch."""
    length = last - first + 1
    for offset in range(length):
        block[offset] = tour[first + offset]
    if gap < first:
        for position in range(first - 1, gap, -1):
            node = tour[position]
            tour[position + length] = node
            place[node] = position + length
        target = gap + 1
    else:
        for position in range(last + 1, gap + 1):
            node = tour[position]
            tour[position - length] = node
            place[node] = position - length
        target = gap - length + 1
    for offset in range(length):
        tour[target + offset] = block[offset]
        place[block[offset]] = target + offset


@njit(cache=True)
def move_block(leave, tour, place, n, temperature, state, block):  # type: ignore[no-untyped-def]
    """Offer a random request's block to its cheapest other gap: (whether it moved, the change in cost)."""
    request = 1 + next_below(state, n)
    first, last = place[request], place[request + n]
    gap, change = cheapest_elsewhere(leave, tour, first, last, 0, len(tour) - 1)
    if gap < 0 or change >= -temperature * math.log(1.0 - next_uniform(state)):
        return False, 0.0
    shift_block(tour, place, first, last, gap, block)
    return True, change  # which may be 0: a move all the same

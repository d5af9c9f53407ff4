"""Whole blocks of a linked LIFO tour: the twin of ``blocks`` that looks beside near stops only."""

from __future__ import annotations

import numpy as np
from numba import njit

from n2s.kernels.legs import BORROWING, INLINE, leg
from n2s.kernels.linked_list import deal_keys

LONGEST = 64
"""Stops of a block that moves: each gets a new key, so a step's time is bounded by it."""


@njit(**BORROWING)
def block_length(links, pickup, delivery):  # type: ignore[no-untyped-def]
    """Stops from a pickup to its delivery; 0 if they are more than LONGEST."""
    node, length = pickup, 1
    while node != delivery:
        if length == LONGEST:
            return 0
        node = links.succ[node]
        length += 1
    return length


@njit(**INLINE)
def _offer(links, legs, first, last, gap, least, where):  # type: ignore[no-untyped-def]
    """(change, gap) of the cheapest so far, without what leaving the old place saves."""
    key = links.key[gap]
    inside = links.key[first] <= key and key <= links.key[last]
    if inside or gap == links.pred[first]:
        return least, where
    change = leg(legs, gap, first) + leg(legs, last, links.succ[gap]) - links.arc[gap]
    return (change, gap) if change < least else (least, where)


@njit(**BORROWING)
def cheapest_near(links, legs, near, first, last):  # type: ignore[no-untyped-def]
    """(gap, change): the cheapest other gap for the block first..last; the change is inf if there is none.

    Behind the stops nearest to its first one, before those nearest to its last, and beside the depot.
    """
    before, behind = links.pred[first], links.succ[last]
    saved = links.arc[before] + links.arc[last] - leg(legs, before, behind)
    least, where = np.inf, np.uint32(0)
    for rank in range(-1, near.shape[1]):
        stop = np.uint32(near[first, rank] if rank >= 0 else 0)
        least, where = _offer(links, legs, first, last, stop, least, where)
        stop = np.uint32(near[last, rank] if rank >= 0 else 0)
        least, where = _offer(links, legs, first, last, links.pred[stop], least, where)
    return where, least - saved


@njit(**BORROWING)
def shift_links(links, legs, first, last, length, gap):  # type: ignore[no-untyped-def]
    """Move the block first..last behind a node outside of it."""
    before, behind = links.pred[first], links.succ[last]
    links.succ[before], links.pred[behind] = behind, before
    links.arc[before] = leg(legs, before, behind)
    after = links.succ[gap]
    links.succ[gap], links.pred[first] = first, gap
    links.succ[last], links.pred[after] = after, last
    links.arc[gap] = leg(legs, gap, first)
    links.arc[last] = leg(legs, last, after)
    links.top[last] = links.top[gap]  # inside, each stop is labelled by what is inside
    low = links.key[gap]
    high = links.key[after] if after != 0 else links.span[0]
    room = (high - low) // (length + 1)
    if room == 0:
        deal_keys(links)
    else:
        node = first
        for index in range(length):
            links.key[node] = low + (index + 1) * room
            node = links.succ[node]

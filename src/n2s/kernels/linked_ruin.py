"""Choosing related requests along a linked tour: the twins of ``ruin`` that walk from node to node."""

from __future__ import annotations

from numba import njit

from n2s.kernels.legs import BORROWING
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.ruin import LONGEST_STRING, SKIP, mark


@njit(**BORROWING)
def ruin_linked_strings(links, near, seed, count, n, gone, out, listed, state):  # type: ignore[no-untyped-def]
    """Short strings of the tour through the neighbours of the seed, nearest first."""
    for rank in range(near.shape[1]):
        if listed >= count:
            break
        node = near[seed, rank]
        request = node if node <= n else node - n
        if gone[request] == 1 or next_uniform(state) < SKIP:
            continue
        length = 1 + next_below(state, LONGEST_STRING)
        for _ in range(next_below(state, length)):
            if links.pred[node] != 0:
                node = links.pred[node]
        for _ in range(length):
            if node == 0 or listed >= count:
                break
            listed = mark(node, n, gone, out, listed)
            node = links.succ[node]
    return listed


@njit(**BORROWING)
def ruin_linked_stretch(links, seed, count, n, gone, out, listed):  # type: ignore[no-untyped-def]
    """The requests met along the tour from the seed on."""
    node = seed
    while node != 0 and listed < count:
        listed = mark(node, n, gone, out, listed)
        node = links.succ[node]
    return listed

"""A tour as a doubly linked list: taking out and putting in cost the same at any length.

Every node has a key that grows along the tour, with room between neighbours, so that which of two nodes
comes first is one comparison; when the room is used up, all keys are dealt anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.legs import BORROWING, INLINE, leg
from n2s.kernels.rules import LIFO

SPAN = 1 << 62
"""Keys are below this."""
OFF = -1
"""The key of a node that is not on the tour."""


class Links(NamedTuple):
    """One tour; all arrays (N,) by node. Unsigned numbers spare the kernels a test at every look-up."""

    succ: NDArray[np.uint32]
    pred: NDArray[np.uint32]
    key: NDArray[np.int64]
    arc: NDArray[np.float64]
    """The cost of the arc behind each node."""
    top: NDArray[np.uint32]
    """The request on top of the stack behind each node, its gap's label; all 0 where none is needed."""
    span: NDArray[np.int64]
    """(2,) what keys are below, and how often they were dealt."""


@njit(cache=True)
def new_links(size, span):  # type: ignore[no-untyped-def]
    """A list of no nodes but the depot; ``span`` >= ``size``."""
    links = Links(
        np.zeros(size, np.uint32),
        np.zeros(size, np.uint32),
        np.full(size, OFF, np.int64),
        np.zeros(size),
        np.zeros(size, np.uint32),
        np.zeros(2, np.int64),
    )
    links.key[0] = 0
    links.span[0] = span
    return links


@njit(**BORROWING)
def deal_keys(links):  # type: ignore[no-untyped-def]
    """Give the nodes of the tour keys as far apart as possible."""
    step = links.span[0] // len(links.succ)
    node, key = links.succ[0], step
    while node != 0:
        links.key[node] = key
        key += step
        node = links.succ[node]
    links.span[1] += 1


@njit(**BORROWING)
def read_tour(links, variant, legs, tour):  # type: ignore[no-untyped-def]
    """Link the nodes in the order of ``tour``."""
    size = len(tour)
    n = size // 2
    top = 0
    for position in range(size):
        node, behind = tour[position], tour[(position + 1) % size]
        links.succ[node] = behind
        links.pred[behind] = node
        links.arc[node] = leg(legs, node, behind)
        if variant == LIFO:
            # The label below a request waits where its delivery will need it.
            if node > n:
                top = links.top[node]
            elif node > 0:
                links.top[node + n] = top
                top = node
            links.top[node] = top
    deal_keys(links)


@njit(**BORROWING)
def write_tour(succ, tour):  # type: ignore[no-untyped-def]
    """Write the nodes in the order of their links, the depot first."""
    node = succ[0]
    tour[0] = 0
    for position in range(1, len(tour)):
        tour[position] = node
        node = succ[node]


@njit(**INLINE)
def find_key(links, node):  # type: ignore[no-untyped-def]
    """Give a node that has just been linked a key between those of its neighbours."""
    key = links.key
    behind = links.succ[node]
    low = key[links.pred[node]]
    high = key[behind] if behind != 0 else links.span[0]
    middle = low + ((high - low) >> 1)
    if middle > low:
        key[node] = middle
    else:
        deal_keys(links)


@njit(**INLINE)
def link(links, node, before):  # type: ignore[no-untyped-def]
    """Hang a node behind another one: neither cost nor key."""
    behind = links.succ[before]
    links.succ[before] = node
    links.pred[node] = before
    links.succ[node] = behind
    links.pred[behind] = node


@njit(**INLINE)
def unlink(links, node):  # type: ignore[no-untyped-def]
    """Close the list over a node: neither cost nor labels."""
    before, behind = links.pred[node], links.succ[node]
    links.succ[before] = behind
    links.pred[behind] = before
    links.key[node] = OFF


@njit(**INLINE)
def label_inside(links, pickup, delivery, label):  # type: ignore[no-untyped-def]
    """Label the gaps right inside a request, but for that behind its pickup, passing over whole blocks.

    The first of a block is a pickup, and the gap behind its delivery is on the level of the request.
    """
    n = delivery - pickup
    node = links.succ[pickup]
    while node != delivery:
        last = np.uint32(node + n)
        links.top[last] = label
        node = links.succ[last]

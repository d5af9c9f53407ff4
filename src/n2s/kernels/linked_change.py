"""Taking requests out of a linked tour, putting them in, and undoing both, in time of what changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.legs import BORROWING, INLINE, leg
from n2s.kernels.linked_list import find_key, label_inside, link, unlink
from n2s.kernels.rules import LIFO


class Log(NamedTuple):
    """What was before, two entries (pickup, delivery) for every request taken out, in that order."""

    pred: NDArray[np.uint32]
    key: NDArray[np.int64]
    arc: NDArray[np.float64]
    """The cost of the arc behind the node, ..."""
    arc_before: NDArray[np.float64]
    """... of the arc that led to it, ..."""
    gap_arc: NDArray[np.float64]
    """... and of the arc that was broken up to put it in again."""


@njit(cache=True)
def new_log(n):  # type: ignore[no-untyped-def]
    """Room for all n requests."""
    room = 2 * n
    return Log(
        np.zeros(room, np.uint32),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(room),
        np.zeros(room),
    )


@njit(**INLINE)
def _take_node(links, legs, node, log, entry):  # type: ignore[no-untyped-def]
    before = links.pred[node]
    log.pred[entry] = before
    log.key[entry] = links.key[node]
    log.arc[entry] = links.arc[node]
    log.arc_before[entry] = links.arc[before]
    unlink(links, node)
    links.arc[before] = leg(legs, before, links.succ[node])
    return links.arc[before] - log.arc_before[entry] - log.arc[entry]


@njit(**INLINE)
def _put_node(links, legs, node, before, log, entry):  # type: ignore[no-untyped-def]
    log.gap_arc[entry] = links.arc[before]
    link(links, node, before)
    find_key(links, node)
    links.arc[before] = leg(legs, before, node)
    links.arc[node] = leg(legs, node, links.succ[node])
    return links.arc[before] + links.arc[node] - log.gap_arc[entry]


@njit(**INLINE)
def _put_node_back(links, node, log, entry, same_keys):  # type: ignore[no-untyped-def]
    before = log.pred[entry]
    link(links, node, before)
    links.arc[before] = log.arc_before[entry]
    links.arc[node] = log.arc[entry]
    if same_keys:
        links.key[node] = log.key[entry]
    else:
        find_key(links, node)


@njit(**BORROWING)
def take_request(variant, links, legs, pickup, delivery, log, index):  # type: ignore[no-untyped-def]
    """Take a request out as the index-th of the log; returns the change in cost."""
    if variant == LIFO:
        label_inside(links, pickup, delivery, links.top[delivery])
    change = _take_node(links, legs, pickup, log, 2 * index)
    return change + _take_node(links, legs, delivery, log, 2 * index + 1)


@njit(**BORROWING)
def put_request(variant, links, legs, pickup, delivery, j, k, log, index):  # type: ignore[no-untyped-def]
    """Put a request behind the nodes j and k (j = k: the delivery behind the pickup); the change."""
    change = _put_node(links, legs, pickup, j, log, 2 * index)
    change += _put_node(links, legs, delivery, pickup if j == k else k, log, 2 * index + 1)
    if variant == LIFO:
        links.top[pickup] = pickup
        links.top[delivery] = links.top[j]
        label_inside(links, pickup, delivery, pickup)
    return change


@njit(**BORROWING)
def undo(variant, links, out, listed, n, log, deals):  # type: ignore[no-untyped-def]
    """Put the ``listed`` requests of ``out`` back where they were before they were taken out and put in.

    ``deals`` is how often keys had been dealt before: after another deal the logged ones mean nothing.
    """
    for index in range(listed - 1, -1, -1):
        pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
        if variant == LIFO:
            label_inside(links, pickup, delivery, links.top[delivery])
        unlink(links, delivery)
        links.arc[links.pred[delivery]] = log.gap_arc[2 * index + 1]
        unlink(links, pickup)
        links.arc[links.pred[pickup]] = log.gap_arc[2 * index]
    for index in range(listed - 1, -1, -1):
        pickup, delivery = np.uint32(out[index]), np.uint32(out[index] + n)
        _put_node_back(links, delivery, log, 2 * index + 1, links.span[1] == deals)
        _put_node_back(links, pickup, log, 2 * index, links.span[1] == deals)
        if variant == LIFO:
            links.top[delivery] = links.top[links.pred[pickup]]
            label_inside(links, pickup, delivery, pickup)

"""Children of two tours that keep what the loading rule asks for, without repair."""

from __future__ import annotations

import numpy as np
from numba import njit

from n2s.kernels.legs import leg


@njit(cache=True)
def reorder_stretch(a, b, first, last):  # type: ignore[no-untyped-def]
    """Tour ``a`` with its stops first..last-1 in the order of ``b``.

    Pickups stay before deliveries: within the stretch as in b, otherwise as in a.
    """
    size = len(a)
    inside = np.zeros(size, np.uint8)
    for position in range(first, last):
        inside[a[position]] = 1
    child = a.copy()
    position = first
    for at in range(size):
        if inside[b[at]] == 1:
            child[position] = b[at]
            position += 1
    return child


@njit(cache=True)
def graft_block(legs, a, b, request):  # type: ignore[no-untyped-def]
    """Tour ``a`` with everything b carries out between the pickup and the delivery of ``request``.

    In a LIFO tour that is a block of whole requests: it goes, as it is, into the cheapest gap.
    """
    size = len(a)
    n = size // 2
    moved = np.zeros(n + 1, np.uint8)
    block = np.empty(size, np.int64)
    length = 0
    inside = False
    for at in range(size):
        node = b[at]
        if node == request:
            inside = True
        if inside:
            block[length] = node
            length += 1
            if node <= n:
                moved[node] = 1
        if node == request + n:
            break
    rest = np.empty(size, np.int64)
    left = 0
    for at in range(size):
        node = a[at]
        if node == 0 or moved[node if node <= n else node - n] == 0:
            rest[left] = node
            left += 1
    head, tail = block[0], block[length - 1]
    best, gap = np.inf, 0
    for at in range(left):
        before = rest[at]
        behind = rest[at + 1] if at + 1 < left else rest[0]
        change = leg(legs, before, head) + leg(legs, tail, behind) - leg(legs, before, behind)
        if change < best:
            best, gap = change, at
    child = np.empty(size, np.int64)
    child[: gap + 1] = rest[: gap + 1]
    child[gap + 1 : gap + 1 + length] = block[:length]
    child[gap + 1 + length :] = rest[gap + 1 : left]
    return child

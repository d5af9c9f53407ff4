"""Where a request may go: masks and lists of feasible gap pairs, for any variant."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from n2s.kernels.rules import gap_labels


@njit(cache=True)
def chains(variant, rest, n, first, following):  # type: ignore[no-untyped-def]
    """Link the feasible delivery gaps: ``first[j]``, then ``following[k]`` until -1."""
    gaps = len(rest)
    pickup_label = np.empty(gaps, np.int64)
    delivery_label = np.empty(gaps, np.int64)
    gap_labels(variant, rest, n, pickup_label, delivery_label, np.empty(n + 1, np.int64))
    head = np.full(n + 1, -1, np.int64)
    for gap in range(gaps - 1, -1, -1):
        following[gap] = head[delivery_label[gap]]
        head[delivery_label[gap]] = gap
        first[gap] = head[pickup_label[gap]]


@njit(cache=True)
def _chain_lengths(following, length):  # type: ignore[no-untyped-def]
    """How many gaps the chain that starts in a gap has."""
    for gap in range(len(following) - 1, -1, -1):
        length[gap] = 1 + (length[following[gap]] if following[gap] >= 0 else 0)


@njit(cache=True, parallel=True)
def feasible_mask(variant, rests):  # type: ignore[no-untyped-def]
    """(B, M, M) whether the pickup may go into gap j and the delivery into gap k."""
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    mask = np.zeros((batch, gaps, gaps), np.bool_)
    for b in prange(batch):
        first = np.empty(gaps, np.int64)
        following = np.empty(gaps, np.int64)
        chains(variant, rests[b], n, first, following)
        for j in range(gaps):
            k = first[j]
            while k >= 0:
                mask[b, j, k] = True
                k = following[k]
    return mask


@njit(cache=True, parallel=True)
def feasible_pairs(variant, rests):  # type: ignore[no-untyped-def]
    """All feasible (j, k) of every tour, as (offsets (B + 1,), j, k).

    Tour b owns the entries offsets[b]..offsets[b + 1], ordered by j and then k.
    """
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    first = np.empty((batch, gaps), np.int64)
    following = np.empty((batch, gaps), np.int64)
    offsets = np.zeros(batch + 1, np.int64)
    for b in prange(batch):
        chains(variant, rests[b], n, first[b], following[b])
        length = np.empty(gaps, np.int64)
        _chain_lengths(following[b], length)
        count = 0
        for j in range(gaps):
            if first[b, j] >= 0:
                count += length[first[b, j]]
        offsets[b + 1] = count
    for b in range(batch):
        offsets[b + 1] += offsets[b]
    js = np.empty(offsets[batch], np.int64)
    ks = np.empty(offsets[batch], np.int64)
    for b in prange(batch):
        entry = offsets[b]
        for j in range(gaps):
            k = first[b, j]
            while k >= 0:
                js[entry] = j
                ks[entry] = k
                entry += 1
                k = following[b, k]
    return offsets, js, ks


@njit(cache=True, parallel=True)
def count_feasible(variant, rests):  # type: ignore[no-untyped-def]
    """(B,) number of feasible (j, k), in O(N) a tour and without listing them."""
    batch, gaps = rests.shape
    counts = np.zeros(batch, np.int64)
    for b in prange(batch):
        first = np.empty(gaps, np.int64)
        following = np.empty(gaps, np.int64)
        length = np.empty(gaps, np.int64)
        chains(variant, rests[b], gaps // 2 + 1, first, following)
        _chain_lengths(following, length)
        for j in range(gaps):
            if first[j] >= 0:
                counts[b] += length[first[j]]
    return counts


@njit(cache=True, parallel=True)
def pick_feasible(variant, rests, ranks):  # type: ignore[no-untyped-def]
    """(j, k), each (B,): the pair of rank ``ranks[b]`` in the order of ``feasible_pairs``."""
    batch, gaps = rests.shape
    js = np.empty(batch, np.int64)
    ks = np.empty(batch, np.int64)
    for b in prange(batch):
        first = np.empty(gaps, np.int64)
        following = np.empty(gaps, np.int64)
        length = np.empty(gaps, np.int64)
        chains(variant, rests[b], gaps // 2 + 1, first, following)
        _chain_lengths(following, length)
        rank = ranks[b]
        for j in range(gaps):
            mine = length[first[j]] if first[j] >= 0 else 0
            if rank < mine:
                k = first[j]
                for _ in range(rank):
                    k = following[k]
                js[b], ks[b] = j, k
                break
            rank -= mine
    return js, ks

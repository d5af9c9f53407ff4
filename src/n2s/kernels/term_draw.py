"""A pair of gaps drawn from the softmax of separable logits in O(N), with its log-probability.

    logit(j, k) = pickup[j] + delivery[k]  for j < k,  together[j]  for j = k,  over the feasible pairs.

As in ``reinsertion``, a scan backwards with one running sum for each label gives the weight of every j. All
sums are of logarithms, so that no temperature is too low. The draw is the inverse distribution function
over the pairs ordered by j, then k, as ``pairs.draw_pairs`` draws from logits that are not separable.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from n2s.kernels.reinsertion import log_add
from n2s.kernels.rules import gap_labels


@njit(cache=True)
def _draw(pickup_label, delivery_label, terms, u, weights, total):  # type: ignore[no-untyped-def]
    """(j, k, log-probability) of one tour; ``weights`` (M,) and ``total`` (n + 1,) are scratch."""
    pickup, delivery, together = terms[0], terms[1], terms[2]
    gaps = len(pickup)
    total[:] = -np.inf
    highest = -np.inf
    for j in range(gaps - 1, -1, -1):
        p, d = pickup_label[j], delivery_label[j]
        weight = pickup[j] + total[p]
        if p == d:
            weight = log_add(weight, together[j])
        weights[j] = weight
        highest = max(highest, weight)
        total[d] = log_add(total[d], delivery[j])
    everything = 0.0
    for j in range(gaps):
        everything += math.exp(weights[j] - highest)

    target, part = u * everything, 0.0
    chosen = -1
    for j in range(gaps):
        weight = math.exp(weights[j] - highest)
        if weight > 0.0:
            chosen = j  # of positive weight even if rounding leaves a rest of the target
            part = min(target / weight, 1.0)
            if target < weight:
                break
            target -= weight

    # The part of the weight of j that the target reaches into finds k.
    target = part
    p = pickup_label[chosen]
    k, logit = -1, -np.inf
    for gap in range(chosen, gaps):
        if delivery_label[gap] == p:
            here = together[gap] if gap == chosen else pickup[chosen] + delivery[gap]
            share = math.exp(here - weights[chosen])
            if share > 0.0:
                k, logit = gap, here
                if target < share:
                    break
                target -= share
    return chosen, k, logit - highest - math.log(everything)


@njit(cache=True, parallel=True)
def draw_by_terms(variant, rests, terms, uniforms):  # type: ignore[no-untyped-def]
    """(j, k, log-probability), each (B,), from ``terms`` (B, 3, M) of tours (B, M) without a request."""
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    js, ks = np.empty(batch, np.int64), np.empty(batch, np.int64)
    log_probs = np.empty(batch)
    for b in prange(batch):
        labels = np.empty((2, gaps), np.int64)
        gap_labels(variant, rests[b], n, labels[0], labels[1], np.empty(n + 1, np.int64))
        js[b], ks[b], log_probs[b] = _draw(
            labels[0], labels[1], terms[b], uniforms[b], np.empty(gaps), np.empty(n + 1)
        )
    return js, ks, log_probs

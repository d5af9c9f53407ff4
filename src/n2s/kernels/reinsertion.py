r"""Putting a request back in O(N): at the best place, or at a place drawn by the heat bath.

For j < k the cost of a reinsertion is a sum a_j + b_k of a pickup term and a delivery term, and c_j for
j = k (``change.insertion_terms``). Scanning the gaps backwards with one running minimum (best) or one
running sum (heat bath) per *label* of ``rules.gap_labels`` therefore covers all O(N^2) feasible pairs:

    heat bath:  p(j, k)  ~  exp(-change(j, k) / T)
    weight of j:  w_j = exp(-c_j / T) + exp(-a_j / T) * sum over feasible k > j of exp(-b_k / T)

Draw j from w, then k from the terms of w_j.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from n2s.kernels.change import insertion_terms
from n2s.kernels.rules import gap_labels

COLDEST = 1e-200  # keeps change / T finite for every cost an Instance accepts


@njit(cache=True)
def best_gaps(pickup_label, delivery_label, a, b, c, least, where):  # type: ignore[no-untyped-def]
    """(j, k, change) of least change over the pairs the labels allow; the last j, then k, wins a tie.

    ``least`` and ``where`` (n + 1,) are scratch.
    """
    for label in range(len(least)):
        least[label] = np.inf
    best_j, best_k, best_change = -1, -1, np.inf
    for j in range(len(a) - 1, -1, -1):
        p, d = pickup_label[j], delivery_label[j]
        if p == d and c[j] < best_change:
            best_j, best_k, best_change = j, j, c[j]
        if a[j] + least[p] < best_change:
            best_j, best_k, best_change = j, where[p], a[j] + least[p]
        if b[j] < least[d]:
            least[d] = b[j]
            where[d] = j
    return best_j, best_k, best_change


@njit(cache=True)
def _draw(pickup_label, delivery_label, a, b, c, inverse_t, u, v, weight, total):  # type: ignore[no-untyped-def]
    """(j, k) by the heat bath with uniform numbers u, v; (-1, -1) if the weights leave the float range.

    ``weight`` (4, M) and ``total`` (n + 1,) are scratch.
    """
    gaps = len(a)
    low_a, low_b = np.inf, np.inf
    for gap in range(gaps):
        low_a = min(low_a, a[gap])
        low_b = min(low_b, b[gap])
    for gap in range(gaps):
        weight[0, gap] = math.exp((low_a - a[gap]) * inverse_t)
        weight[1, gap] = math.exp((low_b - b[gap]) * inverse_t)
        weight[2, gap] = math.exp((low_a + low_b - c[gap]) * inverse_t)
    for label in range(len(total)):
        total[label] = 0.0
    everything = 0.0
    for j in range(gaps - 1, -1, -1):
        p, d = pickup_label[j], delivery_label[j]
        w = weight[0, j] * total[p]
        if p == d:
            w += weight[2, j]
        weight[3, j] = w
        everything += w
        total[d] += weight[1, j]
    if not (1e-250 < everything < 1e250):
        return -1, -1

    target = u * everything
    chosen_j = -1
    for j in range(gaps - 1, -1, -1):
        if weight[3, j] > 0.0:
            chosen_j = j  # of positive weight even if rounding leaves a rest of the target
            target -= weight[3, j]
            if target < 0.0:
                break
    p = pickup_label[chosen_j]
    target = v * weight[3, chosen_j]
    chosen_k = -1
    if p == delivery_label[chosen_j] and weight[2, chosen_j] > 0.0:
        chosen_k = chosen_j
        target -= weight[2, chosen_j]
    if chosen_k < 0 or target >= 0.0:
        for k in range(chosen_j + 1, gaps):
            if delivery_label[k] == p and weight[1, k] > 0.0:
                chosen_k = k
                target -= weight[0, chosen_j] * weight[1, k]
                if target < 0.0:
                    break
    return chosen_j, chosen_k


@njit(cache=True)
def log_add(x, y):  # type: ignore[no-untyped-def]
    """log(exp(x) + exp(y)) for any x and y, -inf included."""
    high, low = max(x, y), min(x, y)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@njit(cache=True)
def draw_gaps_log(pickup_label, delivery_label, a, b, c, inverse_t, u, v, weight, total):  # type: ignore[no-untyped-def]
    """The same draw in the logarithm: for temperatures at which plain weights under- or overflow."""
    gaps = len(a)
    for label in range(len(total)):
        total[label] = -np.inf
    highest = -np.inf
    for j in range(gaps - 1, -1, -1):
        p, d = pickup_label[j], delivery_label[j]
        w = -a[j] * inverse_t + total[p]
        if p == d:
            w = log_add(w, -c[j] * inverse_t)
        weight[3, j] = w
        highest = max(highest, w)
        total[d] = log_add(total[d], -b[j] * inverse_t)

    everything = 0.0
    for j in range(gaps):
        everything += math.exp(weight[3, j] - highest)
    target = u * everything
    chosen_j = -1
    for j in range(gaps - 1, -1, -1):
        w = math.exp(weight[3, j] - highest)
        if w > 0.0:
            chosen_j = j
            target -= w
            if target < 0.0:
                break

    # Given j, the delivery gaps are weighed against the best of them: at the lowest temperatures a
    # sum of exponents as large as those of j would have lost the differences.
    p = pickup_label[chosen_j]
    for k in range(chosen_j, gaps):
        weight[0, k] = -np.inf
        if delivery_label[k] == p:
            change = c[k] if k == chosen_j else a[chosen_j] + b[k]
            weight[0, k] = -change * inverse_t
    highest = weight[0, chosen_j:].max()
    everything = 0.0
    for k in range(chosen_j, gaps):
        everything += math.exp(weight[0, k] - highest)
    target = v * everything
    chosen_k = -1
    for k in range(chosen_j, gaps):
        w = math.exp(weight[0, k] - highest)
        if w > 0.0:
            chosen_k = k
            target -= w
            if target < 0.0:
                break
    return chosen_j, chosen_k


@njit(cache=True)
def draw_gaps(pickup_label, delivery_label, a, b, c, temperature, u, v, weight, total):  # type: ignore[no-untyped-def]
    """(j, k) drawn from exp(-change / temperature) over the pairs that the labels allow."""
    inverse_t = 1.0 / max(temperature, COLDEST)
    j, k = _draw(pickup_label, delivery_label, a, b, c, inverse_t, u, v, weight, total)
    if j < 0:
        j, k = draw_gaps_log(pickup_label, delivery_label, a, b, c, inverse_t, u, v, weight, total)
    return j, k


@njit(cache=True, parallel=True)
def best_reinsertion(variant, costs, rests, requests):  # type: ignore[no-untyped-def]
    """Cheapest feasible gaps of each request in (B, M) ``rests``: (j, k, change), each (B,)."""
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    copies = batch // len(costs)
    js = np.empty(batch, np.int64)
    ks = np.empty(batch, np.int64)
    changes = np.empty(batch)
    for b in prange(batch):
        terms = np.empty((3, gaps))
        labels = np.empty((2, gaps), np.int64)
        scratch = np.empty(n + 1, np.int64)
        request = requests[b]
        cost = costs[b // copies]
        insertion_terms(cost, rests[b], request, request + n, terms[0], terms[1], terms[2])
        gap_labels(variant, rests[b], n, labels[0], labels[1], scratch)
        js[b], ks[b], changes[b] = best_gaps(
            labels[0], labels[1], terms[0], terms[1], terms[2], np.empty(n + 1), scratch
        )
    return js, ks, changes


@njit(cache=True, parallel=True)
def heat_bath_reinsertion(variant, costs, rests, requests, temperatures, uniforms):  # type: ignore[no-untyped-def]
    """Gaps drawn from exp(-change / T), one draw a tour: (j, k, change), each (B,).

    ``temperatures`` (B,) are positive; ``uniforms`` (B, 2) come from the caller's generator, so a
    tour's draw does not depend on its batch companions or on threads.
    """
    batch, gaps = rests.shape
    n = gaps // 2 + 1
    copies = batch // len(costs)
    js = np.empty(batch, np.int64)
    ks = np.empty(batch, np.int64)
    changes = np.empty(batch)
    for b in prange(batch):
        terms = np.empty((3, gaps))
        labels = np.empty((2, gaps), np.int64)
        request = requests[b]
        cost = costs[b // copies]
        insertion_terms(cost, rests[b], request, request + n, terms[0], terms[1], terms[2])
        gap_labels(variant, rests[b], n, labels[0], labels[1], np.empty(n + 1, np.int64))
        j, k = draw_gaps(
            labels[0],
            labels[1],
            terms[0],
            terms[1],
            terms[2],
            temperatures[b],
            uniforms[b, 0],
            uniforms[b, 1],
            np.empty((4, gaps)),
            np.empty(n + 1),
        )
        js[b], ks[b] = j, k
        changes[b] = terms[2, j] if j == k else terms[0, j] + terms[1, k]
    return js, ks, changes

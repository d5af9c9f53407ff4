"""The reinsertion decoder's pair MLP over feasible places only, forward and backward, Eq. (15).

The first layer of MLP_mu is linear in what belongs to gap j and what belongs to gap k, so its hidden units
are A[j] + B[k]; only the 32 -> 32 -> 1 tail has to run for every pair, and only for feasible ones. Pairs
pass through it in blocks that stay in the first-level cache; no (B, N, N, 32) tensor exists.

    logit(j, k) = C * tanh(tail(relu(A[j] + B[k]))) + prior_pickup[j] + prior_delivery[k]     for j < k
    logit(j, j) = C * tanh(tail(relu(A[j] + B[j] + extra[j] * lift))) + prior_both[j]

The prior and ``extra`` are the exact-cost extension: zero in the paper's policy.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from n2s.kernels.arithmetic import (
    FAST_PART,
    LANES,
    dots_product,
    padded,
    quick_exp,
    rows_product,
    transpose_into,
)
from n2s.kernels.feasible import chains

BLOCK = (
    128  # pairs that go through the tail together: 32 x 128 hidden units are half of a 32 KB cache
)

APART = 256
"""Numbers that logits and probabilities have room for at least.

Where two arrays lie closer to each other than one turn of a vector loop, compiled code takes another path
with other last bits; so short ones would make results depend on where memory happened to be free.
"""


@njit(cache=True)
def _list_pairs(variant, rest, n, js, ks):  # type: ignore[no-untyped-def]
    """List the feasible (j, k), ordered by j and then k; say how many."""
    gaps = len(rest)
    first = np.empty(gaps, np.int64)
    following = np.empty(gaps, np.int64)
    chains(variant, rest, n, first, following)
    count = 0
    for j in range(gaps):
        k = first[j]
        while k >= 0:
            js[count] = j
            ks[count] = k
            count += 1
            k = following[k]
    return count


@njit(**FAST_PART)
def _first_layer(a, b, extra, lift, js, ks, begin, end, units):  # type: ignore[no-untyped-def]
    """units[c, t] = relu(first layer) of pairs begin..end; zeros beyond. ``b`` is (32, gaps and more)."""
    zero = units.dtype.type(0.0)
    width = len(units)
    t = 0
    while begin + t < end:
        # A run of pairs with the same j and consecutive k is one vector loop.
        j, k = js[begin + t], ks[begin + t]
        run = 1
        while begin + t + run < end and js[begin + t + run] == j and ks[begin + t + run] == k + run:
            run += 1
        # Whole turns of the vector loop; the next run overwrites the excess.
        length = min(padded(run), BLOCK - t)
        for c in range(width):
            row, unit, base = b[c, k : k + length], units[c, t : t + length], a[j, c]
            for s in range(length):
                unit[s] = max(base + row[s], zero)
        if j == k:
            for c in range(width):
                units[c, t] = max(a[j, c] + b[c, k] + extra[j] * lift[c], zero)
        t += run
    for c in range(width):
        unit = units[c]
        for s in range(t, BLOCK):
            unit[s] = zero


@njit(**FAST_PART)
def _tail(units, w2, b2, w3, b3, lanes, out):  # type: ignore[no-untyped-def]
    """out[t] = w3 . relu(w2 @ units[:, t] + b2) + b3; two hidden units share what they load."""
    zero = units.dtype.type(0.0)
    width = len(w2)
    for t in range(BLOCK):
        out[t] = b3
    p, q = lanes[0], lanes[1]
    for o in range(0, width, 2):
        bias0, bias1 = b2[o], b2[o + 1]
        for t in range(BLOCK):
            p[t] = bias0
            q[t] = bias1
        for c in range(0, width, 4):
            a0, a1, a2, a3 = w2[o, c], w2[o, c + 1], w2[o, c + 2], w2[o, c + 3]
            e0, e1, e2, e3 = w2[o + 1, c], w2[o + 1, c + 1], w2[o + 1, c + 2], w2[o + 1, c + 3]
            x0, x1, x2, x3 = units[c], units[c + 1], units[c + 2], units[c + 3]
            for t in range(BLOCK):
                u, v, w, z = x0[t], x1[t], x2[t], x3[t]
                p[t] += a0 * u + a1 * v + a2 * w + a3 * z
                q[t] += e0 * u + e1 * v + e2 * w + e3 * z
        y0, y1 = w3[o], w3[o + 1]
        for t in range(BLOCK):
            out[t] += y0 * max(p[t], zero) + y1 * max(q[t], zero)


@njit(**FAST_PART)
def _squash(values, count, clip):  # type: ignore[no-untyped-def]
    """C * tanh in place."""
    one, two = values.dtype.type(1.0), values.dtype.type(2.0)
    c = values.dtype.type(clip)
    for t in range(count):
        values[t] = c * (one - two / (one + quick_exp(two * values[t])))


@njit(cache=True)
def _scratch(a):  # type: ignore[no-untyped-def]
    """Working memory of one thread: pair list, logits, probabilities, b flipped, units, lanes."""
    _, gaps, width = a.shape
    most = max(gaps * (gaps + 1) // 2, APART)
    return (
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, a.dtype),
        np.empty(most, a.dtype),
        np.zeros((width, padded(gaps) + LANES), a.dtype),
        np.empty((width, BLOCK), a.dtype),
        np.empty((3, BLOCK), a.dtype),
    )


@njit(**FAST_PART)
def _score(variant, rest, a, b, extra, prior, weights, scratch):  # type: ignore[no-untyped-def]
    """List the feasible pairs of one tour and their logits in ``scratch``; say how many."""
    js, ks, logits, _, flipped, units, lanes = scratch
    lift, w2, b2, w3, b3, clip = weights
    count = _list_pairs(variant, rest, len(rest) // 2 + 1, js, ks)
    transpose_into(b, flipped)
    for begin in range(0, count, BLOCK):
        end = min(begin + BLOCK, count)
        _first_layer(a, flipped, extra, lift, js, ks, begin, end, units)
        _tail(units, w2, b2, w3, b3[0], lanes, lanes[2])
        for t in range(end - begin):
            logits[begin + t] = lanes[2, t]
    _squash(logits, count, clip)
    for e in range(count):
        j, k = js[e], ks[e]
        logits[e] += prior[2, j] if j == k else prior[0, j] + prior[1, k]
    return count


@njit(**FAST_PART)
def _normalise(logits, count, probabilities):  # type: ignore[no-untyped-def]
    """Softmax of the first ``count`` logits; returns the log of their sum of exponentials."""
    high = logits[0]
    for e in range(1, count):
        high = max(high, logits[e])
    total = logits.dtype.type(0.0)
    for e in range(count):
        p = quick_exp(logits[e] - high)
        probabilities[e] = p
        total += p
    share = logits.dtype.type(1.0) / total
    for e in range(count):
        probabilities[e] *= share
    return high + math.log(total)


@njit(cache=True, parallel=True)
def draw_pairs(variant, rests, a, b, extra, prior, weights, uniforms, chunks):  # type: ignore[no-untyped-def]
    """One pair a tour, drawn from the softmax of the logits: (j, k, log-probability), each (B,).

    Parameters
    ----------
    rests
        (B, M) tours without the request.
    a, b
        (B, M, 32) first layer of MLP_mu by gap of the pickup and of the delivery.
    extra, prior
        (B, M) and (B, 3, M): see the module's formulas.
    weights
        (lift (32,), w2 (32, 32), b2 (32,), w3 (32,), b3 (1,), C).
    uniforms
        (B,) numbers in [0, 1) from the caller's generator.
    """
    batch = len(a)
    out_j = np.empty(batch, np.int64)
    out_k = np.empty(batch, np.int64)
    out_log = np.empty(batch, a.dtype)
    chunks = min(batch, chunks)
    for chunk in prange(chunks):
        scratch = _scratch(a)
        js, ks, logits, probabilities = scratch[:4]
        for t in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            count = _score(variant, rests[t], a[t], b[t], extra[t], prior[t], weights, scratch)
            log_sum = _normalise(logits, count, probabilities)
            target = uniforms[t]
            chosen = 0
            for e in range(count):
                if probabilities[e] > 0:
                    chosen = e
                    target -= probabilities[e]
                    if target < 0:
                        break
            out_j[t], out_k[t] = js[chosen], ks[chosen]
            out_log[t] = logits[chosen] - log_sum
    return out_j, out_k, out_log


@njit(cache=True, parallel=True)
def pair_log_probs(variant, rests, a, b, extra, prior, weights, chosen_j, chosen_k, chunks):  # type: ignore[no-untyped-def]
    """Log-probability of one chosen pair a tour and entropy of the distribution, each (B,).

    Also returns the logits of all listed pairs, (B, M (M + 1) / 2), and the logs of their sums of
    exponentials, (B,), for the backward pass.
    """
    batch = len(a)
    out_log = np.empty(batch, a.dtype)
    out_entropy = np.empty(batch, a.dtype)
    kept = np.empty((batch, a.shape[1] * (a.shape[1] + 1) // 2), a.dtype)
    log_sums = np.empty(batch, a.dtype)
    chunks = min(batch, chunks)
    for chunk in prange(chunks):
        scratch = _scratch(a)
        js, ks, logits, probabilities = scratch[:4]
        for t in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            count = _score(variant, rests[t], a[t], b[t], extra[t], prior[t], weights, scratch)
            log_sum = _normalise(logits, count, probabilities)
            kept[t, :count] = logits[:count]
            log_sums[t] = log_sum
            mean = 0.0
            log_chosen = -np.inf  # stays so for a place that is not feasible
            for e in range(count):
                mean += probabilities[e] * (logits[e] - log_sum)
                if js[e] == chosen_j[t] and ks[e] == chosen_k[t]:
                    log_chosen = logits[e] - log_sum
            out_log[t] = log_chosen
            out_entropy[t] = -mean
    return out_log, out_entropy, kept, log_sums


@njit(cache=True, parallel=True)
def pair_log_probs_backward(  # type: ignore[no-untyped-def]
    variant,
    rests,
    a,
    b,
    extra,
    prior,
    weights,
    chosen_j,
    chosen_k,
    kept,
    log_sums,
    entropies,
    grad_log,
    grad_entropy,
    chunks,
):
    """Gradients of ``pair_log_probs``: (d a, d b, d extra, d prior, d lift, d w2, d b2, d w3, d b3).

    Logits and entropies come from the forward pass, hidden units are computed again, block by block. Sums
    over tours are kept per chunk and added in a fixed order.
    """
    batch, gaps, width = a.shape
    lift, w2, b2, w3, _, clip = weights
    zero = a.dtype.type(0.0)
    one = a.dtype.type(1.0)
    chunks = min(batch, chunks)
    grad_a = np.zeros_like(a)
    grad_b = np.empty_like(b)
    grad_extra = np.zeros_like(extra)
    grad_prior = np.zeros_like(prior)
    part = np.zeros((chunks, width + 4, width), a.dtype)  # w2 and rows for lift, b2, w3, b3
    for chunk in prange(chunks):
        scratch = _scratch(a)
        js, ks, _, _, flipped, units = scratch[:6]
        grad_flipped = np.empty((width, padded(gaps)), a.dtype)
        second = np.empty((width, BLOCK), a.dtype)
        grad_units = np.empty((width, BLOCK), a.dtype)
        slope = np.empty(BLOCK, a.dtype)
        square = np.empty((width, width), a.dtype)
        mine = part[chunk]
        for t in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            count = _list_pairs(variant, rests[t], gaps // 2 + 1, js, ks)
            transpose_into(b[t], flipped)
            grad_flipped[:] = zero
            logits, log_sum, entropy = kept[t], log_sums[t], entropies[t]
            for begin in range(0, count, BLOCK):
                end = min(begin + BLOCK, count)
                for s in range(BLOCK):
                    slope[s] = zero
                for s in range(end - begin):
                    e = begin + s
                    j, k = js[e], ks[e]
                    log_p = logits[e] - log_sum
                    p = quick_exp(log_p)
                    d = -grad_log[t] * p - grad_entropy[t] * p * (log_p + entropy)
                    if j == chosen_j[t] and k == chosen_k[t]:
                        d += grad_log[t]
                    squashed = logits[e]
                    if j == k:
                        grad_prior[t, 2, j] += d
                        squashed -= prior[t, 2, j]
                    else:
                        grad_prior[t, 0, j] += d
                        grad_prior[t, 1, k] += d
                        squashed -= prior[t, 0, j] + prior[t, 1, k]
                    ratio = squashed / clip
                    slope[s] = d * clip * (one - ratio * ratio)
                _first_layer(a[t], flipped, extra[t], lift, js, ks, begin, end, units)
                rows_product(w2, units, second)
                total = zero
                for s in range(BLOCK):
                    total += slope[s]
                mine[width + 3, 0] += total
                for o in range(width):
                    row = second[o]
                    bias, y = b2[o], w3[o]
                    into_w3 = zero
                    into_b2 = zero
                    for s in range(BLOCK):
                        active = row[s] + bias
                        into_w3 += slope[s] * max(active, zero)
                        g = slope[s] * y if active > zero else zero
                        into_b2 += g
                        row[s] = g
                    mine[width + 2, o] += into_w3
                    mine[width + 1, o] += into_b2
                dots_product(second, units, square)
                mine[:width] += square
                rows_product(w2.T, second, grad_units)
                for c in range(width):
                    row, unit = grad_units[c], units[c]
                    for s in range(BLOCK):
                        row[s] = row[s] if unit[s] > zero else zero
                _collect(
                    js,
                    ks,
                    begin,
                    end,
                    grad_units,
                    extra[t],
                    lift,
                    grad_a[t],
                    grad_flipped,
                    grad_extra[t],
                    mine[width],
                )
            for k in range(gaps):
                for c in range(width):
                    grad_b[t, k, c] = grad_flipped[c, k]
    total = part[0].copy()
    for chunk in range(1, chunks):
        total += part[chunk]
    return (
        grad_a,
        grad_b,
        grad_extra,
        grad_prior,
        total[width].copy(),
        total[:width].copy(),
        total[width + 1].copy(),
        total[width + 2].copy(),
        total[width + 3, :1].copy(),
    )


@njit(**FAST_PART)
def _collect(  # type: ignore[no-untyped-def]
    js, ks, begin, end, grad_units, extra, lift, grad_a, grad_b, grad_extra, grad_lift
):
    """Add the first layer's gradients of pairs begin..end to where they came from."""
    zero = grad_units.dtype.type(0.0)
    width = len(grad_units)
    t = 0
    while begin + t < end:
        j, k = js[begin + t], ks[begin + t]
        run = 1
        while begin + t + run < end and js[begin + t + run] == j and ks[begin + t + run] == k + run:
            run += 1
        for c in range(width):
            grad, row = grad_units[c, t : t + run], grad_b[c, k : k + run]
            total = zero
            for s in range(run):
                total += grad[s]
                row[s] += grad[s]
            grad_a[j, c] += total
        if j == k:
            for c in range(width):
                grad_extra[j] += lift[c] * grad_units[c, t]
                grad_lift[c] += extra[j] * grad_units[c, t]
        t += run


@njit(cache=True, parallel=True)
def pair_effects(variant, rests, a, b, extra, prior, weights, chunks):  # type: ignore[no-untyped-def]
    """Mean logits of pickup gaps (B, M), of delivery gaps behind them (B, M) and of j = k (B,).

    Each is relative to the mean over all feasible pairs of its tour; 0 where no pair is feasible.
    """
    batch, gaps, _ = a.shape
    pickup, delivery = np.zeros((batch, gaps)), np.zeros((batch, gaps))
    together = np.zeros(batch)
    chunks = min(batch, chunks)
    for chunk in prange(chunks):
        scratch = _scratch(a)
        js, ks, logits = scratch[:3]
        count_j, count_k = np.empty(gaps), np.empty(gaps)
        for t in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            count = _score(variant, rests[t], a[t], b[t], extra[t], prior[t], weights, scratch)
            count_j[:] = 0.0
            count_k[:] = 0.0
            same, total = 0, 0.0
            for e in range(count):
                j, k, logit = js[e], ks[e], np.float64(logits[e])
                total += logit
                pickup[t, j] += logit
                count_j[j] += 1.0
                if j == k:
                    together[t] += logit
                    same += 1
                else:
                    delivery[t, k] += logit
                    count_k[k] += 1.0
            mean = total / count
            for gap in range(gaps):
                if count_j[gap] > 0:
                    pickup[t, gap] = pickup[t, gap] / count_j[gap] - mean
                if count_k[gap] > 0:
                    delivery[t, gap] = delivery[t, gap] / count_k[gap] - mean
            if same > 0:
                together[t] = together[t] / same - mean
    return pickup, delivery, together

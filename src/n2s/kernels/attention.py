"""Synthesis attention in one pass per tour, forward and backward, Eq. (7) to (9).

For every query i and key j the H self scores are joined with a constant ``table`` (the auxiliary half of
the score MLP's first layer and its bias, Eq. 8), pass an element-wise MLP 2H -> 2H -> H, a softmax over j
and weigh the values. As tensor operations this writes (B, 2H, N, N) numbers several times; here
everything of one tour stays in the cache.

Layout: keys are rows and queries are columns, padded to ``padded(N)``, so that every loop over queries is
a vector loop and the softmax over keys is a sum of rows. The MLP's second bias is the same for all keys
and cancels in the softmax.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from n2s.kernels.arithmetic import (
    FAST,
    FAST_PART,
    dots_product,
    quick_exp,
    rows_product,
    transpose_into,
)

BLOCK = (
    512  # elements that pass the score MLP together: its 8 hidden units take half of a 32 KB cache
)


@njit(**FAST_PART)
def synthesize(scores, table, w1, w2, out):  # type: ignore[no-untyped-def]
    """out[h] = MLP(scores[:], table[:]) element by element; 4 heads, everything (.., N, padded)."""
    count = scores[0].size
    s, z = scores.reshape(4, count), out.reshape(4, count)
    constant = table.reshape(len(w1), count)
    zero = scores.dtype.type(0.0)
    for begin in range(0, count, BLOCK):
        part = slice(begin, min(begin + BLOCK, count))
        s0, s1, s2, s3 = s[0, part], s[1, part], s[2, part], s[3, part]
        z0, z1, z2, z3 = z[0, part], z[1, part], z[2, part], z[3, part]
        for i in range(len(s0)):
            z0[i] = zero
            z1[i] = zero
            z2[i] = zero
            z3[i] = zero
        for c in range(0, len(w1), 2):  # two hidden units share what they load
            a0, a1, a2, a3 = w1[c, 0], w1[c, 1], w1[c, 2], w1[c, 3]
            b0, b1, b2, b3 = w1[c + 1, 0], w1[c + 1, 1], w1[c + 1, 2], w1[c + 1, 3]
            u0, u1, u2, u3 = w2[0, c], w2[1, c], w2[2, c], w2[3, c]
            v0, v1, v2, v3 = w2[0, c + 1], w2[1, c + 1], w2[2, c + 1], w2[3, c + 1]
            t0, t1 = constant[c, part], constant[c + 1, part]
            for i in range(len(s0)):
                x, y, v, w = s0[i], s1[i], s2[i], s3[i]
                p = max(t0[i] + a0 * x + a1 * y + a2 * v + a3 * w, zero)
                q = max(t1[i] + b0 * x + b1 * y + b2 * v + b3 * w, zero)
                z0[i] += u0 * p + v0 * q
                z1[i] += u1 * p + v1 * q
                z2[i] += u2 * p + v2 * q
                z3[i] += u3 * p + v3 * q


@njit(**FAST_PART)
def softmax_over_keys(weights, size):  # type: ignore[no-untyped-def]
    """Exponentials of scores (H, N, padded) in place; returns 1 / their sum over keys, (H, padded).

    The division is left to the caller, who multiplies fewer numbers after mixing the values.
    """
    heads, keys, _ = weights.shape
    one = weights.dtype.type(1.0)
    high = np.empty(size, weights.dtype)
    share = np.zeros((heads, size), weights.dtype)
    for h in range(heads):
        row = weights[h, 0]
        for i in range(size):
            high[i] = row[i]
        for j in range(1, keys):
            row = weights[h, j]
            for i in range(size):
                high[i] = max(high[i], row[i])
        total = share[h]
        for j in range(keys):
            row = weights[h, j]
            for i in range(size):
                e = quick_exp(row[i] - high[i])
                row[i] = e
                total[i] += e
        for i in range(size):
            total[i] = one / total[i]
    return share


@njit(**FAST_PART)
def _weights(qkv, table, w1, w2, width, queries, scores, weights):  # type: ignore[no-untyped-def]
    """Fill queries (D, padded), self scores and exponentials (H, N, padded) of one tour.

    Returns the factor (H, padded) that makes attention weights of the exponentials.
    """
    heads = len(w2)
    depth = width // heads
    transpose_into(qkv[:, :width], queries)
    keys = qkv[:, width : 2 * width]
    for h in range(heads):
        head = slice(h * depth, (h + 1) * depth)
        rows_product(keys[:, head], queries[head], scores[h])
    synthesize(scores, table, w1, w2, weights)
    return softmax_over_keys(weights, scores.shape[2])


@njit(parallel=True, **FAST)
def synth_attention(qkv, table, w1, w2, chunks):  # type: ignore[no-untyped-def]
    """(B, N, D) attention output, heads side by side, before W^O.

    Parameters
    ----------
    qkv
        (B, N, 3 D) queries (already scaled), keys and values.
    table
        (2H, N, padded(N)) constant input of the MLP's hidden units by key and query, Eq. (5) and (8).
    w1, w2
        (2H, H) self half of the MLP's first layer and (H, 2H) second layer; H = 4.
    """
    batch, size, triple = qkv.shape
    width = triple // 3
    heads = len(w2)
    depth = width // heads
    length = table.shape[2]
    out = np.empty((batch, size, width), qkv.dtype)
    chunks = min(batch, chunks)
    for chunk in prange(chunks):
        queries = np.empty((width, length), qkv.dtype)
        scores = np.empty((heads, size, length), qkv.dtype)
        weights = np.empty((heads, size, length), qkv.dtype)
        mixed = np.empty((depth, length), qkv.dtype)
        for b in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            share = _weights(qkv[b], table, w1, w2, width, queries, scores, weights)
            for h in range(heads):
                values = qkv[b, :, 2 * width + h * depth : 2 * width + (h + 1) * depth]
                rows_product(values.T, weights[h], mixed)
                for i in range(size):
                    for d in range(depth):
                        out[b, i, h * depth + d] = mixed[d, i] * share[h, i]
    return out


@njit(**FAST_PART)
def _mlp_backward(scores, table, w1, w2, slope, grad_table, grad_w1, grad_w2):  # type: ignore[no-untyped-def]
    """Backward pass of ``synthesize``: ``slope`` holds d out and becomes d scores; the rest is added to."""
    heads, hidden = len(w2), len(w1)
    count = scores[0].size
    s, g = scores.reshape(heads, count), slope.reshape(heads, count)
    constant, collected = table.reshape(hidden, count), grad_table.reshape(hidden, count)
    zero = scores.dtype.type(0.0)
    inputs = np.zeros((heads, BLOCK), scores.dtype)
    outputs = np.zeros((heads, BLOCK), scores.dtype)
    units = np.empty((hidden, BLOCK), scores.dtype)
    grad_units = np.empty((hidden, BLOCK), scores.dtype)
    small_w1 = np.empty((hidden, heads), scores.dtype)
    small_w2 = np.empty((heads, hidden), scores.dtype)
    for begin in range(0, count, BLOCK):
        length = min(BLOCK, count - begin)
        for h in range(heads):
            inputs[h, :length] = s[h, begin : begin + length]
            outputs[h, :length] = g[h, begin : begin + length]
            outputs[h, length:] = zero  # nothing comes back from beyond the end
        rows_product(w1, inputs, units)
        rows_product(w2.T, outputs, grad_units)
        for c in range(hidden):
            u, d = units[c], grad_units[c]
            t, sums = constant[c, begin : begin + length], collected[c, begin : begin + length]
            for i in range(length):
                u[i] = max(u[i] + t[i], zero)
                d[i] = d[i] if u[i] > zero else zero
                sums[i] += d[i]
        dots_product(outputs, units, small_w2)
        dots_product(grad_units, inputs, small_w1)
        grad_w2 += small_w2
        grad_w1 += small_w1
        rows_product(w1.T, grad_units, outputs)
        for h in range(heads):
            g[h, begin : begin + length] = outputs[h, :length]


@njit(parallel=True, **FAST)
def synth_attention_backward(qkv, table, w1, w2, grad_out, chunks):  # type: ignore[no-untyped-def]
    """Gradients of ``synth_attention``: (d qkv, d table, d w1, d w2).

    Scores and weights are computed again instead of stored; sums over tours are kept per thread and
    added up in a fixed order, so the result does not depend on timing.
    """
    batch, size, triple = qkv.shape
    width = triple // 3
    heads = len(w2)
    hidden = len(w1)
    depth = width // heads
    length = table.shape[2]
    zero = qkv.dtype.type(0.0)
    chunks = min(batch, chunks)
    grad_qkv = np.empty_like(qkv)
    part_table = np.zeros((chunks, hidden, size, length), qkv.dtype)
    part_w1 = np.zeros((chunks, hidden, heads), qkv.dtype)
    part_w2 = np.zeros((chunks, heads, hidden), qkv.dtype)
    for chunk in prange(chunks):
        queries = np.empty((width, length), qkv.dtype)
        scores = np.empty((heads, size, length), qkv.dtype)
        weights = np.empty((heads, size, length), qkv.dtype)
        upstream = np.empty((width, length), qkv.dtype)
        slope = np.empty((heads, size, length), qkv.dtype)
        mean = np.empty(length, qkv.dtype)
        grad_queries = np.empty((depth, length), qkv.dtype)
        mine_w1, mine_w2 = part_w1[chunk], part_w2[chunk]
        for b in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            share = _weights(qkv[b], table, w1, w2, width, queries, scores, weights)
            for h in range(heads):
                factor = share[h]
                for j in range(size):
                    w = weights[h, j]
                    for i in range(length):
                        w[i] *= factor[i]
            # The padding's queries are zeros, their weights finite: a zero gradient ends them here.
            transpose_into(grad_out[b], upstream)
            grad = grad_qkv[b]
            for h in range(heads):
                head = slice(h * depth, (h + 1) * depth)
                values = qkv[b, :, 2 * width + h * depth : 2 * width + (h + 1) * depth]
                grad_values = grad[:, 2 * width + h * depth : 2 * width + (h + 1) * depth]
                dots_product(weights[h], upstream[head], grad_values)
                rows_product(values, upstream[head], slope[h])
                for i in range(length):
                    mean[i] = zero
                for j in range(size):
                    w, s = weights[h, j], slope[h, j]
                    for i in range(length):
                        mean[i] += w[i] * s[i]
                for j in range(size):
                    w, s = weights[h, j], slope[h, j]
                    for i in range(length):
                        s[i] = w[i] * (s[i] - mean[i])
            _mlp_backward(scores, table, w1, w2, slope, part_table[chunk], mine_w1, mine_w2)
            for h in range(heads):
                head = slice(h * depth, (h + 1) * depth)
                keys = qkv[b, :, width + h * depth : width + (h + 1) * depth]
                dots_product(
                    slope[h], queries[head], grad[:, width + h * depth : width + (h + 1) * depth]
                )
                rows_product(keys.T, slope[h], grad_queries)
                for i in range(size):
                    for d in range(depth):
                        grad[i, h * depth + d] = grad_queries[d, i]
    grad_table = part_table[0].copy()
    grad_w1 = part_w1[0].copy()
    grad_w2 = part_w2[0].copy()
    for chunk in range(1, chunks):
        grad_table += part_table[chunk]
        grad_w1 += part_w1[chunk]
        grad_w2 += part_w2[chunk]
    return grad_qkv, grad_table, grad_w1, grad_w2

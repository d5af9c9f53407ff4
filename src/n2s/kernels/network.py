"""Further parts of the fast policy that would be many small tensor operations."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from n2s.kernels.arithmetic import FAST
from n2s.kernels.attention import softmax_over_keys, synthesize


@njit(parallel=True, **FAST)
def first_attention(points, tours, form, table, w1, w2, chunks):  # type: ignore[no-untyped-def]
    """Layer 1's attention on coordinates: (B, N, 2 + 2H), the node's own and each head's mean.

    ``points`` (B, N, 2) by node, ``form`` (H, 2, 2): the score of query i and key j of a head is
    x_i^T form x_j.
    """
    batch, size = tours.shape
    heads = len(form)
    length = table.shape[2]
    out = np.empty((batch, size, 2 + 2 * heads), points.dtype)
    chunks = min(batch, chunks)
    for chunk in prange(chunks):
        x = np.zeros((2, length), points.dtype)
        scores = np.empty((heads, size, length), points.dtype)
        weights = np.empty((heads, size, length), points.dtype)
        mean = np.empty((2, length), points.dtype)
        for b in range(chunk * batch // chunks, (chunk + 1) * batch // chunks):
            for i in range(size):
                for axis in range(2):
                    x[axis, i] = points[b, tours[b, i], axis]
                    out[b, i, axis] = x[axis, i]
            for j in range(size):
                for h in range(heads):
                    u = form[h, 0, 0] * x[0, j] + form[h, 0, 1] * x[1, j]
                    v = form[h, 1, 0] * x[0, j] + form[h, 1, 1] * x[1, j]
                    row = scores[h, j]
                    for i in range(length):
                        row[i] = u * x[0, i] + v * x[1, i]
            synthesize(scores, table, w1, w2, weights)
            share = softmax_over_keys(weights, length)
            for h in range(heads):
                first, second = mean[0], mean[1]
                for i in range(length):
                    first[i] = 0.0
                    second[i] = 0.0
                for j in range(size):
                    u, v, row = x[0, j], x[1, j], weights[h, j]
                    for i in range(length):
                        first[i] += u * row[i]
                        second[i] += v * row[i]
                for i in range(size):
                    out[b, i, 2 + 2 * h] = first[i] * share[h, i]
                    out[b, i, 3 + 2 * h] = second[i] * share[h, i]
    return out


@njit(parallel=True, **FAST)
def normalise(h):  # type: ignore[no-untyped-def]
    """Instance normalisation of (B, N D) in place: mean 0, variance 1 over all entries of a row."""
    batch, count = h.shape
    for b in prange(batch):
        row = h[b]
        total = h.dtype.type(0.0)
        for t in range(count):
            total += row[t]
        mean = total / count
        square = h.dtype.type(0.0)
        for t in range(count):
            d = row[t] - mean
            square += d * d
        scale = h.dtype.type(1.0 / math.sqrt(square / (count - 1) + 1e-5))
        shift = h.dtype.type(mean)
        for t in range(count):
            row[t] = (row[t] - shift) * scale


@njit(parallel=True, **FAST)
def closeness(mixed, turned, reach):  # type: ignore[no-untyped-def]
    """(B, H, N) lambda of every position, Eq. (12), from ``turned`` (B, N, H D) = mixed W^Q W^K^T.

    ``reach`` is how many positions further the successor stands: 1, or 2 as in the released code.
    """
    batch, size, width = mixed.shape
    heads = turned.shape[2] // width
    out = np.empty((batch, heads, size), mixed.dtype)
    for b in prange(batch):
        for i in range(size):
            before = i - 1 if i > 0 else size - 1
            behind = (i + reach) % size
            x, y = mixed[b, i], mixed[b, behind]
            for h in range(heads):
                mine = turned[b, i, h * width : (h + 1) * width]
                previous = turned[b, before, h * width : (h + 1) * width]
                total = mixed.dtype.type(0.0)
                for d in range(width):
                    total += previous[d] * (x[d] - y[d]) + mine[d] * y[d]
                out[b, h, i] = total
    return out


@njit(parallel=True, **FAST)
def closeness_backward(mixed, turned, grad, reach):  # type: ignore[no-untyped-def]
    """Gradients of ``closeness``: (d mixed, d turned)."""
    batch, size, width = mixed.shape
    heads = turned.shape[2] // width
    grad_mixed = np.zeros_like(mixed)
    grad_turned = np.zeros_like(turned)
    for b in prange(batch):
        for i in range(size):
            before = i - 1 if i > 0 else size - 1
            behind = (i + reach) % size
            x, y = mixed[b, i], mixed[b, behind]
            grad_x, grad_y = grad_mixed[b, i], grad_mixed[b, behind]
            for h in range(heads):
                g = grad[b, h, i]
                head = slice(h * width, (h + 1) * width)
                mine, previous = turned[b, i, head], turned[b, before, head]
                grad_mine, grad_previous = grad_turned[b, i, head], grad_turned[b, before, head]
                for d in range(width):
                    grad_x[d] += g * previous[d]
                for d in range(width):
                    grad_y[d] += g * (mine[d] - previous[d])
                for d in range(width):
                    grad_mine[d] += g * y[d]
                for d in range(width):
                    grad_previous[d] += g * (x[d] - y[d])
    return grad_mixed, grad_turned

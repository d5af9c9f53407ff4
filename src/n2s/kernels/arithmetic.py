"""Small dense arithmetic that numba turns into vector code: exp, tanh and two matrix products.

The innermost loop always runs along a padded row, so that the compiler can use full vector registers;
``padded`` says how long such a row is. float32 gets a polynomial exp (relative error below 2e-7) because
the library function is not vectorised; float64, which only gradient checks use, gets the exact one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import overload

# A sum may be taken in another order where that is faster. The parts of a kernel then belong inside it: a
# part that is called may be the copy of another module, with other vector code and other last bits, and
# which copy that is differs between the process that compiles a kernel and those that load it.
FAST = {"cache": True, "fastmath": True, "error_model": "numpy"}
FAST_PART = FAST | {"forceinline": True}

LANES = 32  # what the compiler handles in one turn of an unrolled vector loop; less runs as scalars


@njit(cache=True)
def padded(length):  # type: ignore[no-untyped-def]
    """The least multiple of LANES that holds ``length`` numbers."""
    return (length + LANES - 1) // LANES * LANES


def quick_exp(x):  # type: ignore[no-untyped-def]
    """exp(x); also callable from Python."""
    return np.exp(x)


@overload(quick_exp, inline="always")
def _quick_exp(x):  # type: ignore[no-untyped-def]
    if x is types.float32:

        def single(x):  # type: ignore[no-untyped-def]
            # exp(x) = 2^k * exp(r) with |r| <= log(2) / 2, and a minimax polynomial for exp(r).
            x = min(max(x, np.float32(-87.0)), np.float32(88.0))
            # Rounded by cutting off, which is one vector instruction; floor would not be.
            half = np.float32(0.5) if x >= np.float32(0.0) else np.float32(-0.5)
            k = np.int32(x * np.float32(1.44269504) + half)
            whole = np.float32(k)
            # log(2) in two parts keeps the difference exact.
            r = x - whole * np.float32(0.693359375) - whole * np.float32(-2.12194440e-4)
            p = np.float32(1.9875691500e-4)
            p = p * r + np.float32(1.3981999507e-3)
            p = p * r + np.float32(8.3334519073e-3)
            p = p * r + np.float32(4.1665795894e-2)
            p = p * r + np.float32(1.6666665459e-1)
            p = p * r + np.float32(5.0000001201e-1)
            p = p * r * r + r + np.float32(1.0)
            bits = np.int32((k + np.int32(127)) << np.int32(23))  # 2^k, written as a float
            return p * bits.view(np.float32)

        return single

    def double(x):  # type: ignore[no-untyped-def]
        return math.exp(x)

    return double


@njit(**FAST_PART)
def rows_product(scalars, rows, out):  # type: ignore[no-untyped-def]
    """out[r, :] = sum over c of scalars[r, c] * rows[c, :], for rows of padded length."""
    height, depth = scalars.shape
    length = rows.shape[1]
    r = 0
    while r + 1 < height:  # two rows at a time share what they load
        first, second = out[r], out[r + 1]
        for t in range(length):
            first[t] = 0.0
            second[t] = 0.0
        c = 0
        while c + 3 < depth:
            a0, a1, a2, a3 = scalars[r, c], scalars[r, c + 1], scalars[r, c + 2], scalars[r, c + 3]
            b0, b1 = scalars[r + 1, c], scalars[r + 1, c + 1]
            b2, b3 = scalars[r + 1, c + 2], scalars[r + 1, c + 3]
            x0, x1, x2, x3 = rows[c], rows[c + 1], rows[c + 2], rows[c + 3]
            for t in range(length):
                u, v, w, z = x0[t], x1[t], x2[t], x3[t]
                first[t] += a0 * u + a1 * v + a2 * w + a3 * z
                second[t] += b0 * u + b1 * v + b2 * w + b3 * z
            c += 4
        while c < depth:
            a0, b0, x0 = scalars[r, c], scalars[r + 1, c], rows[c]
            for t in range(length):
                first[t] += a0 * x0[t]
                second[t] += b0 * x0[t]
            c += 1
        r += 2
    if r < height:
        first = out[r]
        for t in range(length):
            first[t] = 0.0
        for c in range(depth):
            a0, x0 = scalars[r, c], rows[c]
            for t in range(length):
                first[t] += a0 * x0[t]


@njit(**FAST_PART)
def dots_product(left, right, out):  # type: ignore[no-untyped-def]
    """out[r, c] = left[r, :] . right[c, :], for rows of padded length."""
    height, width = len(left), len(right)
    length = left.shape[1]
    zero = out.dtype.type(0.0)
    for r in range(height):
        a = left[r]
        c = 0
        while c + 3 < width:
            x0, x1, x2, x3 = right[c], right[c + 1], right[c + 2], right[c + 3]
            s0 = s1 = s2 = s3 = zero
            for t in range(length):
                s0 += a[t] * x0[t]
                s1 += a[t] * x1[t]
                s2 += a[t] * x2[t]
                s3 += a[t] * x3[t]
            out[r, c], out[r, c + 1], out[r, c + 2], out[r, c + 3] = s0, s1, s2, s3
            c += 4
        while c < width:
            x0 = right[c]
            s0 = zero
            for t in range(length):
                s0 += a[t] * x0[t]
            out[r, c] = s0
            c += 1


@njit(cache=True)
def transpose_into(source, target):  # type: ignore[no-untyped-def]
    """target[c, r] = source[r, c], and zeros in the padding of target's rows."""
    height, width = source.shape
    for c in range(width):
        row = target[c]
        for r in range(height):
            row[r] = source[r, c]
        for r in range(height, len(row)):
            row[r] = 0.0

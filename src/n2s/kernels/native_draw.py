"""The heat bath of ``reinsertion`` as the native policy draws from it: logits in, single precision.

A logit is the logarithm of a weight up to a constant: for j < k it is the sum x_j + y_k of a pickup and a
delivery term, for j = k it is z_j. Everything that is not a scan is a vector loop. Where single precision
runs out (the best of x and the best of y may not go together, and a cold bath asks for the rest) the
slow draw takes over, so the distribution is that of the logits at every temperature. The logits
themselves are rounded, to 6e-8 of their size: differences far below a millionth of a change are not seen.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from n2s.kernels.arithmetic import quick_exp
from n2s.kernels.legs import BORROWING
from n2s.kernels.reinsertion import draw_gaps_log

FAINT = 1e-30
"""A sum of single precision weights below which too many of them may have vanished."""
STEEPEST = 1e30
"""Of a logit, in the slow draw: what single precision made infinite has to be a number again."""


@njit(**BORROWING)
def insertion_logits(reach, leave, rest, arcs, left, pickup, delivery, inverse_t, logits):  # type: ignore[no-untyped-def]
    """Fill ``logits`` (3, N): minus the change in cost over the temperature."""
    x, y, z = logits[0], logits[1], logits[2]
    reach_p, leave_p = reach[pickup], leave[pickup]
    reach_d, leave_d = reach[delivery], leave[delivery]
    between = reach_d[pickup]
    for gap in range(left):
        node, behind = rest[gap], rest[gap + 1] if gap + 1 < left else rest[0]
        arc = arcs[gap]
        into, off = reach_p[node] - arc, leave_d[behind]
        x[gap] = -(into + leave_p[behind]) * inverse_t
        y[gap] = -(reach_d[node] + off - arc) * inverse_t
        z[gap] = -(into + between + off) * inverse_t


@njit(**BORROWING)
def exponentials(logits, count, shift, weights):  # type: ignore[no-untyped-def]
    """exp(logit - shift) of the first ``count``."""
    for index in range(count):
        weights[index] = quick_exp(logits[index] - shift)


@njit(**BORROWING, fastmath={"nnan", "nsz"})
def _highest(logits, count):  # type: ignore[no-untyped-def]
    """The highest of the first ``count``; none of them is NaN, which makes it a vector loop."""
    high = logits[0]
    for index in range(count):
        high = max(high, logits[index])
    return high


@njit(**BORROWING)
def _weigh(logits, left, weights):  # type: ignore[no-untyped-def]
    """Exponentials of the logits, shifted so that none overflows and products of x and y agree with z."""
    x, y, z = logits[0], logits[1], logits[2]
    high_x, high_y, high_z = _highest(x, left), _highest(y, left), _highest(z, left)
    shift = max(high_x + high_y, high_z)
    shift_x = shift - high_y
    exponentials(x, left, shift_x, weights[0])
    exponentials(y, left, high_y, weights[1])
    exponentials(z, left, shift, weights[2])


@njit(**BORROWING)
def draw_anywhere(logits, left, weights, first, second):  # type: ignore[no-untyped-def]
    """(j, k) with j <= k by the weights exp(logit); (-1, -1) if they are too faint.

    ``first`` and ``second`` are uniform numbers, ``weights`` (4, N) is scratch.
    """
    _weigh(logits, left, weights)
    u, v, w, whole = weights[0], weights[1], weights[2], weights[3]
    behind, everything = np.float32(0.0), np.float32(0.0)
    for step in range(left):
        j = np.uint32(left - 1 - step)
        mine = w[j] + u[j] * behind
        behind += v[j]
        whole[j] = mine
        everything += mine
    if not everything >= FAINT:  # nor is it a number where logits are infinite
        return -1, -1
    target = first * everything
    chosen = -1
    for step in range(left):
        j = np.uint32(left - 1 - step)
        if whole[j] > 0.0:
            chosen = int(j)  # of positive weight even if rounding leaves a rest of the target
            target -= whole[j]
            if target < 0.0:
                break
    target = second * whole[chosen] - w[chosen]
    if target < 0.0:
        return chosen, chosen
    k = chosen
    for gap in range(chosen + 1, left):
        share = u[chosen] * v[gap]
        if share > 0.0:
            k = gap
            target -= share
            if target < 0.0:
                break
    return chosen, k


@njit(**BORROWING)
def draw_allowed(logits, left, pickup_label, delivery_label, weights, total, first, second):  # type: ignore[no-untyped-def]
    """The same over the pairs whose labels agree; ``total`` (n + 1,) is scratch."""
    _weigh(logits, left, weights)
    u, v, w, whole = weights[0], weights[1], weights[2], weights[3]
    for gap in range(left):
        total[delivery_label[gap]] = 0.0
        total[pickup_label[gap]] = 0.0
    everything = np.float32(0.0)
    for step in range(left):
        j = np.uint32(left - 1 - step)
        p, d = pickup_label[j], delivery_label[j]
        mine = u[j] * total[p]
        if p == d:
            mine += w[j]
        total[d] += v[j]
        whole[j] = mine
        everything += mine
    if not everything >= FAINT:  # nor is it a number where logits are infinite
        return -1, -1
    target = first * everything
    chosen = -1
    for step in range(left):
        j = np.uint32(left - 1 - step)
        if whole[j] > 0.0:
            chosen = int(j)
            target -= whole[j]
            if target < 0.0:
                break
    p = pickup_label[chosen]
    target = second * whole[chosen]
    k = -1
    if p == delivery_label[chosen] and w[chosen] > 0.0:
        k = chosen
        target -= w[chosen]
    if k < 0 or target >= 0.0:
        for gap in range(chosen + 1, left):
            if delivery_label[gap] == p and u[chosen] * v[gap] > 0.0:
                k = gap
                target -= u[chosen] * v[gap]
                if target < 0.0:
                    break
    return chosen, k


@njit(cache=True, error_model="numpy")
def draw_exactly(logits, left, n, pickup_label, delivery_label, first, second):  # type: ignore[no-untyped-def]
    """The same in double precision and in the logarithm: slow, for the rare cold cases."""
    terms = np.empty((3, left))
    for row in range(3):
        for gap in range(left):
            terms[row, gap] = min(max(-np.float64(logits[row, gap]), -STEEPEST), STEEPEST)
    return draw_gaps_log(
        pickup_label[:left],
        delivery_label[:left],
        *(terms[0], terms[1], terms[2]),
        1.0,
        first,
        second,
        np.empty((4, left)),
        np.empty(n + 1),
    )

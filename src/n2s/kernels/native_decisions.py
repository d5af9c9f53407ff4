"""What a native policy decides, from what it sees: how warm, which request, how many, which way.

``theta`` holds all parameters, one block behind the other (``LAYOUT``); zeros are a sound annealing. The
tour itself is the chain's (``native_chain``, ``linked_native``).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from n2s.kernels.legs import BORROWING
from n2s.kernels.native_draw import exponentials
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.rules import LIFO

VIEWS = 5
"""What is seen of the whole: excess, stagnation, progress, budget, and whether that counts time."""
FEATURES = 8
"""What is seen of a request: the two detours, age, freshness, trace, length, span, depth."""
OUTLOOK = 2
"""What looking around tells of a request: its savings elsewhere, in mean edges and in temperatures."""
HIDDEN = 8
HEAT = 4
"""Hidden units of the temperature."""
LARGEST = (1, 2, 4, 8, 16, 32)
"""Classes of how many requests go out: one, two, up to four, ..."""
WAYS = 3
"""Of choosing related requests: strings, a stretch, similar ones."""

SEEN = FEATURES + OUTLOOK
"""Rows of features; those of the outlook are 0 for a policy that does not weigh it."""

LAYOUT = {
    "removal/linear": FEATURES,
    "removal/features": HIDDEN * FEATURES,
    "removal/views": HIDDEN * VIEWS,
    "removal/bias": HIDDEN,
    "removal/out": HIDDEN,
    "heat/range": 2,
    "heat/views": HEAT * VIEWS,
    "heat/bias": HEAT,
    "heat/out": HEAT,
    "count/bias": len(LARGEST),
    "count/views": len(LARGEST) * VIEWS,
    "ways": WAYS,
    "several": 2,
    "places": 4,
    "blocks": 1 + VIEWS + 1,
    "return": 1 + VIEWS,
    "outlook": (1 + HIDDEN) * OUTLOOK,
    "build": 4,
    "bridge": 3,
}
"""Names and lengths of the blocks of theta; what the last one weighs, ``native.bridge`` adds."""
PARAMETERS = sum(LAYOUT.values())
BEGIN = dict(zip(LAYOUT, np.cumsum([0, *LAYOUT.values()]).tolist(), strict=False))
"""Where a block begins."""
_LINEAR, _FEATURES, _REMOVAL_VIEWS = (
    BEGIN["removal/linear"],
    BEGIN["removal/features"],
    BEGIN["removal/views"],
)
_REMOVAL_BIAS, _REMOVAL_OUT = BEGIN["removal/bias"], BEGIN["removal/out"]
_RANGE, _HEAT_VIEWS, _HEAT_BIAS, _HEAT_OUT = (
    BEGIN["heat/range"],
    BEGIN["heat/views"],
    BEGIN["heat/bias"],
    BEGIN["heat/out"],
)
_COUNT_BIAS, _COUNT_VIEWS = BEGIN["count/bias"], BEGIN["count/views"]
_WAYS, _BLOCKS, _RETURN = BEGIN["ways"], BEGIN["blocks"], BEGIN["return"]
_OUTLOOK, _BUILD = BEGIN["outlook"], BEGIN["build"]
SEVERAL, PLACES = BEGIN["several"], BEGIN["places"]
EAGER_BLOCKS = BEGIN["blocks"] + LAYOUT["blocks"] - 1
"""Where the chains find what they multiply temperatures by, and the bonuses of places."""
LEVELS = len(LARGEST)
_LARGEST = np.array(LARGEST)

HOT, COLD = math.log(0.4), math.log(0.05)
"""Logarithms of the temperature at the beginning and the end, in mean edges, where theta is 0."""
ONE = 2.0
"""Logit of taking out a single request, and -1, -2, ... of the larger classes, where theta is 0."""
RARE = -3.0
"""Logit of a move of a block or a stretch where theta is 0."""
RARER = -6.0
"""Logit of a return to the best tour where theta is 0."""
LONGEST = 5.0
"""Where blocks are none, fewer stops than 2 to this power move."""
OLDEST = 4.0
MOST = 3.0
"""Where age and views end."""
MOST_SAVING, MOST_WARMTH = 100.0, 30.0
"""Where savings end, in mean edges and in temperatures: far beyond what policies have seen, their scores
might say anything, and requests that cannot move would be tried again and again."""
FARTHEST = 1e4
"""Where lengths and detours end, in mean edges: an arc that means "never" is no number for a feature."""


@njit(cache=True, error_model="numpy")
def views(current, best, scale, stagnation, size, progress, budget, timed, out):  # type: ignore[no-untyped-def]
    """What the policy sees of the whole, (VIEWS,); ``budget`` are steps for each request."""
    out[0] = min((current - best) / (4.0 * scale), MOST)
    out[1] = min(stagnation / (2.0 * size), MOST)
    out[2] = progress
    out[3] = (math.log2(budget) - 7.0) / 4.0
    out[4] = 1.0 if timed else 0.0


@njit(cache=True, error_model="numpy")
def temperature_of(theta, seen, scale):  # type: ignore[no-untyped-def]
    """The temperature, in the units of the costs."""
    heat = HOT + theta[_RANGE] + (COLD - HOT + theta[_RANGE + 1]) * seen[2]
    for h in range(HEAT):
        z = theta[_HEAT_BIAS + h]
        for view in range(VIEWS):
            z += theta[_HEAT_VIEWS + h * VIEWS + view] * seen[view]
        heat += theta[_HEAT_OUT + h] * (z / (1.0 + abs(z)))
    return scale * math.exp(min(max(heat, -12.0), 6.0))


@njit(**BORROWING)
def factor(parameter):  # type: ignore[no-untyped-def]
    """By how much a temperature is to be multiplied."""
    return math.exp(min(max(parameter, -10.0), 10.0))


@njit(**BORROWING)
def _weights(theta, begin):  # type: ignore[no-untyped-def]
    """FEATURES parameters in single precision, as numbers: a step makes no arrays."""
    return (
        np.float32(theta[begin]),
        np.float32(theta[begin + 1]),
        np.float32(theta[begin + 2]),
        np.float32(theta[begin + 3]),
        np.float32(theta[begin + 4]),
        np.float32(theta[begin + 5]),
        np.float32(theta[begin + 6]),
        np.float32(theta[begin + 7]),
    )


@njit(**BORROWING)
def removal_scores(theta, seen, features, n, scores):  # type: ignore[no-untyped-def]
    """Logits (n,) of taking each request out, from ``features`` (SEEN, n); a vector loop a unit."""
    f0, f1, f2, f3 = features[0], features[1], features[2], features[3]
    f4, f5, f6, f7 = features[4], features[5], features[6], features[7]
    f8, f9 = features[8], features[9]
    w0, w1, w2, w3, w4, w5, w6, w7 = _weights(theta, _LINEAR)
    w8, w9 = np.float32(theta[_OUTLOOK]), np.float32(theta[_OUTLOOK + 1])
    for r in range(n):
        scores[r] = (
            (w0 * f0[r] + w1 * f1[r])
            + (w2 * f2[r] + w3 * f3[r])
            + (w4 * f4[r] + w5 * f5[r])
            + (w6 * f6[r] + w7 * f7[r])
            + (w8 * f8[r] + w9 * f9[r])
        )
    zero = np.float32(0.0)
    for h in range(HIDDEN):
        shift = theta[_REMOVAL_BIAS + h]
        for view in range(VIEWS):
            shift += theta[_REMOVAL_VIEWS + h * VIEWS + view] * seen[view]
        bias, out = np.float32(shift), np.float32(theta[_REMOVAL_OUT + h])
        w0, w1, w2, w3, w4, w5, w6, w7 = _weights(theta, _FEATURES + h * FEATURES)
        more = _OUTLOOK + (1 + h) * OUTLOOK
        w8, w9 = np.float32(theta[more]), np.float32(theta[more + 1])
        for r in range(n):
            z = (
                bias
                + ((w0 * f0[r] + w1 * f1[r]) + (w2 * f2[r] + w3 * f3[r]))
                + ((w4 * f4[r] + w5 * f5[r]) + (w6 * f6[r] + w7 * f7[r]))
                + (w8 * f8[r] + w9 * f9[r])
            )
            scores[r] += out * max(z, zero)


@njit(cache=True, error_model="numpy")
def looks_around(theta):  # type: ignore[no-untyped-def]
    """Whether the policy weighs what requests could save elsewhere."""
    weights = theta[_OUTLOOK : _OUTLOOK + (1 + HIDDEN) * OUTLOOK]
    return np.any(weights != 0.0)


@njit(**BORROWING)
def tell_outlook(changes, n, scale, temperature, features):  # type: ignore[no-untyped-def]
    """Fill the features of the least ``changes`` (n,) in cost: savings in edges and in temperatures."""
    for r in range(n):
        saving = -changes[r]
        far = min(max(saving / scale, -MOST_SAVING), MOST_SAVING)
        warm = min(max(saving / temperature, -MOST_WARMTH), MOST_WARMTH)
        features[FEATURES, r], features[FEATURES + 1, r] = np.float32(far), np.float32(warm)


@njit(cache=True, error_model="numpy")
def builds(theta):  # type: ignore[no-untyped-def]
    """Whether the policy builds a tour of its own before it searches."""
    return np.any(theta[_BUILD : _BUILD + 4] != 0.0)


@njit(cache=True, error_model="numpy")
def building_temperature(theta, scale):  # type: ignore[no-untyped-def]
    """Of the heat bath while the tour is built, in the units of the costs."""
    return scale * factor(theta[_BUILD])


@njit(cache=True, error_model="numpy")
def rebuilt_share(theta):  # type: ignore[no-untyped-def]
    """Of the requests: how many a round builds anew, behind the first, which builds the whole tour."""
    return min(1.0, factor(theta[_BUILD + 3]))


@njit(cache=True, error_model="numpy")
def rounds_of(theta, budget):  # type: ignore[no-untyped-def]
    """Into how many rounds a budget is divided, given in steps for each request.

    (budget / usual)^power, both learned; a round has time to build and, on average, to search as long.
    """
    usual, power = factor(theta[_BUILD + 1]), theta[_BUILD + 2]
    share = rebuilt_share(theta)
    most = min(0.5 * (budget - 1.0 + share) / share, 1e9)
    return max(1, int(min(math.exp(power * math.log(budget / usual)), most)))


@njit(cache=True, error_model="numpy")
def pass_over(scores, times, last, n):  # type: ignore[no-untyped-def]
    """Push what was taken out in the ``last`` step far below all other scores, in its own order."""
    high, low = scores[0], scores[0]
    for r in range(1, n):
        high, low = max(high, scores[r]), min(low, scores[r])
    far = np.float32(50.0) + (high - low)
    for r in range(n):
        if times[r] == last:
            scores[r] -= far


@njit(cache=True, error_model="numpy")
def draw_request(scores, n, weights, uniform):  # type: ignore[no-untyped-def]
    """A request from the softmax of (n,) scores; ``weights`` (n,) is scratch.

    What rounding leaves of the target, some 1e-7 of it, falls to the last one.
    """
    high = scores[0]
    for r in range(1, n):
        high = max(high, scores[r])
    exponentials(scores, n, high, weights)
    everything = np.float32(0.0)
    for r in range(n):
        everything += weights[r]
    target = uniform * everything
    chosen = 0
    for r in range(n):
        chosen = r
        target -= weights[r]
        if target < 0.0:
            break
    return chosen + 1


@njit(cache=True, error_model="numpy")
def count_chances(theta, seen, chances):  # type: ignore[no-untyped-def]
    """Running probabilities (classes of LARGEST,) of how many requests go out."""
    total = 0.0
    for level in range(LEVELS):
        logit = theta[_COUNT_BIAS + level] + (ONE if level == 0 else -1.0 * level)
        for view in range(VIEWS):
            logit += theta[_COUNT_VIEWS + level * VIEWS + view] * seen[view]
        total += math.exp(min(max(logit, -40.0), 40.0))
        chances[level] = total
    for level in range(LEVELS):
        chances[level] /= total


@njit(**BORROWING)
def draw_count(chances, n, state):  # type: ignore[no-untyped-def]
    """How many of ``n`` requests go out, by the running probabilities of the classes."""
    u = next_uniform(state)
    level = 0
    while level < LEVELS - 1 and u >= chances[level]:
        level += 1
    least = 1 if level == 0 else 1 + _LARGEST[level - 1]
    return min(n, least + next_below(state, _LARGEST[level] - least + 1))


@njit(cache=True, error_model="numpy")
def way_chances(theta, chances):  # type: ignore[no-untyped-def]
    """Running probabilities (WAYS,) of how related requests are chosen."""
    total = 0.0
    for way in range(WAYS):
        total += math.exp(min(max(theta[_WAYS + way], -40.0), 40.0))
        chances[way] = total
    for way in range(WAYS):
        chances[way] /= total


@njit(cache=True, error_model="numpy")
def block_chance(theta, seen):  # type: ignore[no-untyped-def]
    """Probability that a step moves a block (LIFO) or a stretch."""
    return _chance(theta, _BLOCKS, RARE, seen)


@njit(cache=True, error_model="numpy")
def return_chance(theta, seen):  # type: ignore[no-untyped-def]
    """Probability that a step begins with the best tour, if the current one is longer."""
    return _chance(theta, _RETURN, RARER, seen)


@njit(cache=True, error_model="numpy")
def _chance(theta, begin, usual, seen):  # type: ignore[no-untyped-def]
    """A probability whose logit is linear in the views."""
    logit = usual + theta[begin]
    for view in range(VIEWS):
        logit += theta[begin + 1 + view] * seen[view]
    return 1.0 / (1.0 + math.exp(min(max(-logit, -40.0), 40.0)))


@njit(**BORROWING)
def draw_stretch(variant, place, size, state):  # type: ignore[no-untyped-def]
    """(first, last) position of what moves: the block of any request, or some stops from anywhere on.

    How many these are is drawn evenly in the logarithm.
    """
    n = size // 2
    if variant == LIFO:
        request = 1 + next_below(state, n)
        return place[request], place[request + n]
    first = 1 + next_below(state, size - 1)
    length = int(2.0 ** (LONGEST * next_uniform(state)))
    return first, min(first + length, size) - 1

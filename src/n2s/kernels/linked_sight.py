"""What the native policy sees of the requests of a linked tour: those of a sample, when it asks.

``native_chain`` keeps eight features of every request up to date, which takes time of the whole tour.
Here a step draws ``SAMPLE`` requests, works out their features and takes one of these by the policy's
softmax; with no more requests than that, all are seen and the draw is the policy's own. Ages are
differences of step numbers, and a trace fades when it is looked at.

The two features that a linked list cannot tell, the share of the tour between the stops of a request and
the depth of the load, are those of the last look along the tour, one every N steps; a request
that has moved since counts as its new neighbours do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.arithmetic import quick_exp
from n2s.kernels.legs import BORROWING, INLINE, leg
from n2s.kernels.native_decisions import (
    FARTHEST,
    OLDEST,
    SEEN,
    draw_request,
    pass_over,
    removal_scores,
)
from n2s.kernels.random import next_below, next_uniform

SAMPLE = 128
"""Requests that are looked at before one is taken out; fewer end in longer tours (docs/native.md)."""


class Memory(NamedTuple):
    """What a chain remembers of its requests, each (n,), and of itself."""

    times: NDArray[np.int64]
    """The step at which each was last taken out."""
    traces: NDArray[np.float32]
    """How often lately, ..."""
    stamps: NDArray[np.int64]
    """... as of which round of fading."""
    counters: NDArray[np.int64]
    """(3,) steps made, steps without improvement, rounds of fading."""


class Sight(NamedTuple):
    """The tour at the last look, by node, and the sample."""

    place: NDArray[np.int64]
    load: NDArray[np.int64]
    """How many requests are on board behind each node."""
    sample: NDArray[np.int64]
    features: NDArray[np.float32]
    times: NDArray[np.int64]
    scores: NDArray[np.float32]
    weights: NDArray[np.float32]


@njit(cache=True)
def new_sight(size):  # type: ignore[no-untyped-def]
    """Room for tours of ``size`` nodes."""
    return Sight(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(SAMPLE, np.int64),
        np.zeros((SEEN, SAMPLE), np.float32),
        np.zeros(SAMPLE, np.int64),
        np.zeros(SAMPLE, np.float32),
        np.zeros(SAMPLE, np.float32),
    )


@njit(**BORROWING)
def look_along(links, sight):  # type: ignore[no-untyped-def]
    """Note where every stop is and what is on board there."""
    n = len(links.succ) // 2
    node, position, load = links.succ[0], 1, 0
    while node != 0:
        load += 1 if node <= n else -1
        sight.place[node] = position
        sight.load[node] = load
        position += 1
        node = links.succ[node]


@njit(**INLINE)
def settle(links, sight, node, more):  # type: ignore[no-untyped-def]
    """Note where a stop has gone by what is known of the one before it; ``more`` come on board."""
    before = links.pred[node]
    sight.place[node] = sight.place[before] + 1
    sight.load[node] = sight.load[before] + more


@njit(**BORROWING)
def draw_sample(n, sample, state):  # type: ignore[no-untyped-def]
    """Fill the sample with different requests, each as likely as any other; how many.

    One from each of as many equal parts of the circle of requests, which begins anywhere.
    """
    if n <= SAMPLE:
        for index in range(n):
            sample[index] = 1 + index
        return n
    begin, shift = 0, next_below(state, n)
    for index in range(SAMPLE):
        end = (index + 1) * n // SAMPLE
        at = shift + begin + next_below(state, end - begin)
        sample[index] = 1 + (at if at < n else at - n)
        begin = end
    return SAMPLE


@njit(**INLINE)
def faded(memory, request, log_fade):  # type: ignore[no-untyped-def]
    """The trace of a request by now."""
    rounds = memory.counters[2] - memory.stamps[request - 1]
    return memory.traces[request - 1] * quick_exp(np.float32(rounds * log_fade))


@njit(**BORROWING)
def remember(memory, request, log_fade):  # type: ignore[no-untyped-def]
    """Note that a request is taken out in this step."""
    memory.traces[request - 1] = faded(memory, request, log_fade) + np.float32(0.5)
    memory.stamps[request - 1] = memory.counters[2]
    memory.times[request - 1] = memory.counters[0]


@njit(**INLINE)
def _detour(links, legs, node, scale):  # type: ignore[no-untyped-def]
    before = links.pred[node]
    extra = links.arc[before] + links.arc[node] - leg(legs, before, links.succ[node])
    return min(max(extra / scale, -FARTHEST), FARTHEST)


@njit(**BORROWING)
def look_at_sample(links, legs, scale, memory, sight, count):  # type: ignore[no-untyped-def]
    """Fill in the features of the sampled requests (``native_chain.look``)."""
    size = len(links.succ)
    n = size // 2
    log_fade = math.log(1.0 - 0.5 / n)
    features = sight.features
    for index in range(count):
        request = sight.sample[index]
        pickup, delivery = np.uint32(request), np.uint32(request + n)
        age = min((memory.counters[0] - memory.times[request - 1]) / n, OLDEST)
        features[0, index] = _detour(links, legs, pickup, scale)
        features[1, index] = _detour(links, legs, delivery, scale)
        features[2, index] = age
        features[3, index] = 1.0 / (1.0 + 4.0 * age)
        features[4, index] = faded(memory, request, log_fade)
        features[5, index] = min(0.2 * leg(legs, pickup, delivery) / scale, FARTHEST)
        features[6, index] = max(sight.place[delivery] - sight.place[pickup], 1) / size
        features[7, index] = 0.2 * max(sight.load[pickup] - 1, 0)
        sight.times[index] = memory.times[request - 1]


@njit(**BORROWING)
def pick_request(links, legs, theta, seen, scale, memory, sight, alone, state):  # type: ignore[no-untyped-def]
    """The request to take out; one to be ``alone`` is not taken out twice in a row."""
    n = len(links.succ) // 2
    count = draw_sample(n, sight.sample, state)
    look_at_sample(links, legs, scale, memory, sight, count)
    removal_scores(theta, seen, sight.features, count, sight.scores)
    if alone and n > 1:
        pass_over(sight.scores, sight.times, memory.counters[0] - 1, count)
    chosen = draw_request(sight.scores, count, sight.weights, next_uniform(state))
    return sight.sample[chosen - 1]

"""Choosing related requests to take out of a tour: strings around a place, a stretch, similar requests.

All of them start from a seed node, mark requests in ``gone`` (n + 1,) and list them in ``out``, until
``count`` are listed; they return how many are.
"""

from __future__ import annotations

from numba import njit

from n2s.kernels.random import next_below, next_uniform

LONGEST_STRING = 4
SKIP = 0.2
"""Share of candidates passed over, so that the same seed does not always take the same requests."""


@njit(cache=True, inline="always")
def mark(node, n, gone, out, listed):  # type: ignore[no-untyped-def]
    """List the request of a node unless it is listed already (the depot never is)."""
    request = node if node <= n else node - n
    if gone[request] == 0:
        gone[request] = 1
        out[listed] = request
        listed += 1
    return listed


@njit(cache=True)
def ruin_strings(tour, place, near, seed, count, n, gone, out, listed, state):  # type: ignore[no-untyped-def]
    """Short strings of the tour through the neighbours of the seed, nearest first."""
    size = len(tour)
    for rank in range(near.shape[1]):
        if listed >= count:
            break
        node = near[seed, rank]
        request = node if node <= n else node - n
        if gone[request] == 1 or next_uniform(state) < SKIP:
            continue
        length = 1 + next_below(state, LONGEST_STRING)
        first = place[node] - next_below(state, length)
        for position in range(max(1, first), min(size, first + length)):
            if listed < count:
                listed = mark(tour[position], n, gone, out, listed)
    return listed


@njit(cache=True)
def ruin_stretch(tour, place, seed, count, n, gone, out, listed):  # type: ignore[no-untyped-def]
    """The requests met along the tour from the seed on."""
    for position in range(place[seed], len(tour)):
        if listed >= count:
            break
        listed = mark(tour[position], n, gone, out, listed)
    return listed


@njit(cache=True)
def ruin_similar(alike, seed, count, n, gone, out, listed, state):  # type: ignore[no-untyped-def]
    """The requests whose pickup and delivery lie near those of the seed's, ``alike`` (n + 1, L)."""
    request = seed if seed <= n else seed - n
    for rank in range(alike.shape[1]):
        if listed >= count:
            break
        if next_uniform(state) >= SKIP:
            listed = mark(alike[request, rank], n, gone, out, listed)
    return listed

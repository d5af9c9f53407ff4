"""Random numbers inside kernels: a counter and a mixer (splitmix64), reproducible on every thread count."""

from __future__ import annotations

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


@njit(cache=True, inline="always")
def next_bits(state):  # type: ignore[no-untyped-def]
    """64 random bits; ``state`` (1,) uint64 advances. Any start value serves as a seed."""
    state[0] += _STEP
    z = state[0]
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@njit(cache=True, inline="always")
def next_uniform(state):  # type: ignore[no-untyped-def]
    """A number in [0, 1)."""
    return (next_bits(state) >> _11) * _UNIT


@njit(cache=True, inline="always")
def next_below(state, bound):  # type: ignore[no-untyped-def]
    """A whole number in [0, bound)."""
    return int(next_uniform(state) * bound)

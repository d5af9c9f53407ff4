"""Cyclic positional encoding: Eq. (2) to (4) of the paper, and the pattern of the released code.

In tour order the encoding of a tour is one constant table per N: row i belongs to position i.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from n2s.model.config import Position
from n2s.problem.distance import FloatArray


@lru_cache(maxsize=64)
def positional_table(size: int, width: int, rule: Position) -> torch.Tensor:
    """(N, D) float32 table of g_i; built once per N and kept."""
    table = _paper(size, width) if rule is Position.PAPER else _released(size, width)
    return torch.from_numpy(table.astype(np.float32))


def _wave(z: FloatArray, period: FloatArray, odd: FloatArray, phase: FloatArray) -> FloatArray:
    """Eq. (2): sine (even d) or cosine (odd d) of a triangular wave, so that the ends meet."""
    angle = 2 * np.pi / period * np.abs(np.mod(z, 2 * period) - period) + phase
    return np.where(odd, np.cos(angle), np.sin(angle))


def _paper(size: int, width: int) -> FloatArray:
    d = np.arange(width)
    shortest = size ** (1 / (width // 2))
    # Eq. (4): periods grow with d in steps of three dimensions; the upper half has period N.
    period = np.where(
        d < width // 2, (3 * (d // 3) + 1) / width * (size - shortest) + shortest, float(size)
    )
    i = np.arange(size)[:, None]
    z = i / size * period * np.ceil(size / period)  # Eq. (3)
    return _wave(z, period, d % 2 == 1, np.zeros(width))


def _sampled(size: int, period: float) -> FloatArray:
    """z(i) as the released code takes it: from a grid of 0.01, whose rounding its weights have seen."""
    grid = np.arange(0, np.ceil(size / period) * period + 0.01, 0.01)
    index = np.linspace(0, len(grid) - 1, size + 1, dtype=np.int64)[:size]
    return grid[index]


def _released(size: int, width: int) -> FloatArray:
    """Whole-number periods, a phase in the upper half, a mean over five neighbours, centred."""
    half = width // 2
    periods = np.linspace(size ** (1 / half), size, half).astype(np.int64)
    d = np.arange(width)
    chosen = d // 3 * 3 + 1
    period = np.minimum(periods[np.minimum(chosen, half - 1)], size).astype(np.float64)
    phase = np.where(d <= half, 0.0, 2 * np.pi * (half - d) / half)
    z = np.stack([_sampled(size, float(t)) for t in period], axis=1)  # (N, D)
    pattern = _wave(z, period, d % 2 == 1, phase)
    shifted = [np.roll(pattern, shift, axis=0) for shift in (-2, -1, 0, 1, 2)]
    return np.mean(shifted, axis=0) - pattern.mean(0)

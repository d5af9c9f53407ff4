"""Training instances of many shapes, made on the fly."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from n2s.evolve.config import Shape
from n2s.problem import Instance, Variant
from n2s.problem.distance import FloatArray
from n2s.problem.generate import Distribution, coordinates

GRID = 14
"""Crossings on a side of a street grid."""
TOWNS = 8
"""Street grids that places are drawn from."""


def draw_instance(
    shape: Shape, size: int, variant: Variant, generator: np.random.Generator
) -> Instance:
    """One random instance of N nodes."""
    if shape is Shape.ROAD:
        town = streets(int(generator.integers(TOWNS)))
        places = generator.integers(len(town), size=size)
        return Instance(matrix=town[np.ix_(places, places)], variant=variant)
    if shape is Shape.LINE:
        along = generator.random((size, 1))
        points = np.hstack([along, 0.5 + 0.02 * generator.normal(size=(size, 1))])
    else:
        points = coordinates(Distribution(shape.value), 1, size, generator)[0]
    return Instance(coordinates=points, variant=variant)


@lru_cache(maxsize=TOWNS)
def streets(seed: int) -> FloatArray:
    """Travel times between all crossings of a street grid: some streets slow, some one way."""
    generator = np.random.default_rng([seed, 14])
    count = GRID * GRID
    times = np.full((count, count), np.inf)
    np.fill_diagonal(times, 0.0)
    for crossing in range(count):
        row, column = divmod(crossing, GRID)
        for other in (crossing + 1 if column + 1 < GRID else -1, crossing + GRID):
            if other < 0 or other >= count:
                continue
            time = generator.uniform(0.7, 1.5) * (3.0 if generator.random() < 0.2 else 1.0)
            times[crossing, other] = times[other, crossing] = time
            # A ring of two-way streets keeps every crossing within reach.
            inner = 0 < row < GRID - 1 and 0 < column < GRID - 1
            if inner and generator.random() < 0.2:
                ends = (crossing, other) if generator.random() < 0.5 else (other, crossing)
                times[ends] = 4.0 * time  # the way around the block
    for middle in range(count):  # Floyd and Warshall
        np.minimum(times, times[:, middle, None] + times[None, middle, :], out=times)
    return times

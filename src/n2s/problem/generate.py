"""Random instances: uniform as in the paper, clustered, and half of each."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from n2s.errors import InputError
from n2s.problem.distance import FloatArray
from n2s.problem.instance import Instance
from n2s.problem.variant import Variant

CLUSTER_SPREAD = 0.05
LARGEST = 10**9  # coordinates: eight gigabytes


class Distribution(StrEnum):
    """Where the nodes of a random instance lie in the unit square."""

    UNIFORM = "uniform"
    CLUSTERED = "clustered"
    """Normal around 3 to 8 centres; pickup and delivery of a request in clusters of their own."""
    MIXED = "mixed"
    """Half of the nodes uniform, half of them clustered."""


def generate(
    requests: int,
    count: int = 1,
    seed: int = 0,
    variant: Variant = Variant.PDTSP,
    distribution: Distribution = Distribution.UNIFORM,
) -> list[Instance]:
    """``count`` random instances of N = 2 * requests + 1 nodes in the unit square.

    The uniform ones are ``numpy.random.default_rng(seed).random((count, N, 2))``: node 0 the depot,
    1..n the pickups, n+i the delivery of i.
    """
    if requests < 1:
        raise InputError(f"an instance needs at least 1 request, not {requests}")
    if count < 1:
        raise InputError(f"the number of instances must be at least 1, not {count}")
    if seed < 0:
        raise InputError(f"the seed must not be negative, not {seed}")
    size = 2 * requests + 1
    if 2 * count * size > LARGEST:
        raise InputError(
            f"{count} instances of {size} nodes are more than {LARGEST:,} coordinates at once"
        )
    points = coordinates(distribution, count, size, np.random.default_rng(seed))
    ids = tuple(range(size))
    digits = len(str(count - 1))
    return [
        Instance(
            coordinates=points[index],
            variant=variant,
            ids=ids,
            name=f"{distribution}-{size}-{seed}-{index:0{digits}d}",
        )
        for index in range(count)
    ]


def coordinates(
    distribution: Distribution, count: int, size: int, rng: np.random.Generator
) -> FloatArray:
    """(count, size, 2) points in the unit square."""
    if distribution is Distribution.UNIFORM:
        return rng.random((count, size, 2))
    points = np.stack([_clustered(size, rng) for _ in range(count)])
    if distribution is Distribution.MIXED:
        scattered = rng.random((count, size)) < 0.5
        points[scattered] = rng.random((int(scattered.sum()), 2))
    return points


def _clustered(size: int, rng: np.random.Generator) -> FloatArray:
    centres = rng.uniform(0.1, 0.9, (int(rng.integers(3, 9)), 2))
    points = rng.normal(centres[rng.integers(len(centres), size=size)], CLUSTER_SPREAD)
    # Folding back at the border keeps the density; clipping would pile points onto the edges.
    return 1.0 - np.abs(1.0 - np.abs(points))

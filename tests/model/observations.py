"""Observations for tests: random instances, tours and histories."""

from __future__ import annotations

import numpy as np
import torch

from n2s.model import History, Observation, Policy, PolicyConfig, Progress
from n2s.problem import Instance, Variant, random_tours

SIZES = [
    (1, 1),
    (2, 1),
    (7, 1),
    (1, 2),
    (2, 2),
    (7, 2),
    (1, 5),
    (2, 5),
    (7, 5),
    (1, 25),
    (2, 25),
    (7, 25),
]


def observe(
    batch: int,
    n: int,
    variant: Variant,
    seed: int = 0,
    matrix: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Observation:
    """B searches after four random removals; with ``matrix`` the costs are asymmetric."""
    rng = np.random.default_rng([seed, batch, n])
    points = rng.random((batch, 2 * n + 1, 2))
    if matrix:
        costs = rng.random((batch, 2 * n + 1, 2 * n + 1))
    else:
        costs = np.stack([Instance(coordinates=p).costs for p in points])
    history = History(batch, n, n)
    for _ in range(4):
        history.push(rng.integers(1, n + 1, batch))
    return Observation(
        variant=variant.code,
        points=torch.tensor(points, dtype=dtype),
        tours=random_tours(n, variant, batch, rng),
        frequency=history.frequency,
        recent=history.recent,
        best=torch.tensor(rng.random(batch) * 10, dtype=torch.float32),
        costs=costs,
        progress=Progress(
            age=history.age,
            trace=history.trace,
            above=torch.tensor(rng.random(batch) / 5),
            stalled=torch.tensor(rng.integers(0, 4 * n, batch).astype(float)),
            edge=torch.tensor(0.1 + rng.random(batch) / 5),
            used=torch.tensor(rng.random(batch)),
            total=torch.tensor(rng.integers(100, 3000, batch).astype(float)),
            settled=torch.ones(batch, n, dtype=torch.bool),
        ),
    )


def policy_of(seed: int = 0, **fields: object) -> Policy:
    """A small policy with weights from a seed."""
    torch.manual_seed(seed)
    return Policy(PolicyConfig(**{"width": 16, **fields}))  # type: ignore[arg-type]


def uniforms(batch: int, seed: int = 0) -> torch.Tensor:
    """(B, 2) numbers for ``act``."""
    return torch.rand(batch, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))

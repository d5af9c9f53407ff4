"""Instances on the fly, and the tours that episodes begin with."""

from __future__ import annotations

import numpy as np
import torch

from n2s import kernels
from n2s.problem import Metric, Rounding, Variant, random_tours
from n2s.problem.distance import FloatArray, distances
from n2s.problem.generate import coordinates
from n2s.problem.instance import IntArray
from n2s.search.loop import Decider
from n2s.search.state import SearchState
from n2s.train.config import Data, Starts
from n2s.train.rollout import on_device

HOT, COLD = 0.5, 0.05
"""First and last temperature of annealed tours, in mean edges of a good tour."""


def draw_points(data: Data, index: int, generator: np.random.Generator) -> FloatArray:
    """(B, N, 2) a new batch of instances of the size with this index."""
    return coordinates(data.distribution, data.batch[index], data.sizes[index], generator)


def plane_costs(points: FloatArray) -> FloatArray:
    """(B, N, N) distances between (B, N, 2) points."""
    return distances(points[:, :, None], points[:, None], Metric.EUCLIDEAN, Rounding.NONE)


def search_state(variant: Variant, points: FloatArray, tours: IntArray) -> SearchState:
    """Searches as training runs them: one tour an instance, K = N."""
    ones = np.ones(len(points))
    return SearchState(variant, points, plane_costs(points), ones, tours, window=points.shape[1])


def start_tours(
    variant: Variant,
    points: FloatArray,
    starts: Starts,
    improvement: int,
    decider: Decider,
    generator: np.random.Generator,
    device: torch.device,
) -> IntArray:
    """(B, N) tours: the first share random, the next improved by the policy, the last annealed."""
    batch, size, _ = points.shape
    tours = random_tours(size // 2, variant, batch, generator)
    first = round(starts.random * batch)
    second = round((starts.random + starts.policy) * batch)
    if first < second and improvement:
        part = slice(first, second)
        tours[part] = _improved(
            search_state(variant, points[part], tours[part]),
            improvement,
            decider,
            generator,
            device,
        )
    if second < batch:
        part = slice(second, batch)
        most = starts.sweeps * (size // 2)
        steps = generator.integers(0, most + 1, batch - second)
        tours[part] = annealed(variant, plane_costs(points[part]), tours[part], steps, generator)
    return tours


def _improved(
    state: SearchState,
    steps: int,
    decider: Decider,
    generator: np.random.Generator,
    device: torch.device,
) -> IntArray:
    """Where the policy stands after some steps: the current tours, the best may lie behind."""
    for _ in range(steps):
        uniforms = torch.from_numpy(generator.random((len(state.tours), 2)))
        state.apply(decider.act(on_device(state.observe(), device), uniforms))
    return state.tours


def annealed(
    variant: Variant,
    costs: FloatArray,
    tours: IntArray,
    steps: IntArray,
    generator: np.random.Generator,
) -> IntArray:
    """(B, N) tours after some native heat-bath steps each, the temperature falling."""
    # In a unit square a good tour's mean edge is about 0.7 / sqrt(N).
    edge = np.full(len(tours), 0.7 / np.sqrt(tours.shape[1]))
    seeds = generator.integers(0, 2**63, len(tours)).astype(np.uint64)
    result: IntArray = kernels.anneal_tours(
        variant.code, costs, tours, steps, HOT * edge, COLD * edge, seeds
    )
    return result

"""Instances on the fly, and the tours that episodes begin with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Budget:
    """The searches that episodes pretend to be parts of."""

    total: FloatArray
    """(B,) steps of each."""
    used: FloatArray
    """(B,) the share of them that is behind when the episode begins."""
    given: NDArray[np.bool_]
    """(B,) whether the tour is worth something: improved or annealed, not random."""


def draw_points(data: Data, index: int, generator: np.random.Generator) -> FloatArray:
    """(B, N, 2) a new batch of instances of the size with this index."""
    return coordinates(data.distribution, data.batch[index], data.sizes[index], generator)


def plane_costs(points: FloatArray) -> FloatArray:
    """(B, N, N) distances between (B, N, 2) points."""
    return distances(points[:, :, None], points[:, None], Metric.EUCLIDEAN, Rounding.NONE)


def search_state(
    variant: Variant, points: FloatArray, tours: IntArray, budget: Budget | None = None
) -> SearchState:
    """Searches as training runs them: one tour an instance, K = N."""
    ones = np.ones(len(points))
    state = SearchState(variant, points, plane_costs(points), ones, tours, window=points.shape[1])
    if budget is not None:
        state.used, state.total = budget.used.copy(), budget.total.copy()
        state.given[:] = budget.given[:, None]
    return state


def start_tours(
    variant: Variant,
    points: FloatArray,
    starts: Starts,
    improvement: int,
    episode: int,
    decider: Decider,
    generator: np.random.Generator,
    device: torch.device,
) -> tuple[IntArray, Budget]:
    """(B, N) tours: the first share random, the next improved by the policy, the last annealed.

    The first two are beginnings of searches; an annealed tour stands somewhere on the way, ``episode``
    steps or more before the end.
    """
    batch, size, _ = points.shape
    tours = random_tours(size // 2, variant, batch, generator)
    least, most = np.log(starts.horizon)
    budget = Budget(
        np.exp(generator.uniform(least, most, batch)), np.zeros(batch), np.zeros(batch, bool)
    )
    first = round(starts.random * batch)
    second = round((starts.random + starts.policy) * batch)
    # A search is never shorter than what is made of it.
    np.maximum(budget.total, episode, out=budget.total)
    part = slice(first, second)
    budget.total[part] = np.maximum(budget.total[part], improvement + episode)
    if first < second and improvement:
        fresh = Budget(budget.total[part], budget.used[part], budget.given[part])
        state = search_state(variant, points[part], tours[part], fresh)
        tours[part] = _improved(state, improvement, decider, generator, device)
        # Fewer steps than requests may have left a policy that builds with half a tour.
        budget.used[part], budget.given[part] = state.used, improvement >= size // 2
    if second < batch:
        part = slice(second, batch)
        # So that the episode ends with the search, or before: about one in four at its very end.
        room = np.maximum(0.0, 1.0 - episode / budget.total[part])
        budget.used[part] = room * np.minimum(1.3 * generator.random(batch - second), 1.0)
        steps = (budget.used[part] * budget.total[part]).astype(np.int64)
        budget.given[part] = True
        cold = HOT * (COLD / HOT) ** budget.used[part]
        costs = plane_costs(points[part])
        tours[part] = annealed(variant, costs, tours[part], steps, generator, cold)
    return tours, budget


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
    cold: FloatArray | float = COLD,
) -> IntArray:
    """(B, N) tours after some native heat-bath steps each, the temperature falling to ``cold``."""
    # In a unit square a good tour's mean edge is about 0.7 / sqrt(N).
    edge = np.full(len(tours), 0.7 / np.sqrt(tours.shape[1]))
    seeds = generator.integers(0, 2**63, len(tours)).astype(np.uint64)
    result: IntArray = kernels.anneal_tours(
        variant.code, costs, tours, steps, HOT * edge, cold * edge, seeds
    )
    return result

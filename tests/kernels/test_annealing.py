"""Annealing against the same steps made one by one with the tested kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
import pytest

import oracles
from n2s import kernels
from n2s.problem import Variant, random_tours

SIZES = pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 1), (7, 1), (2, 2), (7, 5), (6, 12)])
WORD = 2**64


def splitmix(seed: int) -> Iterator[float]:
    """Uniform numbers of splitmix64, in Python's whole numbers."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        yield ((z ^ (z >> 31)) >> 11) / 2**53


def problem(batch: int, n: int, variant: Variant, instances: int | None = None):
    """Costs, tours, steps, temperatures and seeds; asymmetric costs, steps from none to many."""
    rng = np.random.default_rng([batch, n])
    costs = rng.random((instances or batch, 2 * n + 1, 2 * n + 1))
    tours = random_tours(n, variant, batch, rng)
    steps = np.arange(batch) * 9  # the first tour gets none
    if batch == 1:
        steps[0] = 30
    hot = rng.uniform(0.1, 0.3, batch)
    seeds = rng.integers(0, 2**63, batch).astype(np.uint64) * np.uint64(2)
    return costs, tours, steps, hot, hot / 20, seeds


def twin(variant: Variant, cost, tour, steps: int, hot: float, cold: float, seed: int) -> list[int]:
    """One tour, step by step: draw a request, put it back by the heat bath, remember the best."""
    n = len(tour) // 2
    draw = splitmix(seed)
    best = tour
    for step in range(steps):
        temperature = hot * (cold / hot) ** (step / max(1, steps - 1))
        request = np.array([1 + int(next(draw) * n)])
        uniforms = np.array([[next(draw), next(draw)]])
        rest = kernels.remove_requests(tour[None], request)
        j, k, _ = kernels.heat_bath_reinsertion(
            variant.code, cost[None], rest, request, np.array([temperature]), uniforms
        )
        tour = np.array(oracles.reinserted(rest[0].tolist(), int(request[0]), int(j[0]), int(k[0])))
        if oracles.cost(cost, tour.tolist()) < oracles.cost(cost, best.tolist()):
            best = tour
    return best.tolist()


@SIZES
def test_every_tour_walks_as_if_made_step_by_step(batch: int, n: int, variant: Variant) -> None:
    costs, tours, steps, hot, cold, seeds = problem(batch, n, variant)
    before = tours.copy()
    found = kernels.anneal_tours(variant.code, costs, tours, steps, hot, cold, seeds)
    assert (tours == before).all()
    for b in range(batch):
        expected = twin(variant, costs[b], tours[b], steps[b], hot[b], cold[b], int(seeds[b]))
        assert found[b].tolist() == expected
        assert oracles.is_feasible(found[b].tolist(), n, variant)
        cost = oracles.cost(costs[b], found[b].tolist())
        assert cost <= oracles.cost(costs[b], tours[b].tolist()) + 1e-12


def test_tours_of_one_instance_share_its_costs(variant: Variant) -> None:
    costs, tours, steps, hot, cold, seeds = problem(6, 4, variant, instances=2)
    together = kernels.anneal_tours(variant.code, costs, tours, steps, hot, cold, seeds)
    apart = kernels.anneal_tours(
        variant.code, np.repeat(costs, 3, 0), tours, steps, hot, cold, seeds
    )
    assert (together == apart).all()


def test_the_number_of_threads_does_not_matter(variant: Variant) -> None:
    costs, tours, steps, hot, cold, seeds = problem(16, 6, variant)
    threads = numba.get_num_threads()
    found = []
    try:
        for count in {1, numba.config.NUMBA_NUM_THREADS}:
            numba.set_num_threads(count)
            found += [
                kernels.anneal_tours(variant.code, costs, tours, steps, hot, cold, seeds)
                for _ in range(2)
            ]
    finally:
        numba.set_num_threads(threads)
    assert all((again == found[0]).all() for again in found[1:])
    other = kernels.anneal_tours(variant.code, costs, tours, steps, hot, cold, seeds + np.uint64(1))
    assert (other != found[0]).any()


def test_more_steps_find_cheaper_tours(variant: Variant) -> None:
    """60 steps a request take a random tour of 12 requests to less than two thirds of its length."""
    rng = np.random.default_rng(5)
    points = rng.random((50, 25, 2))
    costs = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    tours = random_tours(12, variant, 50, rng)
    hot, seeds = np.full(50, 0.07), np.arange(50).astype(np.uint64)
    means = []
    for steps in (0, 60, 720):
        found = kernels.anneal_tours(
            variant.code, costs, tours, np.full(50, steps), hot, hot / 10, seeds
        )
        means.append(kernels.tour_costs(costs, found).mean())
    assert means[2] < means[1] < means[0]
    assert means[2] < 2 / 3 * means[0]

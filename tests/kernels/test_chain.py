"""The annealing chain: costs it claims, tours it leaves, chances it takes."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

import oracles
from n2s import kernels
from n2s.kernels.chain import pick_seed, run_chain, sort_requests, start_tour
from n2s.problem import Variant, random_tour

CASES = pytest.mark.parametrize(
    ("n", "symmetric"), list(itertools.product([1, 2, 5, 25], [True, False]))
)


class World(NamedTuple):
    """What a chain is given."""

    variant: int
    costs: np.ndarray
    reach: np.ndarray
    near: np.ndarray
    alike: np.ndarray
    cumulative: np.ndarray


def world(n: int, variant: Variant, symmetric: bool = False, guided: bool = False) -> World:
    rng = np.random.default_rng([n, symmetric, guided])
    points = rng.random((2 * n + 1, 2))
    costs = np.linalg.norm(points[:, None] - points[None], axis=-1)
    if not symmetric:
        costs = costs * rng.uniform(0.5, 1.5, costs.shape)
    reach = np.array(costs.T, order="C")
    if guided:
        reach[1:] += rng.normal(size=(2 * n, 2 * n + 1))
    both = costs + costs.T
    near = [[int(v) for v in np.argsort(row) if v not in (0, u)][:7] for u, row in enumerate(both)]
    alike = [[r for r in range(1, n + 1) if r != own][: n - 1] for own in range(1, n + 1)]
    cumulative = np.cumsum(rng.random(n)) if guided else np.empty(0)
    width = min(len(row) for row in near)
    for array in (costs, reach):
        array.setflags(write=False)  # as an instance's own are
    return World(
        variant.code,
        costs,
        reach,
        np.array([row[:width] for row in near]),
        np.array([[0] * (n - 1), *alike], np.int64).reshape(n + 1, n - 1),
        cumulative,
    )


class Chain:
    """A chain under way."""

    def __init__(self, world: World, tour: np.ndarray, seed: int) -> None:
        self.world = world
        self.tour, self.best_tour = tour.copy(), tour.copy()
        cost = oracles.cost(world.costs, tour.tolist())
        self.costs = np.array([cost, cost])
        self.state = np.array([seed], np.uint64)

    def run(
        self,
        iterations: int,
        temperature: float,
        cooling: float = 1.0,
        largest: int = 1,
        blocks: int = 0,
    ):
        return run_chain(
            *self.world,
            self.tour,
            self.best_tour,
            self.costs,
            self.state,
            iterations,
            temperature,
            cooling,
            largest,
            np.array([1 / 3, 2 / 3, 1.0]),
            4,
            blocks,
            False,
        )


@CASES
@pytest.mark.parametrize("guided", [False, True])
def test_tours_stay_feasible_and_costs_true(
    n: int, symmetric: bool, guided: bool, variant: Variant
) -> None:
    """Whatever a guide says about places, what is counted is the cost of the tour."""
    here = world(n, variant, symmetric, guided)
    tour = random_tour(n, variant, np.random.default_rng(n))
    chain = Chain(here, tour, seed=n)
    best = start = chain.costs[1]
    temperature = 0.5
    blocks = 1 if variant is Variant.LIFO else 0
    for iterations in (0, 1, 1, 2, 7, 50, 300):
        expected = temperature * 0.99**iterations
        temperature = chain.run(iterations, temperature, 0.99, min(n, 6), blocks)
        assert temperature == pytest.approx(expected, rel=1e-12)
        for claimed, route in zip(chain.costs, (chain.tour, chain.best_tour), strict=True):
            assert oracles.is_feasible(route.tolist(), n, variant)
            assert claimed == pytest.approx(oracles.cost(here.costs, route.tolist()), abs=1e-9)
        assert chain.costs[1] <= chain.costs[0]
        assert chain.costs[1] <= best
        best = chain.costs[1]
    if n == 25 and not guided:
        assert best < 0.7 * start


def test_the_state_alone_decides(variant: Variant) -> None:
    here = world(25, variant)
    tour = random_tour(25, variant, np.random.default_rng(1))
    first, again, other, split = (Chain(here, tour, seed) for seed in (3, 3, 4, 3))
    for chain in (first, again, other):
        chain.run(200, 0.3, largest=8)
    for iterations in (0, 1, 99, 100):
        split.run(iterations, 0.3, largest=8)
    assert first.tour.tolist() == again.tour.tolist() == split.tour.tolist()
    assert first.costs.tolist() == again.costs.tolist()
    assert first.costs == pytest.approx(split.costs, abs=1e-12)
    assert first.state == again.state == split.state
    assert first.tour.tolist() != other.tour.tolist()


def test_a_frozen_chain_takes_only_what_is_better(variant: Variant) -> None:
    here = world(25, variant)
    chain = Chain(here, random_tour(25, variant, np.random.default_rng(1)), seed=1)
    for _ in range(200):
        before = chain.costs[0], chain.tour.tolist()
        chain.run(1, 0.0, largest=5)
        assert chain.costs[0] < before[0] or chain.tour.tolist() == before[1]
        assert chain.costs[0] == chain.costs[1]


def test_worse_tours_are_taken_by_their_probability(variant: Variant) -> None:
    """The same state, very hot, shows what is proposed; at temperature T it is taken with exp(-d / T)."""
    here = world(25, variant)
    polished = Chain(here, random_tour(25, variant, np.random.default_rng(1)), seed=1)
    polished.run(3000, 0.0, largest=5)
    temperature = 0.2
    surplus = spread = 0.0
    for seed in range(3000):
        proposed, tried = (Chain(here, polished.tour, seed) for _ in range(2))
        proposed.run(1, 1e9, largest=5)
        tried.run(1, temperature, largest=5)
        change = proposed.costs[0] - polished.costs[0]
        if change > 1e-9:
            chance = math.exp(-change / temperature)
            taken = tried.tour.tolist() == proposed.tour.tolist()
            assert taken or tried.tour.tolist() == polished.tour.tolist()
            surplus += taken - chance
            spread += chance * (1 - chance)
    assert spread > 50  # there is something to measure
    assert abs(surplus) < 4.5 * math.sqrt(spread)


def test_a_guide_changes_where_requests_go(variant: Variant) -> None:
    """With a high price on every place but behind the depot, a lone request goes to the front."""
    n = 5
    here = world(n, variant)
    reach = here.reach.copy()
    reach[1 : n + 1, 1:] += 1e6
    reach.setflags(write=False)
    for seed in range(20):
        tour = random_tour(n, variant, np.random.default_rng(seed))
        chain = Chain(here._replace(reach=reach), tour, seed)
        chain.run(1, 1e9, largest=1)
        moved = int(chain.tour[1])
        assert moved <= n
        assert oracles.without(chain.tour.tolist(), moved) == oracles.without(tour.tolist(), moved)
        assert chain.costs[0] == pytest.approx(oracles.cost(here.costs, chain.tour.tolist()))


def test_seeds_follow_the_weights() -> None:
    weights = np.array([0.5, 0.0, 3.0, 1.0, 0.25])
    n, draws = len(weights), 40_000
    state = np.array([5], np.uint64)
    counts = np.zeros((2, n))
    for _ in range(draws):
        node = pick_seed(np.cumsum(weights), n, state)
        counts[(node - 1) // n, (node - 1) % n] += 1
    expected = np.tile(weights / weights.sum() * draws / 2, (2, 1))
    assert (counts[expected == 0] == 0).all()
    drawn = expected > 0
    # Chi-square with 7 degrees of freedom: above 29.9 once in 10,000 samples.
    assert ((counts - expected)[drawn] ** 2 / expected[drawn]).sum() < 29.9


def test_seeds_without_weights_are_all_alike() -> None:
    n, draws = 4, 40_000
    state = np.array([5], np.uint64)
    nodes = [pick_seed(np.empty(0), n, state) for _ in range(draws)]
    counts = np.bincount(nodes, minlength=2 * n + 1)
    assert counts[0] == 0
    assert ((counts[1:] - draws / 8) ** 2 / (draws / 8)).sum() < 29.9


def test_orders_in_which_requests_go_back() -> None:
    n = 6
    costs = np.random.default_rng(2).random((2 * n + 1, 2 * n + 1))
    requests = [5, 1, 3, 6]
    length = {r: costs[r, r + n] for r in requests}
    distance = {r: costs[0, r] + costs[r + n, 0] for r in requests}
    state = np.array([1], np.uint64)
    firsts: dict[int, set[int]] = {kind: set() for kind in range(4)}
    for kind in range(4):
        for _ in range(60):
            out = np.array([*requests, 2, 4])
            sort_requests(kind, costs, out, len(requests), n, np.empty(n), state)
            found = out[:4].tolist()
            assert sorted(found) == sorted(requests)
            assert out[4:].tolist() == [2, 4]
            if kind == 1:
                assert found == sorted(requests, key=length.__getitem__, reverse=True)
            if kind == 2:
                assert found == sorted(requests, key=distance.__getitem__, reverse=True)
            firsts[kind].add(found[0])
    assert firsts[0] == firsts[3] == set(requests)  # at random


@CASES
def test_a_first_tour_is_the_greedy_one(n: int, symmetric: bool, variant: Variant) -> None:
    here = world(n, variant, symmetric)
    rng = np.random.default_rng(n)
    for _ in range(5):
        order = rng.permutation(n) + 1
        greedy = kernels.greedy_tours(variant.code, here.costs[None], order[None])[0]
        assert start_tour(variant.code, here.costs, here.reach, order).tolist() == greedy.tolist()

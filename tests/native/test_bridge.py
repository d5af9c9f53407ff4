"""A network's scores in the native policy's steps: where they enter, and when they are asked for."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import oracles
from kernels.test_native_draw import assert_frequencies
from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.local import Landscape, Outset, Watch, landscape_of, search
from n2s.local.landscape import ShortTours
from n2s.model.scores import Scores
from n2s.native import NativeChain, NativePolicy, bridged_chains, native_chains, native_settings
from n2s.native.bridge import Bridge, BridgedChain, build
from n2s.problem import Variant, generate, random_tour
from n2s.problem.instance import IntArray

SCALE = 0.3


def policy_of(variant: Variant, *weights: float) -> NativePolicy:
    """Some policy that takes out one request a step, with weights of a bridge."""
    theta = np.random.default_rng(2).normal(0, 0.3, PARAMETERS)
    blocks = oracles.native_blocks(theta)
    blocks["count/views"][:], blocks["count/bias"][:] = 0.0, -80.0
    blocks["count/bias"][0] = 80.0
    blocks["blocks"][:] = [-80.0, 0, 0, 0, 0, 0, 0]
    blocks["places"][:] = 0.0
    blocks["outlook"][:] *= 0.1
    blocks["build"][:] = 0.0
    blocks["bridge"][:] = weights
    return NativePolicy(variant, theta)


def scores_of(tour: IntArray) -> Scores:
    """Some scores that differ from tour to tour."""
    n, size = len(tour) // 2, len(tour)
    rng = np.random.default_rng(tour)
    return Scores(rng.normal(size=n), rng.normal(size=(n, size)), rng.normal(size=(n, size)))


class Asked:
    """Remembers the tours that the network is asked about."""

    def __init__(self) -> None:
        self.tours: list[list[int]] = []

    def __call__(self, tour: IntArray) -> Scores:
        self.tours.append(tour.tolist())
        return scores_of(tour)


def land_of(n: int, variant: Variant) -> Landscape:
    return landscape_of(generate(n, seed=1, variant=variant)[0])


def outset(n: int, variant: Variant, seed: int = 5) -> Outset:
    return Outset(random_tour(n, variant, np.random.default_rng(1)), seed, SCALE, False, 640.0)


def state(chain: NativeChain) -> list[list[float]]:
    parts = (chain.tour, chain.best_tour, chain.costs, chain.times, chain.counters, chain.state)
    return [part.tolist() for part in parts]


def test_weights_of_zero_are_no_bridge(variant: Variant) -> None:
    """Bit for bit, also where the network is asked in between."""
    land, policy = land_of(12, variant), policy_of(variant, 0.0, 0.0, 0.0)
    plain = NativeChain(land, outset(12, variant), policy)
    bridged = BridgedChain(land, outset(12, variant), policy, build(land, scores_of, 7))
    for chain in (plain, bridged):
        chain.advance(300, 0.0, 1.0)
    assert state(bridged) == state(plain)
    one, other = (
        chain.best_after_work(200, 0.8, 1.0)
        for chain in (
            NativeChain(land, outset(12, variant), policy),
            BridgedChain(land, outset(12, variant), policy, build(land, scores_of, 7)),
        )
    )
    assert one == other


@pytest.mark.parametrize(
    "weights", [(1.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5), (-0.8, 0.4, 0.7)], ids=str
)
def test_steps_have_the_probabilities_of_scores_and_costs(
    weights: tuple[float, ...], variant: Variant
) -> None:
    """10,000 first steps, by chi-square, against the equations."""
    n = 3
    land, policy = land_of(n, variant), policy_of(variant, *weights)
    scores = scores_of(np.arange(7))
    bridge = Bridge(scores_of, scores, 10)
    counts: Counter[tuple[int, ...]] = Counter()
    # All cases share their seeds: with the first 10,000 three of them are just above the bound.
    for seed in range(10_000, 20_000):
        chain = BridgedChain(land, outset(n, variant, seed), policy, bridge)
        chain.advance(1, 0.25, 0.25)
        counts[tuple(chain.tour.tolist())] += 1
    nodes = outset(n, variant).tour.tolist()
    seen = np.array([0.0, 0.0, 0.25, (math.log2(640 / n) - 7) / 4, 0.0])
    temperature = oracles.native_temperature(policy.theta, seen, SCALE)
    local = oracles.native_features(land.legs, nodes, SCALE, 1, [-30] * n, [0.0] * n)
    around = oracles.outlook(land.legs, nodes, variant)  # of the costs: scores are no savings
    features = np.concatenate([local, oracles.native_outlook(around, SCALE, temperature)])
    logits = oracles.native_scores(policy.theta, seen, features) + weights[0] * scores.removal
    expected: Counter[tuple[int, ...]] = Counter()
    for request, share in enumerate(np.exp(logits) / np.exp(logits).sum(), 1):
        rest = oracles.without(nodes, request)
        changes = oracles.reinsertion_changes(land.legs, rest, request, variant)
        chances = {}
        for pair, change in changes.items():
            tour = tuple(oracles.reinserted(rest, request, *pair))
            before = [tour[tour.index(stop) - 1] for stop in (request, request + n)]
            change -= weights[1] * SCALE * scores.pickup[request - 1, before[0]]
            change -= weights[2] * SCALE * scores.delivery[request - 1, before[1]]
            chances[tour] = math.exp(-change / temperature)
        for tour, chance in chances.items():
            expected[tour] += share * chance / sum(chances.values())
    assert_frequencies(counts, expected)


def test_costs_stay_the_instances_own(variant: Variant) -> None:
    land = land_of(12, variant)
    chain = BridgedChain(
        land, outset(12, variant), policy_of(variant, 2.0, 3.0, 3.0), build(land, scores_of, 50)
    )
    for _ in range(10):
        chain.advance(40, 0.3, 0.5)
        for claimed, tour in zip(chain.costs, (chain.tour, chain.best_tour), strict=True):
            assert oracles.is_feasible(tour.tolist(), 12, variant)
            assert claimed == pytest.approx(oracles.cost(land.legs, tour.tolist()))


def test_the_network_is_asked_once_and_then_after_so_many_steps(variant: Variant) -> None:
    asked = Asked()
    land, policy = land_of(8, variant), policy_of(variant, 1.0, 1.0, 1.0)
    bridge = build(land, asked, 50)
    (first,) = asked.tours
    start = land.start(np.random.default_rng(0))
    assert oracles.is_feasible(first, 8, variant)
    assert oracles.cost(land.legs, first) < land.cost(start)  # not the start: a good tour
    chain, twin = (BridgedChain(land, outset(8, variant), policy, bridge) for _ in range(2))
    tours = []
    for steps in (20, 30, 1, 49, 40):  # asked before the first step behind 50 and 100
        if sum(map(int, chain.counters[:1])) in (50, 100):
            tours.append(chain.tour.tolist())
        chain.advance(steps, 0.5, 0.5)
    assert asked.tours[1:] == tours
    assert len(tours) == 2
    twin.advance(140, 0.5, 0.5)
    assert state(twin) == state(chain)
    assert asked.tours[3:] == tours
    scores = scores_of(np.array(tours[-1]))
    assert chain.bias.tolist() == scores.removal.astype(np.float32).tolist()
    assert isinstance(land, ShortTours)
    assert chain.reach[1:9] == pytest.approx(land.legs.T[1:9] - SCALE * scores.pickup)
    assert chain.reach[9:] == pytest.approx(land.legs.T[9:] - SCALE * scores.delivery)
    assert (chain.reach[0] == land.legs[:, 0]).all()


@pytest.mark.parametrize(("n", "every"), [(2, 15_020), (50, 27_500), (100, 65_000)])
def test_how_often_by_default(n: int, every: int) -> None:
    assert build(land_of(n, Variant.PDTSP), scores_of).every == every


def test_work_ends_where_it_ends_without_a_bridge(variant: Variant) -> None:
    """1,000 units at 0.8 a step and 1 a request: 556 steps of single requests, in parts of 100."""
    asked = Asked()
    land = land_of(10, variant)
    bridge = build(land, asked, 100)
    chain = BridgedChain(land, outset(10, variant), policy_of(variant, 1.0, 1.0, 1.0), bridge)
    best, steps = chain.best_after_work(1000, 0.8, 1.0)
    assert steps == 556
    assert best == chain.best
    assert len(asked.tours) == 1 + 5


@pytest.mark.parametrize("threads", [1, 2])
def test_the_population_runs_on_it(threads: int, variant: Variant) -> None:
    land, policy = land_of(8, variant), policy_of(variant, 1.0, 0.3, 0.3)
    bridge = build(land, scores_of, 300)
    makers = [bridged_chains(policy, bridge), bridged_chains(policy, bridge), native_chains(policy)]
    found = [
        search(
            *(land, Watch(lambda done, best: False, steps=4001), np.random.default_rng(5), threads),
            settings=native_settings(variant),
            make=make,
        )
        for make in makers
    ]
    for cost, tour, done in found:
        assert done == 4001
        assert cost == pytest.approx(oracles.cost(land.legs, tour.tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1].tolist() == found[1][1].tolist()


def test_large_instances_are_refused() -> None:
    land = landscape_of(generate(200, seed=1)[0], dense=True)
    with pytest.raises(InputError, match="all places of all requests: at most 301 nodes, not 401"):
        build(land, scores_of)

"""Steps that build a tour: what goes out, where it may go, and what the rest of the tour is to it."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import oracles
from kernels.test_chain import world
from kernels.test_native_chain import CASES, Native, begin
from kernels.test_native_decisions import random_theta
from kernels.test_native_draw import assert_frequencies
from n2s.kernels.native_decisions import (
    PARAMETERS,
    building_temperature,
    builds,
    rebuilt_share,
    rounds_of,
)
from n2s.problem import Variant, random_tour


def building(
    warmth: float = 0.3, usual: float = 20.0, power: float = 1.0, share: float = 1.0
) -> np.ndarray:
    """A policy that is random but for how it builds."""
    theta = random_theta(3, 0.4).copy()
    block = [math.log(warmth), math.log(usual), power, math.log(share)]
    oracles.native_blocks(theta)["build"][:] = block
    return theta


@CASES
def test_each_request_is_settled_once(n: int, symmetric: bool, variant: Variant) -> None:
    """After every step the settled ones are the first part of the tour, in itself a tour."""
    chain = begin(n, variant, building(), symmetric)
    settled: set[int] = set()
    for step in range(1, n + 1):
        rest = chain.tour[2 * len(settled) + 1 :].tolist()
        chain.run(1, build=True)
        (request,) = chain.last_out
        assert request not in settled
        settled.add(request)
        first = chain.tour[: 2 * step + 1].tolist()
        assert {stop for stop in first if 0 < stop <= n} == settled
        assert len({(stop - 1) % n for stop in first[1:]}) == step
        assert oracles.is_feasible(chain.tour.tolist(), n, variant)
        # What is not settled yet stands as before.
        left = [stop for stop in rest if (stop - 1) % n + 1 != request]
        assert chain.tour[2 * step + 1 :].tolist() == left
        assert chain.costs[0] == pytest.approx(oracles.cost(chain.here.costs, chain.tour.tolist()))


@CASES
def test_one_call_builds_as_many_do(n: int, symmetric: bool, variant: Variant) -> None:
    whole, parts = (begin(n, variant, building(), symmetric) for _ in range(2))
    whole.run(3 * n, 0.0, 1 / (3 * n), build=True)
    for step in range(3 * n):
        parts.run(1, step / (3 * n), 1 / (3 * n), build=True)
    assert whole.tour.tolist() == parts.tour.tolist()
    assert whole.costs.tolist() == pytest.approx(parts.costs.tolist())
    assert whole.times.tolist() == parts.times.tolist()


def test_the_tour_before_does_not_matter(variant: Variant) -> None:
    """Two tours to begin with, the same draws: the same tour is built."""
    here, theta = world(8, variant), building(0.05)
    built = []
    for seed in (1, 2):
        chain = Native(here, random_tour(8, variant, np.random.default_rng(seed)), theta)
        chain.run(8, build=True)
        built.append(chain.tour.tolist())
    assert built[0] == built[1]


def test_places_have_the_probabilities_of_the_bath_of_building(variant: Variant) -> None:
    """20,000 tours of three requests, by chi-square, against the enumeration of orders and places."""
    n, scale, warmth = 3, 0.4, 0.7
    here, theta = world(n, variant), building(warmth)
    tour = random_tour(n, variant, np.random.default_rng(2))
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        chain = Native(here, tour, theta, seed, scale)
        chain.run(n, build=True)
        counts[tuple(chain.tour.tolist())] += 1
    expected: Counter[tuple[int, ...]] = Counter()
    for order in itertools.permutations(range(1, n + 1)):
        tours = {(0,): 1.0 / math.factorial(n)}
        for request in order:
            # Requests are numbered anew, so that the oracle sees a tour of those that are settled.
            grown: Counter[tuple[int, ...]] = Counter()
            for rest, chance in tours.items():
                for pair, share in places(here.costs, rest, request, n, variant, warmth * scale):
                    grown[put(rest, request, n, *pair)] += chance * share
            tours = dict(grown)
        expected.update(tours)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert_frequencies(counts, expected)


def put(rest: tuple[int, ...], request: int, n: int, j: int, k: int) -> tuple[int, ...]:
    """The pickup behind position ``j`` of the rest, the delivery behind ``k``."""
    return (*rest[: j + 1], request, *rest[j + 1 : k + 1], request + n, *rest[k + 1 :])


def places(
    costs: np.ndarray,
    rest: tuple[int, ...],
    request: int,
    n: int,
    variant: Variant,
    temperature: float,
) -> list[tuple[tuple[int, int], float]]:
    """Places of a request in a tour of some of the others, and their probabilities."""
    there = sorted({(stop - 1) % n + 1 for stop in (*rest[1:], request)})
    names = {r: i for i, r in enumerate(there, 1)} | {
        r + n: i + len(there) for i, r in enumerate(there, 1)
    }
    weights = {}
    for j in range(len(rest)):
        for k in range(j, len(rest)):
            whole = put(rest, request, n, j, k)
            if oracles.is_feasible([0, *(names[stop] for stop in whole[1:])], len(there), variant):
                weights[j, k] = math.exp(-oracles.cost(costs, whole) / temperature)
    total = sum(weights.values())
    return [(pair, weight / total) for pair, weight in weights.items()]


def test_places_among_those_that_stay(variant: Variant) -> None:
    """One of four goes among two that are settled, right behind their stops; the fourth is not seen."""
    n, scale, warmth = 4, 0.4, 0.7
    here, theta = world(n, variant), building(warmth)
    tour = random_tour(n, variant, np.random.default_rng(6))
    times = np.array([0, -1, 0, -1])
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        chain = Native(here, tour, theta, seed, scale, times=times.copy())
        chain.run(1, build=True)
        counts[tuple(chain.tour.tolist())] += 1
    expected: Counter[tuple[int, ...]] = Counter()
    for request in (2, 4):
        rest = tuple(stop for stop in tour.tolist() if stop not in (request, request + n))
        where = [g for g, stop in enumerate(rest) if stop in (0, 1, 3, 1 + n, 3 + n)]
        part = tuple(rest[g] for g in where)
        weights = {}
        for (j, k), _ in places(here.costs, part, request, n, Variant.PDTSP, 1.0):
            whole = put(rest, request, n, where[j], where[k])
            if oracles.is_feasible(list(whole), n, variant):
                cost = oracles.cost(here.costs, put(part, request, n, j, k))
                weights[whole] = math.exp(-cost / (warmth * scale))
        total = sum(weights.values())
        for whole, weight in weights.items():
            expected[whole] += 0.5 * weight / total
    assert len(expected) > 8
    assert_frequencies(counts, expected)


def test_the_first_step_is_uniform_over_requests(variant: Variant) -> None:
    here, theta = world(5, variant), building()
    tour = random_tour(5, variant, np.random.default_rng(2))
    counts: Counter[int] = Counter()
    for seed in range(5000):
        chain = Native(here, tour, theta, seed)
        chain.run(1, build=True)
        counts[chain.last_out[0]] += 1
    assert_frequencies(counts, dict.fromkeys(range(1, 6), 0.2))


def test_what_was_settled_before_is_not_built_again(variant: Variant) -> None:
    """Requests that were taken out once already are settled: with all of them, building is no different."""
    here, theta = world(6, variant), building()
    tour = random_tour(6, variant, np.random.default_rng(4))
    times = np.arange(6)
    both = []
    for build in (False, True):
        chain = Native(here, tour, theta, times=times)
        chain.run(50, 0.0, 0.02, build=build)
        both.append(chain.everything)
    assert both[0] == both[1]


def test_who_builds_and_how_warm() -> None:
    theta = np.zeros(PARAMETERS)
    assert not builds(theta)
    for entry in range(4):
        theta = np.zeros(PARAMETERS)
        oracles.native_blocks(theta)["build"][entry] = 0.1
        assert builds(theta)
    assert building_temperature(building(0.25), 4.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("usual", "power", "budget", "rounds", "share"),
    [
        (20.0, 1.0, 19.0, 1, 1.0),
        (20.0, 1.0, 59.0, 2, 1.0),
        (20.0, 1.0, 61.0, 3, 1.0),
        (20.0, 0.5, 1999.0, 9, 1.0),  # the root of 99.95
        (20.0, -1.0, 5.0, 2, 1.0),  # of 4, but a round builds and searches as long again
        (0.01, 1.0, 60.0, 30, 1.0),
        (20.0, 0.0, 1e6, 1, 1.0),
        (20.0, 300.0, 1e12, 1_000_000_000, 1.0),
        (0.99, 1.0, 20.0, 20, 0.4),
        (0.1, 1.0, 20.0, 24, 0.4),  # 1 + 23 * 0.4 to build, 24 * 0.4 to search
        (0.1, 1.0, 1.0, 1, 0.4),
        (0.1, 1.0, 60.0, 30, 7.0),  # no more than the whole tour
    ],
)
def test_rounds_by_hand(
    usual: float, power: float, budget: float, rounds: int, share: float
) -> None:
    theta = building(usual=usual, power=power, share=share)
    assert rebuilt_share(theta) == pytest.approx(min(share, 1.0))
    assert rounds_of(theta, budget) == rounds

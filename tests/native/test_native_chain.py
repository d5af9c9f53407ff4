"""A policy's chain in the search: progress, budgets and what it is not made for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import oracles
from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.local import Outset, Watch, landscape_of, search
from n2s.native import (
    LinkedNativeChain,
    NativeChain,
    NativePolicy,
    native_chains,
    native_settings,
)
from n2s.native import chain as module
from n2s.native.policy import read, untrained
from n2s.problem import Instance, Variant, generate, random_tour


def some_policy(variant: Variant) -> NativePolicy:
    """One that does not look around, which long tours do not allow."""
    theta = np.random.default_rng(2).normal(0, 0.3, PARAMETERS)
    blocks = oracles.native_blocks(theta)
    blocks["outlook"][:] = blocks["build"][:] = 0.0
    return NativePolicy(variant, theta)


def make(variant: Variant, warm: bool = False, n: int = 10, steps: float = 640.0) -> NativeChain:
    land = landscape_of(generate(n, seed=1, variant=variant)[0], dense=True)
    tour = random_tour(n, variant, np.random.default_rng(1))
    return NativeChain(land, Outset(tour, 5, 0.3, warm, steps), some_policy(variant))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """(steps, progress, pace, toil, budget, timed) of every call of the kernel."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(module, "run_native", lambda *a: calls.append(a[-7:-1]))
    return calls


@pytest.mark.parametrize(
    ("warm", "expected"),
    [
        (False, [(50, 0.0, 0.005, 0.0, 64.0, False), (25, 0.25, 0.03, 0.0, 64.0, False)]),
        # A good tour begins in the middle of the cooling.
        (True, [(50, 0.5, 0.0025, 0.0, 64.0, False), (25, 0.625, 0.015, 0.0, 64.0, False)]),
    ],
)
def test_progress_of_steps(
    warm: bool, expected: list[tuple[float, ...]], told: list[tuple[Any, ...]]
) -> None:
    chain = make(Variant.PDTSP, warm)
    chain.advance(50, 0.0, 0.25)
    chain.advance(25, 0.25, 1.0)
    assert told == [pytest.approx(call) for call in expected]


@pytest.mark.parametrize("warm", [False, True])
def test_progress_of_work(warm: bool, told: list[tuple[Any, ...]]) -> None:
    make(Variant.PDTSP, warm).best_after_work(100, 0.8, 1.0)
    first = 0.5 if warm else 0.0
    left = 1 - first
    assert told == [pytest.approx((126, first, left * 0.008, left * 0.01, 64.0, False))]


def test_a_budget_is_at_least_a_step_for_each_request() -> None:
    assert make(Variant.PDTSP, steps=3).budget == 1.0
    assert make(Variant.PDTSP, steps=30).budget == 3.0


@pytest.mark.parametrize("warm", [False, True])
def test_work_is_spent(warm: bool, variant: Variant) -> None:
    """1,000 units at 0.8 a step and 1 a request: at most 555 steps, all of them if single."""
    chain = make(variant, warm)
    best, steps = chain.best_after_work(1000, 0.8, 1.0)
    assert 200 < steps <= 556
    assert best == pytest.approx(oracles.cost(chain.short.legs, chain.best_tour.tolist()))
    assert oracles.is_feasible(chain.best_tour.tolist(), 10, variant)
    assert best < 0.8 * oracles.cost(
        chain.short.legs, random_tour(10, variant, np.random.default_rng(1)).tolist()
    )


def test_a_chain_leaves_its_outset_and_policy_alone(variant: Variant) -> None:
    land = landscape_of(generate(10, seed=1, variant=variant)[0])
    tour = random_tour(10, variant, np.random.default_rng(1))
    before, policy = tour.tolist(), some_policy(variant)
    chain = NativeChain(land, Outset(tour, 5, 0.3, False, 100), policy)
    chain.advance(100, 0.0, 1.0)
    assert tour.tolist() == before
    assert chain.tour.tolist() != before
    assert policy.sha256 == some_policy(variant).sha256


def test_long_tours_are_linked() -> None:
    instance = generate(200, seed=1)[0]
    outset = Outset(random_tour(200, Variant.PDTSP, np.random.default_rng(1)), 1, 1.0, False, 10)
    policy = untrained(Variant.PDTSP)
    with pytest.raises(InputError, match="keeps a matrix, which 401 nodes do not allow"):
        NativeChain(landscape_of(instance), outset, policy)
    make = native_chains(policy)
    assert isinstance(make(landscape_of(instance), outset), LinkedNativeChain)
    theta = policy.theta.copy()
    oracles.native_blocks(theta)["outlook"][3, 1] = 0.1
    around = native_chains(NativePolicy(Variant.PDTSP, theta))
    with pytest.raises(InputError, match="builds a tour first, which 401 nodes do not allow"):
        around(landscape_of(instance), outset)
    assert isinstance(around(landscape_of(instance, dense=True), outset), NativeChain)
    assert isinstance(make(landscape_of(instance, dense=True), outset), NativeChain)
    assert isinstance(make(landscape_of(generate(199, seed=1)[0]), outset), NativeChain)


@pytest.mark.parametrize("warm", [False, True])
def test_progress_of_linked_tours(warm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """(steps, progress, pace, toil, budget, timed) of every call of the kernel, as for short ones."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(module, "run_linked_native", lambda *a: calls.append(a[-6:]))
    land = landscape_of(generate(200, seed=1)[0])
    tour = random_tour(200, Variant.PDTSP, np.random.default_rng(1))
    chain = LinkedNativeChain(
        land, Outset(tour, 5, 0.3, warm, 12_800, True), some_policy(Variant.PDTSP)
    )
    chain.advance(50, 0.0, 0.25)
    chain.best_after_work(100, 0.8, 1.0)
    first = 0.5 if warm else 0.0
    left = 1 - first
    assert calls == [
        pytest.approx((50, first, left * 0.005, 0.0, 64.0, True)),
        pytest.approx((126, first, left * 0.008, left * 0.01, 64.0, True)),
    ]


@pytest.mark.parametrize("warm", [False, True])
def test_work_of_linked_tours_is_spent(warm: bool, variant: Variant) -> None:
    land = landscape_of(generate(200, seed=1, variant=variant)[0])
    tour = random_tour(200, variant, np.random.default_rng(1))
    chain = LinkedNativeChain(land, Outset(tour, 5, 0.05, warm, 2000), some_policy(variant))
    best, steps = chain.best_after_work(2000, 0.8, 1.0)
    assert 300 < steps <= 1112
    assert best == pytest.approx(oracles.cost(land.legs, chain.best_tour.tolist()))
    assert oracles.is_feasible(chain.best_tour.tolist(), 200, variant)
    assert best < 0.8 * oracles.cost(land.legs, tour.tolist())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_population_runs_on_linked_tours(threads: int, variant: Variant) -> None:
    land = landscape_of(generate(200, seed=2, variant=variant)[0])
    found = [
        search(
            land,
            Watch(lambda done, best: False, steps=2001),
            np.random.default_rng(5),
            threads,
            settings=native_settings(variant),
            make=native_chains(some_policy(variant)),
        )
        for _ in range(2)
    ]
    for cost, tour, done in found:
        assert done == 2001
        assert cost == pytest.approx(oracles.cost(land.legs, tour.tolist()))
        assert oracles.is_feasible(tour.tolist(), 200, variant)
        assert (cost, tour.tolist()) == (found[0][0], found[0][1].tolist())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [1, 997, 4001])
def test_the_population_runs_on_it(steps: int, threads: int, variant: Variant) -> None:
    land = landscape_of(generate(8, seed=2, variant=variant)[0])
    found = [
        search(
            land,
            Watch(lambda done, best: False, steps=steps),
            np.random.default_rng(5),
            threads,
            settings=native_settings(variant),
            make=native_chains(some_policy(variant)),
        )
        for _ in range(2)
    ]
    for cost, tour, done in found:
        assert done == steps
        assert cost == pytest.approx(oracles.cost(land.legs, tour.tolist()))
        assert oracles.is_feasible(tour.tolist(), 8, variant)
        assert (cost, tour.tolist()) == (found[0][0], found[0][1].tolist())


def test_a_tour_to_melt_is_not_a_good_one() -> None:
    """The first chain begins warm with a given tour, cold start or not as it says."""
    land = landscape_of(generate(8, seed=2)[0])
    tour = random_tour(8, Variant.PDTSP, np.random.default_rng(1))
    outsets: list[Outset] = []

    def make(land: Any, outset: Outset) -> NativeChain:
        outsets.append(outset)
        return NativeChain(land, outset, untrained(Variant.PDTSP))

    for melt in (False, True):
        search(
            *(land, Watch(lambda done, best: False, steps=100), np.random.default_rng(1)),
            initial=tour,
            melt=melt,
            make=make,
        )
        assert outsets[0].tour.tolist() == tour.tolist()
        assert outsets[0].warm is not melt
        outsets.clear()


def test_small_budgets_go_into_one_chain(variant: Variant) -> None:
    assert native_settings(variant).alone == 1.0


def locked(variant: Variant, never: float) -> Instance:
    """Ten requests; the stops of the first two are joined with each other and the depot alone."""
    n = 10
    costs = generate(n, seed=4, variant=variant)[0].costs
    allowed = np.ones_like(costs, bool)
    for request, axis in ((1, 0), (2, 1)):
        stops = [request, request + n]
        arcs = np.ones_like(costs, bool)
        arcs[:, stops] = False
        arcs[np.ix_([0, *stops], stops)] = True
        allowed &= arcs if axis == 0 else arcs.T
    return Instance(matrix=np.where(allowed, costs, never), variant=variant)


@pytest.mark.parametrize("never", [1e3, 1e6, 1e14])
def test_requests_that_cannot_move_do_not_hold_up_the_search(
    never: float, variant: Variant
) -> None:
    """The first and the last request of the tour are where they have to be; the others can be improved."""
    instance = locked(variant, never)
    land = landscape_of(instance)
    others = random_tour(8, variant, np.random.default_rng(1))[1:]
    others = np.where(others <= 8, others + 2, others + 4)
    tour = np.array([0, 1, 11, *others, 2, 12])
    chain = NativeChain(land, Outset(tour, 1, 0.3, False, 1000), read(f"native-outlook-{variant}"))
    start = chain.best
    assert start < 100
    moved = np.zeros(10, np.int64)
    for step in range(1000):
        chain.advance(1, step / 1000, (step + 1) / 1000)
        moved[int(np.argmax(chain.times))] += 1
    assert chain.best < 0.7 * start
    assert moved[:2].sum() < 100

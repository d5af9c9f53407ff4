"""Budgets in steps that a policy which builds spends in rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import oracles
from n2s import solve
from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.local import Outset, landscape_of
from n2s.native import NativeChain, NativePolicy, find
from n2s.native import chain as module
from n2s.native.chain import LinkedNativeChain
from n2s.problem import Variant, generate, random_tour

N = 10


def policy_of(
    variant: Variant, usual: float = 16.0, power: float = 1.0, share: float = 1.0
) -> NativePolicy:
    theta = np.random.default_rng(2).normal(0, 0.3, PARAMETERS)
    block = [math.log(0.1), math.log(usual), power, math.log(share)]
    oracles.native_blocks(theta)["build"][:] = block
    return NativePolicy(variant, theta)


def chain_of(
    variant: Variant, steps: int = 640, warm: bool = False, timed: bool = False, share: float = 1.0
) -> NativeChain:
    land = landscape_of(generate(N, seed=1, variant=variant)[0], dense=True)
    tour = random_tour(N, variant, np.random.default_rng(1))
    return NativeChain(
        land, Outset(tour, 5, 0.3, warm, steps, timed), policy_of(variant, share=share)
    )


def test_the_kernel_is_told_of_its_round_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """640 steps for 10 requests are 64 for each: four rounds of 160, each from progress 0 to 1."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(module, "run_native", lambda *a: calls.append(a[-7:]))
    chain = chain_of(Variant.PDTSP)
    chain.advance(200, 0.0, 200 / 640)
    chain.advance(440, 200 / 640, 1.0)
    pace = 1 / 160
    assert calls == [
        pytest.approx(call)
        for call in (
            (160, 0.0, pace, 0.0, 16.0, False, True),
            (40, 0.0, pace, 0.0, 16.0, False, True),
            (120, 0.25, pace, 0.0, 16.0, False, True),
            (160, 0.0, pace, 0.0, 16.0, False, True),
            (160, 0.0, pace, 0.0, 16.0, False, True),
        )
    ]


def test_the_first_round_is_longer_where_others_build_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four rounds of 640 steps; the first builds 10 requests, the others about 4: 6 steps more."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(module, "run_native", lambda *a: calls.append(a[-7:]))
    chain = chain_of(Variant.PDTSP, share=0.4)
    chain.advance(640, 0.0, 1.0)
    each = 634 / 4  # 158.5, so that rounds begin with steps 165, 323 and 482
    assert [call[0] for call in calls] == [165, 158, 159, 158]
    assert [call[1] for call in calls] == pytest.approx([0.0, 0.5 / each, 0.0, 0.5 / each])
    assert [call[2] for call in calls] == pytest.approx([1 / (each + 6)] + [1 / each] * 3)
    assert [call[4] for call in calls] == pytest.approx([(each + 6) / 10] + [each / 10] * 3)


def test_later_rounds_build_a_part_anew(variant: Variant) -> None:
    """What stays is old but settled; after as many steps as there are requests in the part, all are."""
    chain = chain_of(variant, share=0.4)
    done, begun = 0, []
    while done < 640:
        chain.advance(1, done / 640, (done + 1) / 640)
        done += 1
        if done - 1 in (165, 323, 482):
            left = int((chain.times < 0).sum())
            begun.append(left + 1)
            assert (chain.times == 0).sum() == N - left - 1
            assert chain.counters[0] == 10 * N + 1
            stops = chain.tour.copy()
            for _ in range(left):
                chain.advance(1, done / 640, (done + 1) / 640)
                done += 1
            assert (chain.times >= 0).all()
            assert sorted(chain.times[chain.times > 0]) == list(
                range(10 * N + 1, 10 * N + left + 2)
            )
            stays = {r + 1 for r in np.flatnonzero(chain.times == 0)}
            keep = stays | {r + N for r in stays}
            # Those that stay keep their order.
            assert [s for s in stops if s in keep] == [s for s in chain.tour if s in keep]
        assert chain.costs[0] == pytest.approx(oracles.cost(chain.land.legs, chain.tour.tolist()))
        assert oracles.is_feasible(chain.tour.tolist(), N, variant)
    assert len(begun) == 3
    assert all(2 <= count <= 6 for count in begun)
    assert chain.best == pytest.approx(oracles.cost(chain.land.legs, chain.best_tour.tolist()))


@pytest.mark.parametrize("slice_", [1, 7, 100, 640])
def test_every_round_builds_and_the_best_of_all_is_kept(slice_: int, variant: Variant) -> None:
    """However the steps are handed out; a first tour of a round has each request taken out once."""
    chain = chain_of(variant)
    costs = chain.land.legs
    best, built, done = chain.best, [], 0
    while done < 640:
        steps = min(slice_, 640 - done)
        chain.advance(steps, done / 640, (done + steps) / 640)
        done += steps
        assert chain.best <= best
        best = chain.best
        assert best == pytest.approx(oracles.cost(costs, chain.best_tour.tolist()))
        assert chain.costs[0] == pytest.approx(oracles.cost(costs, chain.tour.tolist()))
        if slice_ == 1 and done % 160 == N:
            built.append(sorted(chain.times.tolist()))
    assert oracles.is_feasible(chain.best_tour.tolist(), N, variant)
    assert (chain.round, chain.rounds) == (3, 4)
    if slice_ == 1:
        assert built == [list(range(1, N + 1))] * 4
    whole = chain_of(variant)
    whole.advance(640, 0.0, 1.0)
    assert whole.best_tour.tolist() == chain.best_tour.tolist()


def test_a_good_tour_is_neither_melted_nor_built_anew(variant: Variant) -> None:
    chain = chain_of(variant, warm=True)
    assert (chain.build, chain.rounds, chain.budget) == (False, 1, 64.0)


def test_by_the_clock_there_is_one_round(variant: Variant) -> None:
    chain = chain_of(variant, timed=True)
    assert (chain.build, chain.rounds, chain.budget) == (True, 1, 64.0)


def test_long_tours_are_not_built() -> None:
    instance = generate(200, seed=1)[0]
    tour = random_tour(200, Variant.PDTSP, np.random.default_rng(1))
    theta = policy_of(Variant.PDTSP).theta.copy()
    oracles.native_blocks(theta)["outlook"][:] = 0.0
    policy = NativePolicy(Variant.PDTSP, theta)
    with pytest.raises(InputError, match="builds a tour first, which 401 nodes do not allow"):
        LinkedNativeChain(landscape_of(instance), Outset(tour, 1, 1.0, False, 10), policy)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("steps", [1, 3, 50])
def test_the_shipped_policies_build(n: int, steps: int, variant: Variant) -> None:
    """Even if there are fewer steps than requests."""
    instance = generate(n, seed=3, variant=variant)[0]
    assert "build" in find(f"native-build-{variant}", variant).blocks
    found = solve(
        instance, method="native", checkpoint=f"native-build-{variant}", start="random", steps=steps
    )
    assert found.steps == steps
    tour = found.route[:-1]
    assert oracles.is_feasible(tour, n, variant)
    assert found.cost == pytest.approx(oracles.cost(instance.costs, tour))

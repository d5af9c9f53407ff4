"""The search as a whole: what it returns, when it stops, and that it does."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oracles
from n2s.local import Landscape, Settings, Watch, landscape_of, search
from n2s.local.plan import settings_of
from n2s.problem import Instance, Variant, generate, random_tour

SMALL = Settings(population=4, first=20, child=10)
"""A population also where the budget is small."""


def never(done: int, best: float) -> bool:
    return False


def land_of(n: int, variant: Variant, symmetric: bool = True, seed: int = 1) -> Landscape:
    if symmetric:
        return landscape_of(generate(n, seed=seed, variant=variant)[0])
    matrix = np.random.default_rng(seed).random((2 * n + 1, 2 * n + 1))
    return landscape_of(Instance(matrix=matrix, variant=variant))


def check(land: Landscape, cost: float, tour: np.ndarray) -> None:
    assert oracles.is_feasible(tour.tolist(), land.n, land.variant)
    assert cost == pytest.approx(oracles.cost(land.legs, tour.tolist()), abs=1e-9)


@pytest.mark.parametrize("settings", [None, SMALL], ids=["usual", "small"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_small_instances_are_solved(
    n: int, symmetric: bool, settings: Settings | None, variant: Variant
) -> None:
    for seed in range(1, 4):
        land = land_of(n, variant, symmetric, seed)
        optimum = min(oracles.cost(land.legs, tour) for tour in oracles.all_tours(n, variant))
        generator = np.random.default_rng(seed)
        cost, tour, done = search(land, Watch(never, steps=1500), generator, settings=settings)
        check(land, cost, tour)
        assert cost == pytest.approx(optimum)
        assert done == 1500


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 1, 2, 997, 2001, 6001])
def test_a_step_limit_is_met_and_gives_the_same_again(
    steps: int, threads: int, variant: Variant
) -> None:
    """Odd numbers too: what is left for the last round is shared out exactly."""
    land = land_of(8, variant)
    found = [
        search(land, Watch(never, steps=steps), np.random.default_rng(5), threads, settings=SMALL)
        for _ in range(3)
    ]
    for cost, tour, done in found:
        check(land, cost, tour)
        assert done == steps
        assert tour.tolist() == found[0][1].tolist()
        assert cost == found[0][0]


def test_ties_between_threads_are_broken_the_same_way(variant: Variant) -> None:
    """All tours cost nothing: which of them is returned must not depend on who was ready first."""
    land = landscape_of(Instance(matrix=np.zeros((13, 13)), variant=variant))
    found = {
        tuple(search(land, Watch(never, steps=300), np.random.default_rng(2), 3)[1].tolist())
        for _ in range(10)
    }
    assert len(found) == 1
    assert oracles.is_feasible(list(found.pop()), 6, variant)


def test_a_seeded_search_keeps_its_result(variant: Variant) -> None:
    """Golden: a change here changes what users get for the same seed, and has to be meant."""
    settings = Settings(
        hot=5.0, warm=0.5, cold=0.05, ruin=6, population=4, first=20, child=10, share=0.5
    )
    land = land_of(30, variant)
    told: list[float] = []
    watch = Watch(lambda _, best: told.append(best) is not None, steps=3000)
    cost, tour, _ = search(land, watch, np.random.default_rng(1), settings=settings)
    golden = json.loads((Path(__file__).parents[1] / "golden" / "native.json").read_text())
    assert tour.tolist() == golden[variant.value]["tour"]
    assert cost == pytest.approx(golden[variant.value]["cost"], abs=1e-9)
    assert told == pytest.approx(golden[variant.value]["told"], abs=1e-9)


def test_seeds_matter(variant: Variant) -> None:
    land = land_of(25, variant)
    first, other = (
        search(land, Watch(never, steps=200), np.random.default_rng(seed))[1] for seed in (1, 2)
    )
    assert first.tolist() != other.tolist()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [0, 1, 50, 2000])
def test_a_given_tour_never_gets_worse_nor_is_it_changed(
    steps: int, threads: int, variant: Variant
) -> None:
    land = land_of(25, variant)
    good, tour, _ = search(land, Watch(never, steps=4000), np.random.default_rng(1))
    bad = random_tour(25, variant, np.random.default_rng(1))
    for initial, before in ((tour, good), (bad, land.cost(bad))):
        given = initial.copy()
        cost, found, _ = search(
            land, Watch(never, steps=steps), np.random.default_rng(9), threads, initial=given
        )
        check(land, cost, found)
        assert cost <= before + 1e-12
        assert given.tolist() == initial.tolist()
        if steps == 0:
            assert found.tolist() == initial.tolist()
    assert good < 0.5 * land.cost(bad)


def test_more_steps_and_a_population_find_better_tours(variant: Variant) -> None:
    means = []
    for steps in (0, 500, 20_000):
        costs = [
            search(
                land_of(25, variant, seed=seed),
                Watch(never, steps=steps),
                np.random.default_rng(1),
                settings=SMALL,
            )[0]
            for seed in range(1, 6)
        ]
        means.append(np.mean(costs))
    assert means[2] < means[1] < 0.95 * means[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_watch_is_told_everything_and_obeyed(threads: int, variant: Variant) -> None:
    land = land_of(25, variant)
    told: list[tuple[int, float]] = []

    def over(done: int, best: float) -> bool:
        told.append((done, best))
        return len(told) == 6

    cost, tour, done = search(land, Watch(over), np.random.default_rng(1), threads)
    check(land, cost, tour)
    steps, bests = zip(*told, strict=True)
    assert steps[0] == 0
    assert list(steps) == sorted(steps)
    assert list(bests) == sorted(bests, reverse=True)
    # Other chains finish what they are at; nobody is asked again.
    assert len(told) == 6
    assert steps[-1] <= done <= steps[-1] + 1000 * (threads - 1)
    assert cost <= bests[-1]


def test_it_stops_at_a_target_and_when_nothing_improves(variant: Variant) -> None:
    land = land_of(4, variant)
    optimum = min(oracles.cost(land.legs, tour) for tour in oracles.all_tours(4, variant))
    cost, _, _ = search(
        land, Watch(lambda _, best: best <= optimum + 1e-9), np.random.default_rng(1), 2
    )
    assert cost == pytest.approx(optimum)
    last = [0, np.inf]

    def patience(done: int, best: float) -> bool:
        if best < last[1] - 1e-9:
            last[:] = done, best
        return done - last[0] >= 3000

    cost, _, done = search(land, Watch(patience), np.random.default_rng(1))
    assert cost == pytest.approx(optimum)
    assert 3000 <= done - last[0] < 4000


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1, 4, 8])
def test_steps_count_also_against_the_clock(n: int, threads: int, variant: Variant) -> None:
    """Jobs of a few microseconds too must get something done, however late their thread begins."""
    land = land_of(n, variant)
    watch = Watch(never, steps=20_001, deadline=time.monotonic() + 60)
    cost, tour, done = search(land, watch, np.random.default_rng(1), threads)
    check(land, cost, tour)
    assert done == 20_001


@pytest.mark.parametrize("threads", [1, 2])
def test_a_watch_that_fails_ends_all_chains(threads: int, variant: Variant) -> None:
    land = land_of(8, variant)

    def over(done: int, best: float) -> bool:
        if done > 5000:
            raise RuntimeError("no more")
        return False

    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="no more"):
        search(land, Watch(over, deadline=begun + 100), np.random.default_rng(1), threads)
    assert time.monotonic() - begun < 60  # it would wait for the other chain's 100 seconds


@pytest.mark.parametrize("ahead", [-5.0, 0.0, 0.05, 0.5])
@pytest.mark.parametrize("threads", [1, 2])
def test_no_deadline_is_too_short(ahead: float, threads: int) -> None:
    """In a process of its own, so that a search that never ends is a failure and not a standstill."""
    code = f"""
        import time
        import numpy as np
        from n2s.local import Watch, landscape_of, search
        from n2s.problem import Instance, Variant, evaluate_nodes, generate
        zeros = [Instance(matrix=np.zeros((5, 5)), variant=v) for v in Variant]
        made = [generate(n, seed=1, variant=v)[0] for v in Variant for n in (1, 2, 30)]
        for instance in [*zeros, *made]:
            land = landscape_of(instance)
            watch = Watch(lambda done, best: False, deadline=time.monotonic() + {ahead})
            cost, tour, done = search(land, watch, np.random.default_rng(1), {threads})
            verdict = evaluate_nodes(instance, tour.tolist())
            assert verdict.feasible
            assert abs(verdict.cost - cost) < 1e-9
            assert time.monotonic() >= watch.deadline
            assert {ahead} > 0 or done == 0
        print("ended")
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "ended\n"


def test_settings_that_switch_recombination_off(variant: Variant) -> None:
    land = land_of(8, variant)
    found = []
    for crossover in (True, False):
        settings = replace(SMALL, crossover=crossover)
        cost, tour, done = search(
            land, Watch(never, steps=4000), np.random.default_rng(3), settings=settings
        )
        check(land, cost, tour)
        assert done == 4000
        found.append(cost)
    assert max(found) < 1.1 * min(found)


def test_every_variant_has_settings() -> None:
    for variant in Variant:
        settings = settings_of(variant)
        assert settings.hot > settings.warm > settings.cold > 0
        assert settings.ruin >= 1


def test_whole_costs_stay_true(variant: Variant) -> None:
    """Among whole costs many moves change nothing; they are moves all the same."""
    matrix = np.random.default_rng(3).integers(1, 4, (41, 41)).astype(float)
    land = landscape_of(Instance(matrix=matrix, variant=variant))
    cost, tour, _ = search(
        land, Watch(lambda done, best: False, steps=4000), np.random.default_rng(1)
    )
    assert cost == land.cost(tour)

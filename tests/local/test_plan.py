"""How budgets are divided, by hand, with settings of the test's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from n2s.local import Plan, Settings
from n2s.local.plan import make_plan, settings_of
from n2s.problem import Variant

MINE = Settings(population=8, first=100, child=50, share=0.5, alone=0.85)


@pytest.mark.parametrize(
    ("n", "budget", "threads", "expected"),
    [
        # Half of 10,000 for first tours of 1,000 each: five of them.
        (10, 10_000, 1, Plan(5, 1000, 500)),
        (10, 10_000, 2, Plan(5, 1000, 500)),
        # Half of 100,000 would be 50 first tours: the most are 8, longer ones of 6,250.
        (10, 100_000, 1, Plan(8, 6250, 500)),
        # 3.5 of them fit: three, and what is over makes them longer.
        (10, 7000, 1, Plan(3, 1166, 500)),
    ],
)
def test_many_short_first_tours(n: int, budget: float, threads: int, expected: Plan) -> None:
    assert make_plan(MINE, n, budget, threads) == expected


@pytest.mark.parametrize(
    ("n", "budget", "threads", "settings"),
    [
        (10, 4000, 1, MINE),  # two first tours are too few for a population
        (10, 7000, 4, MINE),  # three first tours for four threads
        (10, 10**9, 1, replace(MINE, population=1)),
        (10, 10**9, 2, replace(MINE, population=1)),
        (1, 100, 1, MINE),
        (10, 4000, 2, replace(MINE, alone=1.0)),
    ],
)
def test_one_long_first_tour_for_each_thread(
    n: int, budget: float, threads: int, settings: Settings
) -> None:
    plan = make_plan(settings, n, budget, threads)
    assert plan.population == threads
    assert plan.first == int(settings.alone * budget / threads)
    assert plan.child == min(50 * n, plan.first // 8)


@pytest.mark.parametrize("variant", list(Variant), ids=str)
@pytest.mark.parametrize("threads", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("n", [1, 2, 50, 5000])
@pytest.mark.parametrize("budget", [0.0, 0.5, 1, 100, 1e4, 1e6, 1e9, 1e12])
def test_every_plan_can_be_carried_out(
    variant: Variant, n: int, budget: float, threads: int
) -> None:
    """With the settings in use: a first tour for every thread, work in every job, nothing overspent."""
    plan = make_plan(settings_of(variant), n, budget, threads)
    assert plan.population >= threads
    assert plan.first >= 1
    assert plan.child >= 1
    assert all(type(number) is int for number in (plan.population, plan.first, plan.child))
    assert plan.population * plan.first <= max(budget, threads)

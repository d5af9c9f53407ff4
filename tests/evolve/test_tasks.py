"""Training instances and tasks: shapes, budgets, and the same for every candidate."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import oracles
from n2s.evolve.config import Shape, Tasks
from n2s.evolve.problems import GRID, TOWNS, draw_instance, streets
from n2s.evolve.tasks import Task, draw_tasks, task_of
from n2s.kernels.native_decisions import PARAMETERS
from n2s.native import NativePolicy
from n2s.native.policy import untrained
from n2s.problem import Instance, Variant, generate


@pytest.mark.parametrize("town", range(TOWNS))
def test_streets_are_travel_times(town: int) -> None:
    """Everywhere from everywhere, never faster by a detour, slower in one direction of some streets."""
    times = streets(town)
    assert times.shape == (GRID**2, GRID**2) == (196, 196)
    assert np.isfinite(times).all()
    assert (np.diag(times) == 0).all()
    assert (times[~np.eye(196, dtype=bool)] > 0).all()
    for middle in range(196):
        assert (times <= times[:, middle, None] + times[None, middle] + 1e-12).all()
    assert (np.abs(times - times.T) > 1e-9).mean() > 0.05
    # From corner to corner: 26 streets of 0.7 to 1.5 on the shortest way, some three times slower.
    assert 26 * 0.7 < times[0, -1] < 26 * 1.5 * 2


def test_towns_are_seeded_and_different() -> None:
    streets.cache_clear()
    first = streets(3).copy()
    streets.cache_clear()
    assert (streets(3) == first).all()
    assert (streets(4) != first).mean() > 0.9


@pytest.mark.parametrize("shape", list(Shape), ids=str)
def test_instances_of_every_shape(shape: Shape, variant: Variant) -> None:
    drawn = [
        [draw_instance(shape, 41, variant, np.random.default_rng(seed)) for seed in (1, 2)]
        for _ in range(2)
    ]
    (one, other), (again, _) = drawn
    assert one.size == 41
    assert one.variant is variant
    assert (one.costs == again.costs).all()
    assert (one.costs != other.costs).any()
    if shape is Shape.ROAD:
        assert one.coordinates is None
        assert (one.costs != one.costs.T).any()
        known = np.unique(np.concatenate([streets(town).ravel() for town in range(TOWNS)]))
        assert np.isin(one.costs, known).all()
        return
    points = one.coordinates
    assert points is not None
    assert (points >= 0).all()
    assert (points <= 1).all()
    assert np.ptp(points[:, 0]) > 0.4
    if shape is Shape.LINE:
        assert 0.005 < points[:, 1].std() < 0.04
        assert points[:, 1].mean() == pytest.approx(0.5, abs=0.02)
    else:
        assert np.ptp(points[:, 1]) > 0.4


CONFIG = Tasks(
    variant=Variant.LIFO,
    sizes=(5, 9, 9),
    shapes=tuple(Shape),
    steps=(20, 40),
    work=(30, 50),
    count=10,
    seed=3,
)


def summary(task: Task) -> tuple:
    return (task.steps, task.work, task.seed, task.scale, task.start.tolist(), task.land.legs.sum())


def test_tasks_of_a_generation_are_the_same_for_everybody() -> None:
    first, again, other = (draw_tasks(CONFIG, generation) for generation in (4, 4, 5))
    assert list(map(summary, first)) == list(map(summary, again))
    assert not {task.seed for task in first} & {task.seed for task in other}
    assert len({task.seed for task in first}) == 10


def test_budgets_are_even_and_take_turns() -> None:
    """Ten tasks, four budgets: three of two of them, which go on from generation to generation."""
    order = [(20, 0), (40, 0), (0, 30), (0, 50)]
    total: Counter[tuple[int, int]] = Counter()
    for generation in range(4):
        budgets = [(task.steps, task.work) for task in draw_tasks(CONFIG, generation)]
        assert budgets == [order[(index + generation) % 4] for index in range(10)]
        total.update(budgets)
    assert set(total.values()) == {10}


def test_sizes_and_shapes_are_drawn_as_often_as_they_are_named() -> None:
    tasks = [task for generation in range(60) for task in draw_tasks(CONFIG, generation)]
    sizes = Counter(task.land.size for task in tasks)
    assert set(sizes) == {5, 9}
    assert sizes[5] / len(tasks) == pytest.approx(1 / 3, abs=0.08)
    roads = sum(bool((task.land.legs != task.land.legs.T).any()) for task in tasks)
    assert roads / len(tasks) == pytest.approx(1 / 5, abs=0.07)
    for task in tasks[:20]:
        assert task.land.variant is Variant.LIFO
        assert oracles.is_feasible(task.start.tolist(), task.land.n, Variant.LIFO)


def test_a_start_is_random_for_steps_and_greedy_for_work(variant: Variant) -> None:
    instance = generate(20, seed=1, variant=variant)[0]
    by_steps = task_of(instance, np.random.default_rng(1), steps=10)
    by_work = task_of(instance, np.random.default_rng(1), work=10)
    cost = by_steps.land.cost
    assert cost(by_work.start) < 0.6 * cost(by_steps.start)
    assert by_steps.scale == pytest.approx(cost(by_work.start) / 41, rel=0.2)
    assert by_steps.scale == by_work.scale


def test_all_at_one_place_has_a_scale() -> None:
    assert task_of(Instance(matrix=np.zeros((7, 7))), np.random.default_rng(1), 5).scale == 1.0


def test_a_task_is_the_same_search_every_time(variant: Variant) -> None:
    """Common random numbers: two equal policies find the same, and work counts what it takes."""
    rng = np.random.default_rng(1)
    policy = NativePolicy(variant, rng.normal(0, 0.3, PARAMETERS))
    tasks = draw_tasks(Tasks(variant=variant, sizes=(21,), steps=(50,), work=(90,), count=4), 0)
    for task in tasks:
        cost, steps = task.run(policy)
        assert task.run(NativePolicy(variant, policy.theta.copy())) == (cost, steps)
        assert cost <= task.land.cost(task.start)
        # A step of one request takes 3.5 (PDTSP) or 1.8 of 90.
        most = 26 if variant is Variant.PDTSP else 51
        assert steps == 50 if task.steps else 10 < steps <= most
    opposite = NativePolicy(variant, -policy.theta)
    assert [task.run(opposite) for task in tasks] != [task.run(policy) for task in tasks]


def test_long_tours_can_be_trained_with() -> None:
    task = task_of(generate(200, seed=1)[0], np.random.default_rng(1), steps=5)
    assert task.run(untrained(Variant.PDTSP))[1] == 5


def test_the_best_of_copies_counts(variant: Variant) -> None:
    """Each from a tour and a seed of its own; together they are as many searches, one after the other."""
    instance = generate(10, seed=1, variant=variant)[0]
    policy = untrained(variant)
    task = task_of(instance, np.random.default_rng(5), steps=30, copies=4)
    searches = [(task.start, task.seed), *task.others]
    alone = [replace(task, start=start, seed=seed, others=()) for start, seed in searches]
    costs = [one.run(policy)[0] for one in alone]
    assert task.run(policy) == (min(costs), 4 * 30)
    assert len(set(costs)) == 4
    assert len({tuple(start.tolist()) for start, _ in searches}) == 4
    for start, _ in searches:
        assert oracles.is_feasible(start.tolist(), 10, variant)
    # What comes before the copies is drawn alike without them.
    single = task_of(instance, np.random.default_rng(5), steps=30)
    assert summary(single) == summary(task)


def test_copies_follow_their_budget() -> None:
    config = Tasks(sizes=(5,), steps=(20, 40), copies=(3, 1), work=(30,), count=6)
    drawn = [
        (task.steps, task.work, 1 + len(task.others))
        for generation in range(2)
        for task in draw_tasks(config, generation)
    ]
    assert set(drawn) == {(20, 0, 3), (40, 0, 1), (0, 30, 1)}

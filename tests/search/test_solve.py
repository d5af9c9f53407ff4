from __future__ import annotations

import dataclasses
import itertools
import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import n2s
from n2s.errors import InputError, UnsupportedError
from n2s.model import Checkpoint, Policy, PolicyConfig, save
from n2s.problem import Instance, Variant, evaluate, generate
from n2s.search.result import SearchError, verified
from n2s.search.solve import SolveManyError, solve, solve_many

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)
METHODS = pytest.mark.parametrize("method", ["anneal", "n2s", "n2s-a"])


@VARIANTS
@METHODS
@pytest.mark.parametrize("n", [1, 2, 8])
def test_a_search_improves_and_its_route_is_judged_feasible(
    n: int, method: str, variant: Variant
) -> None:
    instance = generate(n, seed=3, variant=variant)[0]
    start = solve(instance, method=method, steps=0)
    found = solve(instance, method=method, steps=60)
    verdict = evaluate(instance, found.route)
    assert verdict.feasible
    assert verdict.cost == pytest.approx(found.cost)
    assert found.cost <= start.cost
    if n == 8 and method != "anneal":  # which starts from a good one
        assert found.cost < 0.9 * start.cost
    assert (found.steps, found.stopped, found.method) == (60, "steps", method)


@VARIANTS
def test_small_instances_are_solved_to_the_optimum(variant: Variant) -> None:
    """Three requests on the lattice of conftest: 6 + 2 sqrt 2 for both variants."""
    points = np.array([(0, 0), (1, 0), (1, 1), (2, 0), (0, 1), (2, 1), (3, 0)], dtype=float)
    instance = Instance(coordinates=points, variant=variant)
    assert solve(instance, method="n2s-a", steps=200, augments=10).cost == pytest.approx(
        6 + 2 * 2**0.5
    )


def test_the_same_seed_and_steps_give_the_same_route() -> None:
    instance = generate(10, seed=5)[0]
    first, again = (solve(instance, method="n2s-a", steps=50, seed=7) for _ in range(2))
    other = solve(instance, method="n2s-a", steps=50, seed=8)
    assert first.route == again.route
    assert [p[::2] for p in first.history] == [p[::2] for p in again.history]
    assert [p[::2] for p in first.history] != [p[::2] for p in other.history]


def test_a_seeded_search_keeps_its_result() -> None:
    """Golden: a change here changes what users get for the same seed, and has to be meant."""
    instance = generate(6, seed=1, variant=Variant.LIFO)[0]
    found = solve(instance, method="n2s-a", steps=40, seed=1, checkpoint="epsilon-greedy")
    golden = json.loads((Path(__file__).parents[1] / "golden" / "search.json").read_text())
    assert found.route == golden["route"]
    assert found.cost == pytest.approx(golden["cost"], abs=1e-9)
    assert [[p.step, pytest.approx(p.best)] for p in found.history] == golden["history"]


def test_the_history_holds_every_improvement() -> None:
    instance = generate(8, seed=2)[0]
    ticks = []
    found = solve(instance, steps=80, method="n2s", callback=ticks.append)
    costs = [point.best for point in found.history]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs)
    assert costs[-1] == pytest.approx(found.cost)
    assert [tick.step for tick in ticks] == list(range(1, 81))
    steps = {point.step for point in found.history}
    falls = {after.step for before, after in itertools.pairwise(ticks) if after.best < before.best}
    assert falls <= steps


@METHODS
def test_a_warm_start_never_gets_worse(method: str) -> None:
    instance = generate(8, seed=4)[0]
    good = solve(instance, method="n2s-a", steps=300, seed=1)
    assert solve(instance, method=method, initial=good.route, steps=0).route == good.route
    for steps in (1, 30):
        found = solve(instance, method=method, initial=good.route, steps=steps, seed=9)
        assert found.cost <= good.cost


def test_a_greedy_start_is_better_than_a_random_one() -> None:
    instance = generate(20, seed=4)[0]
    greedy = solve(instance, method="n2s-a", steps=0, start="greedy").cost
    assert greedy < 0.6 * solve(instance, method="n2s-a", steps=0, start="random").cost


@METHODS
def test_costs_are_the_users_own(method: str) -> None:
    """Scaled, moved and rounded coordinates, a matrix, an open end: always the instance's own cost."""
    rng = np.random.default_rng(1)
    points = rng.random((11, 2)) * 5000 + 70_000
    for instance in (
        Instance(coordinates=points, rounding="nearest"),  # type: ignore[arg-type]
        Instance(matrix=rng.random((11, 11)) * 9, open_end=True),
        Instance(coordinates=rng.random((11, 2)) * 2 + 48, metric="great_circle"),  # type: ignore[arg-type]
        Instance(coordinates=np.zeros((11, 2))),
    ):
        fixed = dataclasses.replace(
            instance,
            metric=type(Instance(coordinates=points).metric)(instance.metric),
            rounding=type(Instance(coordinates=points).rounding)(instance.rounding),
        )
        found = solve(fixed, method=method, steps=20)
        assert found.cost == pytest.approx(evaluate(fixed, found.route).cost)


def learned(tmp_path: Path, sizes: tuple[int, ...] = (11,), **fields: object) -> Path:
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(width=16, **fields))  # type: ignore[arg-type]
    path = tmp_path / "tiny.safetensors"
    save(Checkpoint(policy, Variant.PDTSP, sizes), path)
    return path


@pytest.mark.parametrize("fields", [{}, {"costs": True}, {"attention": "dac"}, {"heads": 2}])
@pytest.mark.parametrize("n", [1, 5])
def test_learned_policies_search_too(tmp_path: Path, n: int, fields: dict[str, object]) -> None:
    path = learned(tmp_path, **fields)
    instance = generate(n, seed=1)[0]
    found = solve(instance, method="n2s-a", checkpoint=path, steps=15, augments=3)
    assert evaluate(instance, found.route).feasible
    assert found.checkpoint.startswith("tiny ")
    matrix = Instance(matrix=np.random.default_rng(0).random((2 * n + 1, 2 * n + 1)))
    again = solve(matrix, method="n2s-a", checkpoint=path, steps=5)
    assert evaluate(matrix, again.route).feasible


def test_the_clip_is_raised_off_the_training_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = learned(tmp_path, sizes=(11,))
    clips = []
    original = Policy.with_clip
    monkeypatch.setattr(
        Policy, "with_clip", lambda self, clip: clips.append(clip) or original(self, clip)
    )
    solve(generate(5, seed=1)[0], method="n2s-a", checkpoint=path, steps=1)
    assert clips == []
    solve(generate(6, seed=1)[0], method="n2s-a", checkpoint=path, steps=1)
    assert clips == [10.0]
    solve(generate(5, seed=1)[0], method="n2s-a", checkpoint=path, steps=1, clip=3.0)
    assert clips == [10.0, 3.0]
    assert original(Policy(PolicyConfig(width=16)), 3.0).config.clip == 3.0


def test_many_instances_get_what_each_would_get_alone() -> None:
    instances = [
        *generate(5, count=3, seed=1),
        *generate(3, count=2, seed=2, variant=Variant.LIFO),
        generate(5, seed=9)[0],
    ]
    together = solve_many(instances, method="n2s-a", steps=30, seed=4)
    alone = [solve(instance, method="n2s-a", steps=30, seed=4) for instance in instances]
    assert [s.route for s in together] == [s.route for s in alone]
    assert [s.instance.name for s in together] == [i.name for i in instances]


def test_many_instances_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = generate(4, count=5, seed=1)
    whole = solve_many(instances, method="n2s-a", steps=10)
    monkeypatch.setattr("n2s.search.solve.MOST_TOURS", 9)  # two instances of four copies
    seen: list[tuple[int, int]] = []
    split = solve_many(
        instances,
        method="n2s-a",
        steps=10,
        callback=lambda done, of: seen.append((done, of)),
    )
    assert [s.route for s in split] == [s.route for s in whole]
    assert seen == [(2, 5), (4, 5), (5, 5)]


@METHODS
def test_one_failure_does_not_stop_the_others(method: str) -> None:
    good = generate(3, count=2, seed=1)
    bad = dataclasses.replace(good[0], name="heavy", capacity=2.0)
    with pytest.raises(SolveManyError, match=r"instance 1 failed: heavy: the capacity 2") as error:
        solve_many([good[0], bad, good[1]], method=method, steps=5)
    solved = error.value.solutions
    assert [s is not None for s in solved] == [True, False, True]


@METHODS
def test_a_time_limit_is_kept(method: str) -> None:
    instance = generate(50, seed=1)[0]
    solve(instance, method=method, steps=2)  # compiles
    begun = time.monotonic()
    found = solve(instance, method=method, time_limit=0.5)
    assert found.stopped == "time"
    assert time.monotonic() - begun < 0.5 + 1.0 + 1.0  # the promise, and room for one slow step


def test_other_reasons_to_stop() -> None:
    instance = generate(4, seed=1)[0]
    best = solve(instance, method="n2s-a", steps=300).cost
    assert solve(instance, method="n2s-a", target=best, steps=2000).stopped == "target"
    assert solve(instance, method="n2s-a", no_improvement=20).stopped == "no improvement"
    assert solve(instance, method="n2s-a").steps == 1000


def test_patience_counts_from_the_last_better_route() -> None:
    """A copy that beats its own best without beating the best of all does not count."""
    instance = generate(12, seed=3)[0]
    found = solve(instance, method="n2s-a", no_improvement=15, steps=3000, augments=8)
    assert found.stopped == "no improvement"
    assert found.steps == found.history[-1].step + 15


@METHODS
def test_an_interrupt_ends_all_of_many(method: str) -> None:
    instances = [generate(n, seed=1)[0] for n in (4, 5, 6)]
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    found = solve_many(instances, method=method, time_limit=20)
    assert time.monotonic() - begun < 15
    assert [s.stopped for s in found] == ["interrupted"] * 3


def test_a_solution_that_was_changed_is_refused(tmp_path: Path) -> None:
    instance = generate(3, seed=1)[0]
    found = solve(instance, steps=20)
    path = tmp_path / "s.json"
    found.to_json(path)
    again = n2s.Solution.from_json(path, instance)
    assert (again.cost, again.seconds, again.history) == (
        pytest.approx(found.cost),
        found.seconds,
        found.history,
    )
    content = json.loads(path.read_text())
    for change, sentence in (
        ({"cost": 1.0}, "the file says cost 1"),
        ({"route": [0, 4, 1, 2, 5, 3, 6, 0]}, "the route is infeasible"),
        ({"record": None}, "no solution with its record"),
        ({"record": {**content["record"], "history": [["a", "b", "c"]]}}, "record of the solution"),
    ):
        path.write_text(json.dumps(content | change))
        with pytest.raises(InputError, match=sentence):
            n2s.Solution.from_json(path, instance)
    with pytest.raises(InputError, match="cannot be read"):
        n2s.Solution.from_json(tmp_path / "none.json", instance)


@METHODS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_returns_the_best_so_far(number: int, method: str) -> None:
    instance = generate(10, seed=1)[0]
    before = signal.getsignal(number)
    timer = threading.Timer(0.4, os.kill, (os.getpid(), number))
    timer.start()
    found = solve(instance, method=method, time_limit=30)
    assert found.stopped == "interrupted"
    assert found.seconds < 10
    assert evaluate(instance, found.route).feasible
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"method": "best"},
            r"the method is 'best', not one of auto, anneal, native, native\+n2s, n2s, n2s-a",
        ),
        ({"start": "middle"}, "the start is 'middle'"),
        ({"augments": 0}, "at least 1, not 0"),
        ({"method": "n2s", "augments": 5}, "augments belong to n2s-a"),
        ({"seed": -1}, "must not be negative"),
        ({"steps": -1}, "must not be negative"),
        ({"time_limit": 0}, "positive number of seconds"),
        ({"time_limit": float("nan")}, "positive number of seconds"),
        ({"no_improvement": 0}, "at least 1 step"),
        ({"steps": 1, "target": float("nan")}, "target cost is not a number"),
        ({"clip": 0.0}, "clip must be positive"),
        ({"steps": 2.5}, "whole number, not 2.5"),
        ({"seed": None}, "seed must be a whole number"),
        ({"augments": 2.5}, "augments must be a whole number"),
        ({"method": "n2s", "checkpoint": "nobody"}, "there is no checkpoint 'nobody'"),
        (
            {"checkpoint": "random"},
            r"checkpoint belongs to the methods n2s, n2s-a, native and native\+n2s, not to auto",
        ),
        ({"method": "anneal", "augments": 1}, "augments belongs to the methods .* not to anneal"),
        (
            {"method": "anneal", "start": "greedy"},
            r"start belongs to the methods n2s, n2s-a, native and native\+n2s",
        ),
        ({"method": "anneal", "clip": 6.0}, "clip belongs to the methods n2s and n2s-a"),
        (
            {"method": "n2s", "threads": 2},
            r"threads belongs to the methods auto, anneal, native and native\+n2s, not to n2s",
        ),
        ({"method": "n2s-a", "threads": 1}, r"auto, anneal, native and native\+n2s, not to n2s-a"),
        ({"native": "native-lifo"}, r"native belongs to the method native\+n2s, not to auto"),
        (
            {"method": "native", "every": 5},
            r"every belongs to the method native\+n2s, not to native",
        ),
        ({"method": "native+n2s", "every": 0}, "every must be at least 1 step, not 0"),
        ({"method": "native+n2s", "every": 2.5}, "every must be a whole number, not 2.5"),
        ({"method": "native+n2s"}, "the native policy has no weights for a network's scores"),
        ({"threads": 0}, "number of threads must be at least 1, not 0"),
        ({"threads": 1.5}, "threads must be a whole number, not 1.5"),
        ({"threads": True}, "threads must be a whole number, not True"),
        ({"initial": [0, 3, 1, 2, 4]}, "the initial route is infeasible"),
        ({"initial": [0, 9]}, "stop 9"),
    ],
)
def test_impossible_wishes_are_named_before_any_search(
    arguments: dict[str, object], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        solve(generate(2, seed=1)[0], **arguments)  # type: ignore[arg-type]


def test_a_checkpoint_of_another_variant_and_a_real_capacity_are_refused(tmp_path: Path) -> None:
    lifo = generate(5, seed=1, variant=Variant.LIFO)[0]
    with pytest.raises(InputError, match="tiny is for pdtsp, the instance is lifo"):
        solve(lifo, method="n2s", checkpoint=learned(tmp_path), steps=1)
    heavy = dataclasses.replace(lifo, capacity=3.0)
    with pytest.raises(UnsupportedError, match="less than all loads together"):
        solve(heavy, steps=1)
    assert solve(dataclasses.replace(lifo, capacity=5.0), steps=1).cost > 0


def test_the_judge_catches_a_search_that_lies() -> None:
    instance = generate(2, seed=1)[0]
    true = evaluate(instance, [1, 3, 2, 4])
    with pytest.raises(SearchError, match="claims cost"):
        verified(instance, true.nodes, true.cost * 0.9)
    with pytest.raises(SearchError, match="broke a rule"):
        verified(instance, [0, 3, 1, 2, 4], 1.0)


def test_the_public_names_are_there() -> None:
    assert n2s.solve is solve
    assert n2s.solve_many is solve_many
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        n2s.nothing  # noqa: B018

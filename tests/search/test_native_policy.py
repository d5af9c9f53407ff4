"""``solve`` with the native policy: judged, recorded, reproducible, and refused where it does not fit."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import n2s
from n2s.errors import InputError
from n2s.kernels.native_decisions import PARAMETERS
from n2s.native import NativePolicy, save
from n2s.native.parts import Part, only
from n2s.native.policy import untrained
from n2s.problem import Instance, Variant, evaluate, generate
from n2s.search.solve import SolveManyError, solve, solve_many


@pytest.fixture
def policy(variant: Variant, tmp_path: Path) -> Path:
    theta = np.random.default_rng(4).normal(0, 0.2, PARAMETERS)
    theta[only((Part.OUTLOOK, Part.BUILD))] = 0.0  # which long tours refuse
    save(NativePolicy(variant, theta), tmp_path / "policy.json")
    return tmp_path / "policy.json"


@pytest.mark.parametrize("n", [1, 2, 8, 30])
def test_a_search_improves_and_is_judged(n: int, policy: Path, variant: Variant) -> None:
    instance = generate(n, seed=3, variant=variant)[0]
    begin, found = (
        solve(instance, method="native", checkpoint=policy, start="random", steps=steps)
        for steps in (0, 900)
    )
    verdict = evaluate(instance, found.route)
    assert verdict.feasible
    assert verdict.cost == pytest.approx(found.cost)
    if n >= 8:
        assert found.cost < 0.7 * begin.cost
    assert (found.steps, found.stopped, found.method) == (900, "steps", "native")
    assert found.history[0].best == pytest.approx(begin.cost)
    assert found.history[-1].best == pytest.approx(found.cost)


def test_method_and_policy_are_recorded(policy: Path, variant: Variant, tmp_path: Path) -> None:
    instance = generate(4, seed=1, variant=variant)[0]
    found = solve(instance, method="native", checkpoint=str(policy), steps=50)
    name = f"native {n2s.native.load(policy).sha256[:12]}"
    assert (found.method, found.checkpoint) == ("native", name)
    found.to_json(tmp_path / "s.json")
    again = n2s.Solution.from_json(tmp_path / "s.json", instance)
    assert (again.method, again.checkpoint) == ("native", name)


@pytest.mark.parametrize("start", [None, "random", "greedy"])
@pytest.mark.parametrize("threads", [1, 2])
def test_steps_and_threads_give_the_same_again(
    threads: int, start: str | None, policy: Path, variant: Variant
) -> None:
    instance = generate(60, seed=5, variant=variant)[0]

    def find(seed: int) -> list[object]:
        found = solve(
            instance,
            method="native",
            checkpoint=policy,
            steps=501,
            seed=seed,
            threads=threads,
            start=start,
        )
        assert found.steps == 501
        return [found.route, found.cost]

    assert find(7) == find(7)
    assert find(7)[0] != find(8)[0]


def test_the_policy_decides(policy: Path, variant: Variant, tmp_path: Path) -> None:
    save(untrained(variant), tmp_path / "other.json")
    instance = generate(60, seed=5, variant=variant)[0]
    routes = [
        solve(instance, method="native", checkpoint=path, steps=500, threads=1).route
        for path in (policy, tmp_path / "other.json")
    ]
    assert routes[0] != routes[1]


def test_starts(policy: Path, variant: Variant) -> None:
    """A random tour is one; greedy is what there is without a wish."""
    instance = generate(30, seed=2, variant=variant)[0]
    costs = {
        start: solve(instance, method="native", checkpoint=policy, start=start, steps=0).cost
        for start in (None, "greedy", "random")
    }
    assert costs[None] == costs["greedy"] < 0.6 * costs["random"]


@pytest.mark.parametrize("start", [None, "random"])
def test_a_given_route_never_gets_worse(start: str | None, policy: Path, variant: Variant) -> None:
    instance = generate(12, seed=4, variant=variant)[0]
    good = solve(instance, steps=6000, threads=1)
    for steps in (0, 1, 30, 300):
        found = solve(
            instance,
            method="native",
            checkpoint=policy,
            initial=good.route,
            steps=steps,
            seed=9,
            start=start,
        )
        assert found.cost <= good.cost + 1e-12
        if steps == 0:
            assert found.route == good.route


@pytest.mark.parametrize("n", [2, 50])
def test_a_time_limit_is_kept(n: int, policy: Path, variant: Variant) -> None:
    instance = generate(n, seed=1, variant=variant)[0]
    solve(instance, method="native", checkpoint=policy, steps=2)  # compiles
    begun = time.monotonic()
    found = solve(instance, method="native", checkpoint=policy, time_limit=0.5)
    assert found.stopped == "time"
    assert 0.4 < time.monotonic() - begun < 0.5 + 1.0 + 1.0
    assert found.steps > 100


def test_many(policy: Path, variant: Variant) -> None:
    """Each as alone with one thread; those of another variant do not stop the others."""
    instances = generate(6, count=3, seed=1, variant=variant)
    other = next(v for v in Variant if v is not variant)
    with pytest.raises(
        SolveManyError, match=f"the policy is for {variant}, not for {other}"
    ) as caught:
        solve_many(
            [instances[0], generate(6, seed=1, variant=other)[0], *instances[1:]],
            method="native",
            checkpoint=policy,
            steps=200,
        )
    routes = [s.route for s in caught.value.solutions if s is not None]
    assert routes == [
        solve(i, method="native", checkpoint=policy, steps=200, threads=1).route for i in instances
    ]


def test_costs_are_the_users_own(policy: Path, variant: Variant) -> None:
    rng = np.random.default_rng(1)
    for instance in (
        Instance(coordinates=rng.random((11, 2)) * 5000 + 70_000, variant=variant),
        Instance(matrix=rng.random((11, 11)) * 9, open_end=True, variant=variant),
        Instance(matrix=np.zeros((11, 11)), variant=variant),
        Instance(matrix=rng.random((11, 11)) * 1e-60, variant=variant),
        Instance(matrix=np.where(rng.random((11, 11)) < 0.3, 1e50, 1.0), variant=variant),
    ):
        found = solve(instance, method="native", checkpoint=policy, start="random", steps=300)
        assert found.cost == pytest.approx(evaluate(instance, found.route).cost)


@pytest.mark.parametrize("most_matrix", [4000, 420])
def test_a_long_tour_with_and_without_a_matrix(
    most_matrix: int, policy: Path, variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("n2s.local.landscape.MOST_MATRIX", most_matrix)
    instance = generate(210, seed=1, variant=variant)[0]
    begin, found, again = (
        solve(instance, method="native", checkpoint=policy, steps=steps, threads=1)
        for steps in (0, 3000, 3000)
    )
    assert found.steps == 3000
    assert found.cost == pytest.approx(evaluate(instance, found.route).cost)
    assert evaluate(instance, found.route).feasible
    assert found.cost < 0.99 * begin.cost
    assert found.route == again.route


def test_a_long_tour_over_arcs_that_mean_never(policy: Path, variant: Variant) -> None:
    """Sums of changes would lose their digits: such a matrix is looked at as a whole."""
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random((421, 421)) < 0.1, 1e50, rng.random((421, 421)))
    instance = Instance(matrix=matrix, variant=variant)
    found = solve(instance, method="native", checkpoint=policy, steps=30, threads=1)
    assert found.cost == pytest.approx(evaluate(instance, found.route).cost)


def test_a_policy_that_does_not_fit(policy: Path, variant: Variant, tmp_path: Path) -> None:
    other = next(v for v in Variant if v is not variant)
    instance = generate(4, seed=1, variant=other)[0]
    with pytest.raises(InputError) as caught:
        solve(instance, method="native", checkpoint=policy, steps=5)
    assert str(caught.value) == f"{policy}: the policy is for {variant}, not for {other}"
    with pytest.raises(
        InputError, match=r"none.json: there is no such file, and the package has no"
    ):
        solve(instance, method="native", checkpoint=tmp_path / "none.json", steps=5)


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"augments": 2}, "augments belongs to the methods n2s and n2s-a, not to native"),
        ({"clip": 6.0}, "clip belongs to the methods n2s and n2s-a, not to native"),
        ({"start": "middle"}, "the start is 'middle', not one of random, greedy"),
    ],
)
def test_options_that_do_not_belong(
    wish: dict[str, object], sentence: str, policy: Path, variant: Variant
) -> None:
    with pytest.raises(InputError, match=sentence):
        solve(generate(2, variant=variant)[0], method="native", checkpoint=policy, **wish)  # type: ignore[arg-type]

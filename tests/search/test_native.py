"""``solve`` without a policy: the default."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import oracles
from n2s.errors import InputError
from n2s.native import find
from n2s.problem import Instance, Variant, evaluate, evaluate_nodes, generate
from n2s.search.options import Method, Options
from n2s.search.solve import SolveManyError, solve, solve_many
from n2s.search.tick import Tick

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)


@VARIANTS
@pytest.mark.parametrize("method", ["auto", "anneal", None])
def test_the_default_is_the_native_search(method: str | None, variant: Variant) -> None:
    instance = generate(25, seed=3, variant=variant)[0]
    named = {} if method is None else {"method": method}
    found = solve(instance, steps=3000, threads=1, **named)  # type: ignore[arg-type]
    again = solve(instance, steps=3000, threads=1, **named)  # type: ignore[arg-type]
    verdict = evaluate(instance, found.route)
    assert verdict.feasible
    assert verdict.cost == found.cost
    if method == "anneal" or variant is Variant.PDTSP:
        assert (found.method, found.checkpoint) == ("anneal", "")
    else:
        policy = find(None, variant)
        assert (found.method, found.checkpoint) == ("native", f"native {policy.sha256[:12]}")
    assert (found.steps, found.stopped) == (3000, "steps")
    assert found.cost == again.cost


@pytest.mark.parametrize(
    ("nodes", "variant", "method"),
    [
        (399, Variant.LIFO, "native"),
        (401, Variant.LIFO, "anneal"),
        (399, Variant.PDTSP, "anneal"),
        (401, Variant.PDTSP, "anneal"),
    ],
)
def test_what_auto_chooses(nodes: int, variant: Variant, method: str) -> None:
    instance = generate(nodes // 2, variant=variant)[0]
    assert solve(instance, steps=20, threads=1).method == method


@VARIANTS
@pytest.mark.parametrize("method", ["anneal", "native"])
@pytest.mark.parametrize(("size", "never"), [(21, 1e9), (21, 1e13), (21, 1e30), (401, 1e30)])
def test_arcs_that_mean_never(size: int, never: float, method: str, variant: Variant) -> None:
    """Sums that such an arc has passed through would have lost their digits, and so would a mean."""
    generator = np.random.default_rng(5)
    matrix = 1.0 + generator.random((size, size))
    matrix[generator.random((size, size)) < 0.3] = never
    instance = Instance(matrix=matrix, variant=variant)
    found = solve(instance, steps=3000, threads=1, method=method)
    verdict = evaluate(instance, found.route)
    assert verdict.feasible
    assert found.cost == verdict.cost < size * 2 < never


@VARIANTS
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_small_instances_are_solved_to_the_optimum(
    n: int, symmetric: bool, variant: Variant
) -> None:
    instance = generate(n, seed=n, variant=variant)[0]
    if not symmetric:
        matrix = np.random.default_rng(n).random((2 * n + 1, 2 * n + 1))
        instance = Instance(matrix=matrix, variant=variant)
    optimum = min(oracles.cost(instance.costs, tour) for tour in oracles.all_tours(n, variant))
    assert solve(instance, steps=1000).cost == pytest.approx(optimum)


@VARIANTS
@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_steps_and_threads_give_the_same_route(
    threads: int, variant: Variant
) -> None:
    instance = generate(60, seed=5, variant=variant)[0]
    first, again = (solve(instance, steps=201, seed=7, threads=threads) for _ in range(2))
    other = solve(instance, steps=201, seed=8, threads=threads)
    assert first.route == again.route
    assert first.steps == again.steps == 201
    assert other.route != first.route
    if threads == 1:
        assert [p[::2] for p in first.history] == [p[::2] for p in again.history]


@VARIANTS
@pytest.mark.parametrize("threads", [1, 2])
def test_the_history_falls_and_ends_at_the_cost(threads: int, variant: Variant) -> None:
    instance = generate(60, seed=2, variant=variant)[0]
    ticks = []
    found = solve(instance, steps=20_000, threads=threads, callback=ticks.append)
    assert found.history[0].step == 0
    assert found.history[-1].best == pytest.approx(found.cost)
    for before, after in itertools.pairwise(found.history):
        assert before.step < after.step <= 20_000
        assert before.seconds <= after.seconds
        # Rounding of the last bits is no improvement.
        assert after.best < before.best * (1 - 1e-12)
    assert len(found.history) > 2
    assert [tick.step for tick in ticks] == sorted(tick.step for tick in ticks)
    assert ticks[-1].step == 20_000
    assert ticks[-1].best == pytest.approx(found.cost)


@VARIANTS
def test_a_given_route_is_never_made_worse(variant: Variant) -> None:
    instance = generate(25, seed=4, variant=variant)[0]
    good = solve(instance, steps=20_000, threads=1)
    naive = [stop for request in range(1, 26) for stop in (request, request + 25)]
    for route in (good.route, naive):
        before = evaluate(instance, route).cost
        assert solve(instance, initial=route, steps=0).cost == before
        for steps in (1, 100, 3000):
            assert solve(instance, initial=route, steps=steps, seed=9).cost <= before
    assert good.cost < 0.5 * evaluate(instance, naive).cost


def test_reasons_to_stop() -> None:
    instance = generate(4, seed=1)[0]
    best = min(oracles.cost(instance.costs, tour) for tour in oracles.all_tours(4, Variant.PDTSP))
    assert solve(instance, target=best + 1e-9, no_improvement=10**6).stopped == "target"
    found = solve(instance, no_improvement=2000, threads=1)
    assert found.stopped == "no improvement"
    assert 2000 <= found.steps - found.history[-1].step < 3000
    assert solve(instance, steps=0).steps == 0
    assert solve(instance, threads=1).steps == 3000 * 4
    assert solve(instance, time_limit=60, steps=777).steps == 777
    assert solve(instance, time_limit=0.2).stopped == "time"


def test_time_that_was_over_before_gives_a_first_route() -> None:
    instance = generate(8, seed=1)[0]
    found = solve(instance, time_limit=1, started=time.monotonic() - 5)
    assert (found.stopped, found.steps) == ("time", 0)
    assert evaluate(instance, found.route).feasible


def test_all_places_the_same() -> None:
    for variant in Variant:
        instance = Instance(coordinates=np.zeros((9, 2)), variant=variant)
        found = solve(instance, steps=500)
        assert found.cost == 0
        assert evaluate(instance, found.route).feasible


def test_many_instances_get_what_each_would_get_alone() -> None:
    instances = [
        *generate(6, count=3, seed=1),
        *generate(3, count=2, seed=2, variant=Variant.LIFO),
        generate(1, seed=9)[0],
    ]
    seen: list[tuple[int, int]] = []
    for threads in (1, 2, None):
        seen.clear()
        together = solve_many(
            instances,
            steps=700,
            seed=4,
            threads=threads,
            callback=lambda done, of: seen.append((done, of)),
        )
        alone = [solve(instance, steps=700, seed=4, threads=1) for instance in instances]
        assert [s.route for s in together] == [s.route for s in alone]
        assert [s.steps for s in together] == [700] * 6
        assert [s.instance.name for s in together] == [i.name for i in instances]
        assert seen == [(done, 6) for done in range(1, 7)]
    methods = [*["anneal"] * 3, *["native"] * 2, "anneal"]
    assert [s.method for s in together] == methods
    assert [s.steps for s in solve_many(instances[:1] + instances[3:4])] == [18_000, 9_000]


@pytest.mark.parametrize("method", ["anneal", "n2s"])
@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("wish", [{"steps": -1}, {"time_limit": 0.0}, {"no_improvement": 0}])
def test_senseless_limits_for_many_are_bad_input_and_no_failed_instance(
    wish: dict[str, float], count: int, method: str
) -> None:
    with pytest.raises(InputError, match="must") as error:
        solve_many(generate(2, seed=1, count=2)[:count], method=method, **wish)  # type: ignore[arg-type]
    assert not isinstance(error.value, SolveManyError)


def test_threads_are_those_asked_for_or_all_this_process_may_use() -> None:
    assert Options(Method.AUTO, threads=3).cores == 3
    assert Options(Method.AUTO).cores == len(os.sched_getaffinity(0))


@VARIANTS
@pytest.mark.parametrize(
    ("requests", "options"),
    [
        (12, {"steps": 2500, "threads": 1}),
        (12, {"steps": 2500, "threads": 2}),
        (210, {"steps": 2500, "threads": 1}),
        (12, {"steps": 20, "method": "n2s-a"}),
    ],
)
def test_a_callback_is_told_the_best_tour(
    requests: int, options: dict[str, object], variant: Variant
) -> None:
    (instance,) = generate(requests, seed=1, variant=variant)
    ticks: list[Tick] = []
    solve(instance, callback=ticks.append, **options)  # type: ignore[arg-type]
    for tick in ticks[:: 1 + len(ticks) // 20]:
        assert tick.tour is not None
        verdict = evaluate_nodes(instance, tick.tour.tolist())
        assert verdict.feasible
        assert verdict.cost == pytest.approx(tick.best)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_callback_that_fails_ends_the_search(threads: int) -> None:
    def fail(tick: object) -> None:
        raise RuntimeError("no more")

    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="no more"):
        solve(generate(10, seed=1)[0], time_limit=100, threads=threads, callback=fail)
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_process_returns_the_best_so_far(threads: int) -> None:
    code = f"""
        import n2s
        told = []
        def tell(tick):
            if tick.step and not told:
                told.append(print("running", flush=True))
        instance = n2s.generate(30, seed=1)[0]
        found = n2s.solve(instance, time_limit=240, threads={threads}, callback=tell)
        assert n2s.evaluate(instance, found.route).feasible
        print(found.stopped, found.cost < found.history[0].best, found.steps > 0)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert printed == "interrupted True True\n"


def test_torch_stays_out_of_a_native_search() -> None:
    code = """
        import sys
        import n2s
        n2s.solve(n2s.generate(3, seed=1)[0], steps=10)
        n2s.solve_many(n2s.generate(3, seed=1, count=2), steps=10)
        print("numba" in sys.modules, "torch" in sys.modules)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert result.stdout == "True False\n"

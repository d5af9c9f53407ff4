from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s.errors import InputError
from n2s.problem import Instance, Variant, evaluate, evaluate_nodes, generate

ROOT2 = math.sqrt(2)


def test_the_optimum_of_the_tiny_instance(tiny: Instance, variant: Variant) -> None:
    instance = replace(tiny, variant=variant)
    best = min(oracles.all_tours(3, variant), key=lambda tour: evaluate_nodes(instance, tour).cost)
    evaluation = evaluate(instance, [0, 1, 2, 3, 6, 5, 4])
    assert evaluation.cost == pytest.approx(6 + 2 * ROOT2)
    if variant in (Variant.PDTSP, Variant.LIFO):
        assert evaluation.feasible
        assert evaluate_nodes(instance, best).cost == pytest.approx(evaluation.cost)


def test_the_table_of_stops(tiny: Instance) -> None:
    instance = replace(tiny, variant=Variant.LIFO, requests=("a", "b", "c"))
    evaluation = evaluate(instance, [1, 2, 3, 6, 5, 4])
    stops, stacks = evaluation.stops, list(evaluation.stacks())
    assert [stop.kind for stop in stops] == ["start", *["pickup"] * 3, *["delivery"] * 3, "end"]
    assert [stop.id for stop in stops] == [0, 1, 2, 3, 6, 5, 4, 0]
    assert [stop.request for stop in stops] == [None, "a", "b", "c", "c", "b", "a", None]
    assert [stop.leg for stop in stops] == pytest.approx([0, 1, 1, ROOT2, 1, ROOT2, 2, 1])
    assert stops[-1].cumulative == pytest.approx(6 + 2 * ROOT2)
    assert [stop.load for stop in stops] == [0, 1, 2, 3, 2, 1, 0, 0]
    assert stacks[3] == ("a", "b", "c")
    assert stacks[5] == ("a",)
    assert [stop.depth for stop in stops] == list(map(len, stacks)) == [0, 1, 2, 3, 2, 1, 0, 0]
    assert [stop.top for stop in stops] == [None, "a", "b", "c", "b", "a", None, None]
    assert set(replace(evaluation, instance=tiny).stacks()) == {()}  # where no order matters


@pytest.mark.parametrize(
    "route", [[1, 4, 2, 5, 3, 6], [0, 1, 4, 2, 5, 3, 6], [1, 4, 2, 5, 3, 6, 0]]
)
def test_the_depot_may_be_left_out_at_either_end(tiny: Instance, route: list[int]) -> None:
    evaluation = evaluate(tiny, route)
    assert evaluation.route == [0, 1, 4, 2, 5, 3, 6, 0]
    assert evaluation.feasible


def rules(instance: Instance, route: list[int]) -> list[tuple[str, object, tuple[int, ...]]]:
    found = evaluate(instance, route).violations
    return [(violation.rule, violation.request, violation.positions) for violation in found]


def test_violations_name_rule_request_and_positions(tiny: Instance) -> None:
    lifo = replace(tiny, variant=Variant.LIFO)
    assert rules(tiny, [0, 4, 1, 2, 5, 3, 6]) == [("precedence", 1, (2, 1))]
    # 1 is loaded below 2 (picked up at position 2) and comes off first, at position 3.
    assert rules(lifo, [0, 1, 2, 4, 5, 3, 6]) == [("lifo", 1, (1, 2, 3))]
    assert rules(tiny, [0, 1, 2, 4, 5, 3, 6]) == []
    assert rules(tiny, [0, 1, 4, 2, 5, 3]) == [("visit", 3, ())]
    assert rules(tiny, [0, 1, 4, 2, 5, 3, 6, 1]) == [("visit", 1, (1, 7))]
    assert rules(tiny, [0, 1, 4, 0, 2, 5, 3, 6]) == [("depot", None, (3,))]
    # A delivery without its pickup is one fault, not two.
    assert rules(tiny, [0, 4, 2, 5, 3, 6]) == [("visit", 1, ())]


def test_messages_speak_of_the_users_ids(tiny: Instance) -> None:
    instance = replace(tiny, variant=Variant.LIFO, requests=("sofa", "lamp", "desk"))
    violation = evaluate(instance, [0, 1, 2, 4, 5, 3, 6]).violations[0]
    assert violation.message == (
        "request 'sofa' is delivered at 3 while request 'lamp' (picked up at 2) has to go first"
    )


def test_capacity_counts_what_is_on_board(tiny: Instance) -> None:
    """Loads 2, 1, 2 and capacity 3: 1 and 2 fit together, 3 on top does not."""
    instance = replace(tiny, loads=np.array([2.0, 1.0, 2.0]), capacity=3.0)
    assert rules(instance, [0, 1, 2, 4, 3, 6, 5]) == []
    assert rules(instance, [0, 1, 2, 3, 6, 5, 4]) == [("capacity", 3, (3,))]


def test_an_unknown_stop_is_bad_input(tiny: Instance) -> None:
    with pytest.raises(InputError, match=r"stop 9 \(position 2\) is not a node of tiny"):
        evaluate(tiny, [0, 1, 9])


def test_open_routes_show_no_depot(tiny: Instance) -> None:
    route = [1, 2, 3, 6, 5, 4]
    instance = replace(tiny, open_start=True, open_end=True)
    evaluation = evaluate(instance, route)
    assert evaluation.route == route
    assert evaluation.cost == pytest.approx(4 + 2 * ROOT2)  # without the leg out and the leg back


def test_one_request(variant: Variant) -> None:
    instance = generate(1, seed=5, variant=variant)[0]
    evaluation = evaluate(instance, [0, 1, 2])
    assert evaluation.feasible
    assert evaluation.cost == pytest.approx(oracles.cost(instance.costs, [0, 1, 2]))
    assert [v.rule for v in evaluate(instance, [0, 2, 1]).violations] == ["precedence"]


@given(st.integers(1, 5), st.permutations(range(1, 11)), st.sampled_from(list(Variant)))
def test_feasible_exactly_when_the_oracle_says_so(
    n: int, order: list[int], variant: Variant
) -> None:
    tour = [0, *(node for node in order if node <= 2 * n)]
    instance = generate(n, seed=1, variant=variant)[0]
    assert evaluate(instance, tour).feasible == oracles.is_feasible(tour, n, variant)


@pytest.mark.parametrize(
    ("loads", "capacity"),
    [([5e9, 5.0], 5e9), ([1e-10, 1e-10], 1e-10), ([1e16, 1e5], 1e16), ([1.0, 1e-9], 1.0)],
)
def test_no_overload_is_small_enough_to_pass(loads: list[float], capacity: float) -> None:
    instance = Instance(coordinates=np.zeros((5, 2)), loads=np.array(loads), capacity=capacity)
    assert rules(instance, [1, 2, 3, 4]) == [("capacity", 2, (2,))]
    assert rules(instance, [1, 3, 2, 4]) == []


def test_loads_are_added_up_as_people_do() -> None:
    """0.1 + 0.2 exceeds 0.3 in floating point, and after 1e16 + 1 - 1e16 the 1 is still there."""
    instance = Instance(coordinates=np.zeros((5, 2)), loads=np.array([0.1, 0.2]), capacity=0.3)
    assert rules(instance, [1, 2, 3, 4]) == []
    instance = Instance(coordinates=np.zeros((5, 2)), loads=np.array([1e16, 1.0]))
    assert [stop.load for stop in evaluate(instance, [1, 2, 3, 4]).stops][3] == 1.0


def test_a_deep_stack_takes_no_square_of_memory() -> None:
    n = 10_000
    instance = generate(n, variant=Variant.LIFO)[0]
    tracemalloc.start()
    evaluation = evaluate_nodes(instance, [*range(n + 1), *range(2 * n, n, -1)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert evaluation.feasible
    assert (evaluation.stops[n].depth, evaluation.stops[n].top) == (n, n)
    assert peak < 50e6


def test_the_end_may_be_named_after_nothing_else() -> None:
    instance = Instance(coordinates=np.zeros((3, 2)), end=np.ones(2), end_id="home")
    assert evaluate(instance, [0, 1, 2, "home"]).feasible
    with pytest.raises(InputError, match="stop 'home'"):
        evaluate(instance, ["home", 1, 2])

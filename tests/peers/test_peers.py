"""The real peers on problems small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.peers import PEERS, PeerFailed, PeerSolution, PeerUnable, solve
from n2s.problem import Instance, Rounding, Variant, generate
from oracles import all_tours, cost

LIMIT = 240.0  # of the wall clock, for a machine that is busy with other things
LIFO = ("lkh", "ortools")
MATRIX = ("lkh", "hgs", "ortools", "vroom", "pyvrp")


def best(instance: Instance) -> float:
    return min(
        cost(instance.costs, tour) for tour in all_tours(instance.n, Variant(instance.variant))
    )


def ask(instance: Instance, name: str) -> PeerSolution:
    """With a budget that is enough for a handful of stops."""
    if name == "lkh":  # which spends all its seconds, even on one request
        return solve(instance, name, trials=20, limit=LIMIT)
    return solve(instance, name, seconds=1, limit=LIMIT)


@pytest.mark.parametrize("name", list(PEERS))
def test_pdtsp(name: str) -> None:
    instance = generate(3, seed=3)[0]
    found = solve(instance, name, seconds=1, limit=LIMIT)
    assert found.cost >= best(instance) - 1e-9
    if name != "ruin-recreate":  # which may end in a local optimum
        assert found.cost == pytest.approx(best(instance))
    assert found.record["software"] != ""


@pytest.mark.parametrize("name", list(PEERS))
def test_lifo(name: str) -> None:
    instance = generate(3, seed=1, variant=Variant.LIFO)[0]
    assert best(instance) > best(generate(3, seed=1)[0])  # the stack matters here
    if name in LIFO:
        found = ask(instance, name)
        assert found.cost == pytest.approx(best(instance))
    else:
        with pytest.raises(PeerUnable, match="cannot do lifo"):
            solve(instance, name, seconds=1)


@pytest.mark.parametrize("name", list(PEERS))
def test_an_asymmetric_matrix(name: str) -> None:
    matrix = np.random.default_rng(5).integers(1, 1000, (7, 7))
    instance = Instance(matrix=matrix)
    if name in MATRIX:
        found = ask(instance, name)
        assert found.cost >= best(instance)
        if name != "hgs":  # which is made for symmetric ones
            assert found.cost == best(instance)
        assert found.record["scale"] == 1.0
    else:
        with pytest.raises(PeerUnable, match="reads coordinates only"):
            solve(instance, name, seconds=1)


@pytest.mark.parametrize("name", LIFO)
def test_an_asymmetric_matrix_with_a_stack(name: str) -> None:
    matrix = np.random.default_rng(6).random((7, 7))
    instance = Instance(matrix=matrix, variant=Variant.LIFO, open_end=True)
    assert ask(instance, name).cost == pytest.approx(best(instance))


@pytest.mark.parametrize("rounding", [Rounding.NEAREST, Rounding.UP])
@pytest.mark.parametrize("name", list(PEERS))
def test_rounded_distances(name: str, rounding: Rounding) -> None:
    points = np.random.default_rng(7).random((7, 2)) * 30
    instance = Instance(coordinates=points, rounding=rounding)
    if name == "ruin-recreate" and rounding is Rounding.UP:
        with pytest.raises(PeerUnable):
            solve(instance, name, seconds=1)
        return
    found = ask(instance, name)
    assert found.record["scale"] == 1.0
    assert found.cost == int(found.cost)
    if name != "ruin-recreate":
        assert found.cost == best(instance)


@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if peer.takes_trials])
def test_trials(name: str) -> None:
    instance = generate(5, seed=1)[0]
    found = solve(instance, name, trials=20, limit=LIMIT)
    assert (found.steps, found.stopped) == (20, "steps")


@pytest.mark.parametrize("name", [name for name in PEERS if name != "hgs"])
def test_one_request(name: str) -> None:
    """The program behind hgs crashes on it."""
    found = ask(generate(1, seed=1)[0], name)
    assert found.route == [0, 1, 2, 0]


def test_a_budget_too_small_for_any_route() -> None:
    instance = generate(50, seed=1, variant=Variant.LIFO)[0]
    with pytest.raises(PeerFailed, match="lkh found no feasible route within its budget") as caught:
        solve(instance, "lkh", trials=1, limit=LIMIT)
    assert caught.value.kind == "infeasible"

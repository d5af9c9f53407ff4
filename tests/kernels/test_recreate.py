"""Cheapest places against all places, and the tour that is changed in place against a rebuilt one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s import kernels
from n2s.kernels.recreate import cheapest_allowed, cheapest_anywhere, open_gaps, recreate
from n2s.kernels.rules import gap_labels
from n2s.problem import Variant, random_tours

CASES = pytest.mark.parametrize(
    ("n", "symmetric"), list(itertools.product([1, 2, 5, 25], [True, False]))
)


def draw_costs(n: int, symmetric: bool, rng: np.random.Generator) -> np.ndarray:
    costs = rng.random((2 * n + 1, 2 * n + 1))
    return costs + costs.T if symmetric else costs


def arcs_of(costs: np.ndarray, rest: list[int]) -> list[float]:
    return [float(costs[a, b]) for a, b in zip(rest, [*rest[1:], rest[0]], strict=True)]


def spare(
    costs: np.ndarray, rest: list[int], dtype: type = np.int64
) -> tuple[np.ndarray, np.ndarray]:
    """``rest`` and its arcs in arrays with room for one more request, and nonsense in it."""
    size = len(rest) + 2
    nodes, arcs = np.full(size, 10**6, dtype), np.full(size, np.nan)
    nodes[: len(rest)] = rest
    arcs[: len(rest)] = arcs_of(costs, rest)
    return nodes, arcs


def cheapest(
    variant: Variant, costs: np.ndarray, reach: np.ndarray, rest: list[int], request: int
) -> tuple[int, int]:
    n = len(rest) // 2 + 1
    nodes, arcs = spare(costs, rest)
    ends = request, request + n
    if variant is Variant.PDTSP:
        return cheapest_anywhere(reach, costs, nodes, arcs, len(rest), *ends)
    labels = np.full((2, len(nodes)), -1)
    scratch = np.empty(n + 1, np.int64)
    gap_labels(variant.code, nodes[: len(rest)], n, labels[0], labels[1], scratch)
    return cheapest_allowed(
        reach, costs, nodes, arcs, len(rest), *ends, labels[0], labels[1], np.empty(n + 1), scratch
    )


@CASES
def test_the_cheapest_of_all_places(n: int, symmetric: bool, variant: Variant) -> None:
    rng = np.random.default_rng([n, symmetric])
    costs = draw_costs(n, symmetric, rng)
    reach = np.ascontiguousarray(costs.T)
    for tour in random_tours(n, variant, 6, rng):
        request = int(rng.integers(1, n + 1))
        rest = oracles.without(tour.tolist(), request)
        changes = oracles.reinsertion_changes(costs, rest, request, variant)
        place = cheapest(variant, costs, reach, rest, request)
        assert changes[place] == pytest.approx(min(changes.values()), abs=1e-12)
        j, k, change = kernels.best_reinsertion(
            variant.code, costs[None], np.array([rest]), np.array([request])
        )
        assert place == (j[0], k[0])
        assert changes[place] == pytest.approx(change[0], abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_guide_moves_the_cheapest_place(n: int, variant: Variant) -> None:
    """Terms for a node right behind another: for a delivery that may be its own pickup."""
    rng = np.random.default_rng(n)
    costs = draw_costs(n, False, rng)
    other = 0
    for tour in random_tours(n, variant, 20, rng):
        request = int(rng.integers(1, n + 1))
        terms = rng.normal(size=(2 * n + 1, 2 * n + 1))  # of the node behind (row) by node (column)
        rest = oracles.without(tour.tolist(), request)
        plain = oracles.reinsertion_changes(costs, rest, request, variant)
        guided = {}
        for j, k in plain:
            built = oracles.reinserted(rest, request, j, k)
            before = [built[built.index(node) - 1] for node in (request, request + n)]
            guided[j, k] = plain[j, k] + terms[request, before[0]] + terms[request + n, before[1]]
        reach = np.ascontiguousarray(costs.T + terms)
        place = cheapest(variant, costs, reach, rest, request)
        assert place == min(guided, key=guided.__getitem__)
        other += place != min(plain, key=plain.__getitem__)
    assert other > 0 or n == 1  # one request has one place


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_labels_of_another_rule(seed: int, n: int) -> None:
    """First in, first out: as many pickups before the pickup as deliveries before the delivery."""
    rng = np.random.default_rng(seed)
    order = random_tours(n, Variant.PDTSP, 1, rng)[0]
    waiting = iter([int(node) + n for node in order if 0 < node <= n])
    tour = [int(node) if node <= n else next(waiting) for node in order]
    request = int(rng.integers(1, n + 1))
    rest = oracles.without(tour, request)
    costs = draw_costs(n, False, rng)
    changes = {
        (j, k): oracles.cost(costs, built) - oracles.cost(costs, rest)
        for j in range(len(rest))
        for k in range(j, len(rest))
        for built in [oracles.reinserted(rest, request, j, k)]
        if [node for node in built if node > n] == [node + n for node in built if 0 < node <= n]
    }
    nodes, arcs = spare(costs, rest)
    pickups = np.cumsum([0 < node <= n for node in rest])
    deliveries = np.cumsum([node > n for node in rest])
    scratch = np.empty(n + 1), np.empty(n + 1, np.int64)
    place = cheapest_allowed(
        np.ascontiguousarray(costs.T),
        costs,
        nodes,
        arcs,
        len(rest),
        request,
        request + n,
        pickups,
        deliveries,
        *scratch,
    )
    assert changes[place] == pytest.approx(min(changes.values()), abs=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_opening_gaps_keeps_nodes_and_arcs_together(n: int, dtype: type) -> None:
    rng = np.random.default_rng(n)
    costs = draw_costs(n, False, rng)
    request = n
    rest = oracles.without(random_tours(n, Variant.PDTSP, 1, rng)[0].tolist(), request)
    for j in range(len(rest)):
        for k in range(j, len(rest)):
            nodes, arcs = spare(costs, rest, dtype)
            change = open_gaps(costs, nodes, arcs, len(rest), request, request + n, j, k)
            built = oracles.reinserted(rest, request, j, k)
            assert nodes.tolist() == built
            assert arcs.tolist() == arcs_of(costs, built)
            assert change == pytest.approx(
                oracles.cost(costs, built) - oracles.cost(costs, rest), abs=1e-12
            )


@CASES
def test_several_requests_go_back_one_after_the_other(
    n: int, symmetric: bool, variant: Variant
) -> None:
    rng = np.random.default_rng([n, symmetric, 9])
    costs = draw_costs(n, symmetric, rng)
    reach = np.ascontiguousarray(costs.T)
    for count in sorted({1, (n + 1) // 2, n}):
        tour = random_tours(n, variant, 1, rng)[0].tolist()
        out = rng.permutation(n)[:count] + 1
        gone = {*out.tolist(), *(out + n).tolist()}
        rest = [node for node in tour if node not in gone]
        nodes, arcs = np.full(2 * n + 1, 10**6), np.full(2 * n + 1, np.nan)
        nodes[: len(rest)], arcs[: len(rest)] = rest, arcs_of(costs, rest)
        change = recreate(
            variant.code,
            reach,
            costs,
            nodes,
            arcs,
            len(rest),
            out,
            count,
            n,
            np.zeros((2, 2 * n + 1), np.int64),
            np.empty(n + 1),
            np.zeros(n + 1, np.int64),
        )
        built = rest
        for request in out.tolist():
            built = cheapest_of_a_part(costs, built, request, n, variant)
        assert nodes.tolist() == built
        assert oracles.is_feasible(built, n, variant)
        assert arcs == pytest.approx(arcs_of(costs, built))
        assert change == pytest.approx(oracles.cost(costs, built) - oracles.cost(costs, rest))


def cheapest_of_a_part(
    costs: np.ndarray, rest: list[int], request: int, n: int, variant: Variant
) -> list[int]:
    """A tour of some requests with one more at its cheapest place, by trying all."""
    choices = []
    for j in range(len(rest)):
        for k in range(j, len(rest)):
            built = [*rest[: j + 1], request, *rest[j + 1 : k + 1], request + n, *rest[k + 1 :]]
            stack: list[int] = []
            for node in built[1:]:
                if node <= n:
                    stack.append(node)
                elif node - n in variant.deliverable(stack):
                    stack.remove(node - n)
                else:
                    break
            else:
                choices.append((oracles.cost(costs, built), built))
    return min(choices)[1]

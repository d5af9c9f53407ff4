"""The linked tour and its chain against plain lists, the dense kernels and the judge."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

import oracles
from n2s import kernels
from n2s.kernels.legs import nearest_stops, plane, route_cost, similar_requests
from n2s.kernels.linked_chain import anneal_links, run_linked_chain
from n2s.kernels.linked_change import new_log, put_request, take_request, undo
from n2s.kernels.linked_list import SPAN, new_links, read_tour, write_tour
from n2s.kernels.linked_recreate import cheapest_place, new_places
from n2s.problem import Instance, Metric, Rounding, Variant, evaluate_nodes, generate, random_tours

NONE = np.zeros(0)
SIZES = pytest.mark.parametrize("n", [1, 2, 3, 5, 25, 150])


@njit
def linked(variant, legs, tour, span):
    links = new_links(len(tour), span)
    read_tour(links, variant, legs, tour)
    return links


def order(links) -> list[int]:
    """The tour of the links forwards; backwards it must be the same."""
    succ, pred = links.succ.tolist(), links.pred.tolist()
    nodes, back = [0], [0]
    while succ[nodes[-1]] != 0:
        nodes.append(succ[nodes[-1]])
    while pred[back[-1]] != 0:
        back.append(pred[back[-1]])
    assert nodes == [0, *back[:0:-1]]
    return nodes


def check(links, legs, variant: Variant) -> None:
    """Keys, costs and labels are those of the tour, on which some requests may be missing."""
    n = len(links.succ) // 2
    nodes = order(links)
    keys = links.key[nodes]
    assert keys[0] == 0
    assert (np.diff(keys) > 0).all()
    assert keys[-1] < links.span[0]
    assert ((links.key < 0) == ~np.isin(np.arange(2 * n + 1), nodes)).all()
    stack = [0]
    for node, behind in zip(nodes, [*nodes[1:], 0], strict=True):
        assert links.arc[node] == legs[node, behind]
        if variant is Variant.LIFO:
            if node > n:
                assert stack.pop() == node - n
            elif node > 0:
                stack.append(node)
        assert links.top[node] == stack[-1]


def inserted(rest: list[int], request: int, j: int, k: int, n: int) -> list[int]:
    """``oracles.reinserted`` for a tour on which other requests may be missing too."""
    return [*rest[: j + 1], request, *rest[j + 1 : k + 1], request + n, *rest[k + 1 :]]


def gaps_beside(node: int, near: np.ndarray, rest: list[int]) -> set[int]:
    """The gaps behind and before the nearest stops of a node and the depot."""
    here = {rest.index(stop) for stop in [0, *near[node].tolist()] if stop in rest}
    return here | {(gap - 1) % len(rest) for gap in here}


def state(seed: int) -> np.ndarray:
    return np.array([seed], np.uint64)


def problem(n: int, variant: Variant, symmetric: bool):
    """Costs, a random tour and its cost twice (current and best)."""
    rng = np.random.default_rng([n, symmetric])
    matrix = generate(n, seed=n)[0].costs if symmetric else rng.random((2 * n + 1, 2 * n + 1))
    matrix = np.array(matrix)
    tour = random_tours(n, variant, 1, rng)[0]
    return matrix, tour, np.full(2, oracles.cost(matrix, tour.tolist()))


def anneal(variant, legs, tour, best, costs, seed, iterations, temperature, cooling=1.0, largest=5):
    n = len(tour) // 2
    return run_linked_chain(
        variant.code,
        legs,
        nearest_stops(legs, 10),
        similar_requests(legs, n, 10),
        NONE,
        tour,
        best,
        costs,
        seed,
        iterations,
        temperature,
        cooling,
        largest,
    )


@SIZES
def test_links_are_the_tour(n: int, variant: Variant) -> None:
    matrix, tour, _ = problem(n, variant, False)
    links = linked(variant.code, matrix, tour, SPAN)
    check(links, matrix, variant)
    assert order(links) == tour.tolist()
    written = np.empty_like(tour)
    write_tour(links.succ, written)
    assert (written == tour).all()


@pytest.mark.parametrize("span", [SPAN, 64, 16])
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_changes_are_those_of_plain_lists_and_are_undone(
    n: int, span: int, variant: Variant
) -> None:
    """Requests out and in at random places; with little room for keys, which are dealt anew then."""
    rng = np.random.default_rng([n, 1])
    matrix, tour, _ = problem(n, variant, False)
    links = linked(variant.code, matrix, tour, span)
    for round_ in range(60):
        before, labels = order(links), links.top.copy()
        deals = links.span[1]
        log = new_log(n)
        out = rng.permutation(n)[: rng.integers(1, n + 1)] + 1
        nodes, cost = before, oracles.cost(matrix, before)
        for index, request in enumerate(out.tolist()):
            change = take_request(
                variant.code, links, matrix, np.uint32(request), np.uint32(request + n), log, index
            )
            # oracles.without wants whole tours
            nodes = [node for node in nodes if node not in (request, request + n)]
            assert order(links) == nodes
            assert oracles.cost(matrix, nodes) == pytest.approx(cost + change)
            cost += change
            check(links, matrix, variant)
        for index, request in enumerate(out.tolist()):
            places = [
                (j, k)
                for j in range(len(nodes))
                for k in range(j, len(nodes))
                if variant is Variant.PDTSP or links.top[nodes[j]] == links.top[nodes[k]]
            ]
            j, k = places[rng.integers(len(places))]
            change = put_request(
                variant.code,
                links,
                matrix,
                np.uint32(request),
                np.uint32(request + n),
                np.uint32(nodes[j]),
                np.uint32(nodes[k]),
                log,
                index,
            )
            nodes = inserted(nodes, request, j, k, n)
            assert order(links) == nodes
            assert oracles.cost(matrix, nodes) == pytest.approx(cost + change)
            cost += change
            check(links, matrix, variant)
        assert oracles.is_feasible(nodes, n, variant)
        if round_ % 2:
            undo(variant.code, links, out, len(out), n, log, deals)
            assert order(links) == before
            assert (links.top == labels).all()
            check(links, matrix, variant)
    if span <= 16 and n == 7:
        assert links.span[1] > 5


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 12])
def test_with_all_stops_near_the_place_is_the_cheapest_of_all(
    n: int, symmetric: bool, variant: Variant
) -> None:
    for seed in range(12):
        matrix, _, _ = problem(n, variant, symmetric)
        tour = random_tours(n, variant, 1, np.random.default_rng([n, seed]))[0]
        near = nearest_stops(matrix, 2 * n)
        links = linked(variant.code, matrix, tour, SPAN)
        places = new_places(n, near.shape[1])
        for request in range(1, n + 1):
            nodes = order(links)
            pickup, delivery = np.uint32(request), np.uint32(request + n)
            log = new_log(n)
            take_request(variant.code, links, matrix, pickup, delivery, log, 0)
            rest = np.array([oracles.without(nodes, request)])
            _, _, expected = kernels.best_reinsertion(
                variant.code, matrix[None], rest, np.array([request])
            )
            j, k = cheapest_place(variant.code, links, matrix, near, pickup, delivery, places)
            change = put_request(variant.code, links, matrix, pickup, delivery, j, k, log, 0)
            assert change == pytest.approx(expected[0], abs=1e-12)
            assert oracles.is_feasible(order(links), n, variant)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_with_few_stops_near_the_place_is_the_cheapest_of_their_gaps(
    width: int, variant: Variant
) -> None:
    """Never dearer than any allowed pair of gaps beside the nearest stops and the depot."""
    n = 9
    for seed in range(12):
        rng = np.random.default_rng([width, seed])
        matrix = rng.random((2 * n + 1, 2 * n + 1))
        near = nearest_stops(matrix, width)
        links = linked(variant.code, matrix, random_tours(n, variant, 1, rng)[0], SPAN)
        log = new_log(n)
        out = rng.permutation(n)[:4] + 1
        for index, request in enumerate(out.tolist()):
            take_request(
                variant.code, links, matrix, np.uint32(request), np.uint32(request + n), log, index
            )
        rest = order(links)
        request = int(out[0])
        ours, theirs = gaps_beside(request, near, rest), gaps_beside(request + n, near, rest)
        tops = links.top[rest]
        added = {
            (j, k): oracles.cost(matrix, inserted(rest, request, j, k, n))
            - oracles.cost(matrix, rest)
            for j in range(len(rest))
            for k in range(j, len(rest))
            if variant is Variant.PDTSP or tops[j] == tops[k]
        }
        expected = min(
            cost
            for (j, k), cost in added.items()
            if (j in ours and k in theirs) or (j == k and j in ours | theirs)
        )
        j, k = cheapest_place(
            variant.code,
            links,
            matrix,
            near,
            np.uint32(request),
            np.uint32(request + n),
            new_places(n, near.shape[1]),
        )
        found = added[rest.index(j), rest.index(k)]
        if variant is Variant.PDTSP:
            assert found == pytest.approx(expected)
        else:  # which looks along the levels too
            assert found <= expected + 1e-12


@pytest.mark.parametrize("symmetric", [True, False])
@SIZES
def test_tours_stay_feasible_and_costs_exact(n: int, symmetric: bool, variant: Variant) -> None:
    matrix, tour, costs = problem(n, variant, symmetric)
    best, first = tour.copy(), costs[1]
    generator, temperature = state(n), 0.1
    for _ in range(40):
        known = costs[1]
        temperature = anneal(
            variant, matrix, tour, best, costs, generator, 7, temperature, 0.99, largest=n + 2
        )
        for nodes, cost in ((tour, costs[0]), (best, costs[1])):
            assert oracles.is_feasible(nodes.tolist(), n, variant)
            assert cost == pytest.approx(oracles.cost(matrix, nodes.tolist()), rel=1e-9)
        assert costs[1] <= min(known, costs[0]) * (1 + 1e-12)
    assert temperature == pytest.approx(0.1 * 0.99**280)
    if n >= 5:
        assert costs[1] < first


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"metric": Metric.GREAT_CIRCLE, "rounding": Rounding.NEAREST},
        {"open_start": True, "open_end": True},
        {"end": np.array([0.0, 1.0]), "metric": Metric.MANHATTAN},
    ],
    ids=["plain", "rounded", "open", "end"],
)
def test_the_judge_agrees(given, variant: Variant) -> None:
    points = np.random.default_rng(4).random((41, 2))
    instance = Instance(coordinates=points, variant=variant, **given)
    legs = plane(instance)
    tour = random_tours(20, variant, 1, np.random.default_rng(4))[0]
    best, costs = tour.copy(), np.full(2, route_cost(legs, tour))
    first = costs[0]
    anneal(variant, legs, tour, best, costs, state(1), 400, 0.02 * first / 41)
    for nodes, cost in ((tour, costs[0]), (best, costs[1])):
        verdict = evaluate_nodes(instance, nodes.tolist())
        assert verdict.feasible
        assert verdict.cost == pytest.approx(cost, rel=1e-9)
    assert costs[1] < 0.7 * first


def test_plane_and_matrix_walk_the_same_way(variant: Variant) -> None:
    instance = generate(30, seed=2, variant=variant)[0]
    found = []
    for legs in (plane(instance), np.array(instance.costs)):
        tour = random_tours(30, variant, 1, np.random.default_rng(2))[0]
        best, costs = tour.copy(), np.full(2, route_cost(legs, tour))
        anneal(variant, legs, tour, best, costs, state(5), 500, 0.05)
        found.append((tour.tolist(), best.tolist(), costs.tolist()))
    assert found[0] == found[1]


def test_the_state_decides(variant: Variant) -> None:
    matrix, start, first = problem(25, variant, True)
    found = []
    for seed in (7, 7, 8):
        tour, best, costs, generator = start.copy(), start.copy(), first.copy(), state(seed)
        anneal(variant, matrix, tour, best, costs, generator, 300, 0.05)
        found.append((tour.tolist(), best.tolist(), costs.tolist(), generator.tolist()))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_what_is_rejected_leaves_no_trace(variant: Variant) -> None:
    """Temperature 0 and a tour that cannot be improved: it is still there after hundreds of iterations."""
    instance = generate(4, seed=3, variant=variant)[0]
    costs = instance.costs
    optimum = np.array(min(oracles.all_tours(4, variant), key=lambda t: oracles.cost(costs, t)))
    tour, best = optimum.copy(), optimum.copy()
    both = np.full(2, oracles.cost(costs, optimum.tolist()) - 1e-9)  # not even a draw is accepted
    anneal(variant, plane(instance), tour, best, both, state(1), 500, 0.0, largest=4)
    assert (tour == optimum).all()
    assert (best == optimum).all()


def test_temperature_zero_never_climbs(variant: Variant) -> None:
    matrix, tour, costs = problem(25, variant, False)
    best = tour.copy()
    generator = state(3)
    for _ in range(20):
        known = costs[0]
        anneal(variant, matrix, tour, best, costs, generator, 10, 0.0)
        assert costs[0] <= known + 1e-12
        assert costs[0] == pytest.approx(costs[1])


def test_a_best_tour_that_is_not_the_current_one_is_kept(variant: Variant) -> None:
    """Hot iterations from a bad tour do not reach a good one that was known before."""
    matrix, tour, costs = problem(25, variant, True)
    best = tour.copy()
    anneal(variant, matrix, tour, best, costs, state(1), 3000, 0.01)
    kept = best.copy()
    other = random_tours(25, variant, 1, np.random.default_rng(9))[0]
    costs = np.array([oracles.cost(matrix, other.tolist()), costs[1]])
    anneal(variant, matrix, other, best, costs, state(2), 50, 10.0)
    assert (best == kept).all()
    assert costs[1] == pytest.approx(oracles.cost(matrix, kept.tolist()))
    assert costs[0] > costs[1]


def test_room_for_keys_does_not_matter(variant: Variant) -> None:
    """Keys dealt anew all the time, or hardly ever: the same walk."""
    matrix, start, first = problem(25, variant, True)
    near, alike = nearest_stops(matrix, 10), similar_requests(matrix, 25, 10)
    found = []
    for span in (SPAN, 51, 200):
        tour, best, costs = start.copy(), start.copy(), first.copy()
        anneal_links(
            variant.code,
            matrix,
            near,
            alike,
            NONE,
            tour,
            best,
            costs,
            state(1),
            400,
            0.05,
            1.0,
            9,
            span,
        )
        found.append((tour.tolist(), best.tolist(), costs.tolist()))
    assert found[0] == found[1] == found[2]


def test_removal_scores_are_obeyed(variant: Variant) -> None:
    """Only request 2 is ever a seed, and one is taken out at a time: the others keep their order."""
    matrix, tour, costs = problem(6, variant, True)
    start, best = tour.copy(), tour.copy()
    cumulative = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    near, alike = nearest_stops(matrix, 10), similar_requests(matrix, 6, 10)
    run_linked_chain(
        variant.code, matrix, near, alike, cumulative, tour, best, costs, state(1), 50, 1.0, 1.0, 1
    )
    assert oracles.without(tour.tolist(), 2) == oracles.without(start.tolist(), 2)

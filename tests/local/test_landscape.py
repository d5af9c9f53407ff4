from __future__ import annotations

import numpy as np
import pytest

import oracles
from n2s.local import Settings, ShortTours, landscape_of
from n2s.local.landscape import NEIGHBOURS
from n2s.problem import Instance, Variant, generate, random_tour
from n2s.search.solve import solve

CASES = pytest.mark.parametrize("n", [1, 2, 5, 30])
SYMMETRIC = pytest.mark.parametrize("symmetric", [True, False])


def make(n: int, symmetric: bool, variant: Variant = Variant.PDTSP) -> Instance:
    if symmetric:
        return generate(n, seed=n, variant=variant)[0]
    matrix = np.random.default_rng(n).random((2 * n + 1, 2 * n + 1))
    return Instance(matrix=matrix, variant=variant)


@CASES
@SYMMETRIC
def test_neighbours_by_trying_all(n: int, symmetric: bool) -> None:
    """There and back counts, so that one-way streets are far both ways; the depot is nobody's."""
    instance = make(n, symmetric)
    land = landscape_of(instance)
    costs = instance.costs
    stops = range(1, 2 * n + 1)
    for node in range(2 * n + 1):
        away = {v: costs[node, v] + costs[v, node] for v in stops if v != node}
        nearest = sorted(away, key=away.__getitem__)[: min(NEIGHBOURS, 2 * n - 1)]
        assert land.near[node].tolist() == nearest
    for request in range(1, n + 1):
        apart = {
            r: costs[request, r]
            + costs[r, request]
            + costs[request + n, r + n]
            + costs[r + n, request + n]
            for r in range(1, n + 1)
            if r != request
        }
        assert land.alike[request].tolist() == sorted(apart, key=apart.__getitem__)[:NEIGHBOURS]


@CASES
@SYMMETRIC
def test_costs_are_those_of_the_instance(n: int, symmetric: bool, variant: Variant) -> None:
    instance = make(n, symmetric, variant)
    land = landscape_of(instance)
    assert (land.n, land.size, land.variant) == (n, 2 * n + 1, variant)
    rng = np.random.default_rng(1)
    for _ in range(5):
        tour = random_tour(n, variant, rng)
        assert land.cost(tour) == pytest.approx(oracles.cost(instance.costs, tour.tolist()))
        start = land.start(rng)
        assert oracles.is_feasible(start.tolist(), n, variant)


@CASES
@SYMMETRIC
def test_children_are_tours_and_parents_stay(n: int, symmetric: bool, variant: Variant) -> None:
    land = landscape_of(make(n, symmetric, variant))
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(40):
        a, b = (random_tour(n, variant, rng) for _ in range(2))
        before = a.tolist(), b.tolist()
        child = land.child(a, b, rng).tolist()
        assert oracles.is_feasible(child, n, variant)
        assert (a.tolist(), b.tolist()) == before
        seen.add(child not in before)
    assert (True in seen) == (n > 1)


@SYMMETRIC
def test_annealing_a_tour_of_a_landscape(symmetric: bool, variant: Variant) -> None:
    instance = make(5, symmetric, variant)
    land = landscape_of(instance)
    tour = random_tour(5, variant, np.random.default_rng(3))
    start = land.cost(tour)
    best, costs = tour.copy(), np.array([start, start])
    land.anneal(tour, best, costs, np.array([1], np.uint64), 300, 0.3, 0.99, Settings())
    for claimed, route in zip(costs, (tour, best), strict=True):
        assert oracles.is_feasible(route.tolist(), 5, variant)
        assert claimed == pytest.approx(oracles.cost(instance.costs, route.tolist()), abs=1e-9)
    assert costs[1] < start


def test_a_matrix_on_demand(variant: Variant) -> None:
    """From 400 nodes on tours are lists, unless somebody needs the matrix and it can be kept."""
    short, long = generate(199, variant=variant)[0], generate(200, variant=variant)[0]
    assert isinstance(landscape_of(short), ShortTours)
    assert not isinstance(landscape_of(long), ShortTours)
    dense = landscape_of(long, dense=True)
    assert isinstance(dense, ShortTours)
    assert (dense.legs == long.costs).all()
    assert (dense.reach == long.costs.T).all()
    assert not isinstance(landscape_of(generate(2000)[0], dense=True), ShortTours)


def crowded(variant: Variant, unit: float = 1.0) -> Instance:
    """Three in four stops, and the depot, at one place."""
    points = np.random.default_rng(3).random((41, 2))
    points[np.random.default_rng(4).permutation(41)[:30]] = points[0]
    return Instance(coordinates=points * unit, variant=variant)


def test_a_place_that_most_stops_share_forbids_nothing(variant: Variant) -> None:
    """Most arcs cost nothing, and those that do are no "never": temperatures follow the tour."""
    land = landscape_of(crowded(variant))
    assert isinstance(land, ShortTours)
    assert not land.careful
    tour = random_tour(20, variant, np.random.default_rng(5))
    assert land.edge(tour) == pytest.approx(oracles.cost(land.legs, tour.tolist()) / 41)


@pytest.mark.parametrize("method", ["native", "anneal"])
def test_the_unit_of_a_crowded_map_does_not_matter(method: str, variant: Variant) -> None:
    """Other powers of two, the same route."""
    routes = [
        solve(crowded(variant, unit), method=method, steps=600, seed=1, threads=1).route
        for unit in (1.0, 2.0**-14, 2.0**20)
    ]
    assert routes[0] == routes[1] == routes[2]


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_arcs_that_mean_never_do_not_count_as_length(share: float) -> None:
    """However many they are, and with an open end, whose arcs cost nothing."""
    rng = np.random.default_rng(7)
    matrix = rng.uniform(1.0, 2.0, (41, 41))
    never = rng.random((41, 41)) < share
    matrix[never] = 1e12
    matrix[:, 0] = 0.0
    np.fill_diagonal(matrix, 0.0)
    land = landscape_of(Instance(matrix=matrix))
    assert isinstance(land, ShortTours)
    assert land.careful
    tour = random_tour(20, Variant.PDTSP, rng)
    assert land.edge(tour) == pytest.approx(matrix[matrix < 10].mean())


def test_where_nothing_costs_anything() -> None:
    """A temperature has to be above 0 all the same."""
    land = landscape_of(Instance(matrix=np.zeros((5, 5))))
    assert isinstance(land, ShortTours)
    assert (land.careful, land.edge(np.arange(5))) == (False, 1.0)

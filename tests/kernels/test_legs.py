"""Arcs on the fly against the instance's own, neighbours against sorting everything."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.kernels.legs import leg, leg_pair, nearest_stops, plane, route_cost, similar_requests
from n2s.problem import Instance, Metric, Rounding, generate

ENDS = pytest.mark.parametrize(
    "ends",
    [
        {},
        {"open_start": True},
        {"open_end": True},
        {"open_start": True, "open_end": True},
        {"end": np.array([3.25, 8.5])},
        {"end": np.array([3.25, 8.5]), "open_start": True},
    ],
    ids=lambda ends: "+".join(ends) or "closed",
)


def on_a_map(n: int, metric: Metric, rounding: Rounding = Rounding.NONE, **ends) -> Instance:
    """Points of which some coincide, in degrees where the metric wants them."""
    points = np.random.default_rng(n).uniform(-60, 60, (2 * n + 1, 2)).round(2)
    if n > 1:
        points[n + 1] = points[1]
    return Instance(coordinates=points, metric=metric, rounding=rounding, **ends)


def arcs(legs, size: int) -> np.ndarray:
    return np.array([[leg(legs, a, b) for b in range(size)] for a in range(size)])


def expected_arcs(instance: Instance) -> np.ndarray:
    nodes = np.arange(instance.size)
    return instance.legs(*np.broadcast_arrays(nodes[:, None], nodes[None]))


@ENDS
@pytest.mark.parametrize("rounding", list(Rounding))
@pytest.mark.parametrize("metric", list(Metric))
def test_a_plane_costs_what_the_instance_says(metric: Metric, rounding: Rounding, ends) -> None:
    instance = on_a_map(6, metric, rounding, **ends)
    legs = plane(instance)
    expected = expected_arcs(instance)
    exact = metric is not Metric.GREAT_CIRCLE
    np.testing.assert_allclose(
        arcs(legs, instance.size), expected, rtol=1e-15 if exact else 1e-9, atol=1e-8
    )
    for a, b in [(1, 2), (0, 3), (3, 0), (7, 1), (1, 7)]:
        assert leg_pair(legs, a, b) == (leg(legs, a, b), leg(legs, b, a))


def test_short_great_circles_keep_their_precision() -> None:
    """Stops a metre apart, to a thousandth of a millimetre."""
    steps = np.arange(7)[:, None] * np.array([[1e-5, 0.5e-5]])
    instance = Instance(coordinates=np.array([[13.4, 52.5]]) + steps, metric=Metric.GREAT_CIRCLE)
    np.testing.assert_allclose(arcs(plane(instance), 7), expected_arcs(instance), atol=1e-6)


def test_a_matrix_is_looked_up_as_it_is() -> None:
    matrix = np.random.default_rng(1).random((5, 5))
    assert (arcs(matrix, 5) == matrix).all()
    assert leg_pair(matrix, 1, 2) == (matrix[1, 2], matrix[2, 1])
    tour = np.array([0, 2, 1, 4, 3])
    assert route_cost(matrix, tour) == pytest.approx(matrix[tour, np.roll(tour, -1)].sum())


def test_a_matrix_instance_has_no_plane() -> None:
    with pytest.raises(ValueError, match="matrix"):
        plane(Instance(matrix=np.ones((3, 3)), coordinates=np.zeros((3, 2))))


def problems(n: int):
    """Arcs in both forms, and what they cost."""
    instance = on_a_map(n, Metric.EUCLIDEAN, end=np.array([1.0, 2.0]))
    yield plane(instance), expected_arcs(instance)
    matrix = np.random.default_rng(n).random((2 * n + 1, 2 * n + 1))
    yield matrix, matrix
    whole = np.floor(matrix * 3)  # many ties: the smaller number wins
    yield whole, whole


@pytest.mark.parametrize("count", [0, 1, 4, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_nearest_stops_are_those_of_sorting_all(n: int, count: int) -> None:
    for legs, costs in problems(n):
        size = 2 * n + 1
        both = costs + costs.T
        near = nearest_stops(legs, count)
        assert near.dtype == np.int64
        assert near.shape == (size, min(count, size - 2))
        for node in range(size):
            others = [other for other in range(1, size) if other != node]
            others.sort(key=lambda other: both[node, other])
            assert near[node].tolist() == others[: near.shape[1]]


@pytest.mark.parametrize("count", [0, 1, 4, 100])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_similar_requests_are_those_of_sorting_all(n: int, count: int) -> None:
    for legs, costs in problems(n):
        both = costs + costs.T
        alike = similar_requests(legs, n, count)
        assert alike.dtype == np.int64
        assert alike.shape == (n + 1, min(count, n - 1))
        for request in range(1, n + 1):
            others = [other for other in range(1, n + 1) if other != request]
            others.sort(key=lambda o: both[request, o] + both[request + n, o + n])
            assert alike[request].tolist() == others[: alike.shape[1]]


def test_thousands_of_nodes_need_no_matrix() -> None:
    instance = generate(1500, seed=3)[0]
    near = nearest_stops(plane(instance), 8)
    points = instance.coordinates
    assert points is not None
    for node in (0, 1, 1500, 3000):
        distance = np.linalg.norm(points - points[node], axis=1)
        distance[[0, node]] = np.inf
        assert near[node].tolist() == np.argsort(distance)[:8].tolist()

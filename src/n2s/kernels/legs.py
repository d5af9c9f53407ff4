"""The cost of one arc on the fly, and who is near whom: for tours too long for a matrix.

``legs`` is either the (N, N) matrix of costs or a ``Plane``: the points and how they are measured. A
kernel that asks ``leg(legs, a, b)`` is compiled for the one it is given.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange, types
from numba.extending import overload

from n2s.problem.distance import (
    EARTH_RADIUS_METRES,
    TSPLIB_EARTH_RADIUS_KM,
    FloatArray,
    Metric,
    Rounding,
)
from n2s.problem.instance import Instance

# Counting the references to arrays at every call would cost ten times as much as the arithmetic. What is
# compiled so may not make arrays.
BORROWING = {"cache": True, "_nrt": False, "error_model": "numpy"}
INLINE = BORROWING | {"forceinline": True}

EUCLIDEAN, MANHATTAN, MAXIMUM, GREAT_CIRCLE, TSPLIB_GEO = range(5)
METRICS = {
    Metric.EUCLIDEAN: EUCLIDEAN,
    Metric.MANHATTAN: MANHATTAN,
    Metric.MAXIMUM: MAXIMUM,
    Metric.GREAT_CIRCLE: GREAT_CIRCLE,
    Metric.TSPLIB_GEO: TSPLIB_GEO,
}
UNROUNDED, NEAREST, UP, DOWN = range(4)
ROUNDINGS = {
    Rounding.NONE: UNROUNDED,
    Rounding.NEAREST: NEAREST,
    Rounding.UP: UP,
    Rounding.DOWN: DOWN,
}


class Plane(NamedTuple):
    """Costs of arcs as points and a metric; what leaves and enters the depot has its own lists."""

    points: FloatArray
    """(N, 2); for great circles (N, 3), the points of the unit sphere: no sines in the kernels."""
    metric: int
    rounding: int
    from_depot: FloatArray
    """(N,) an open start costs nothing, ..."""
    to_depot: FloatArray
    """(N,) ... and the end may be somewhere else."""


def plane(instance: Instance) -> Plane:
    """The arcs of an instance given by coordinates (``Instance.legs``, to a billionth)."""
    if instance.coordinates is None or instance.matrix is not None:
        raise ValueError("an instance with a matrix has no plane")
    nodes = np.arange(instance.size)
    depot = np.zeros_like(nodes)
    points = np.ascontiguousarray(instance.coordinates)
    if instance.metric is Metric.GREAT_CIRCLE:
        longitude, latitude = np.radians(points).T
        level = np.cos(latitude)
        points = np.stack(
            (level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)), axis=1
        )
    return Plane(
        points.copy(),  # the instance's own are read-only, which would be another type to compile for
        METRICS[instance.metric],
        ROUNDINGS[instance.rounding],
        instance.legs(depot, nodes),
        instance.legs(nodes, depot),
    )


@njit(**BORROWING)
def _tsplib_radians(ddd_mm):  # type: ignore[no-untyped-def]
    degrees = np.trunc(ddd_mm)
    return 3.141592 * (degrees + 5.0 * (ddd_mm - degrees) / 3.0) / 180.0


@njit(**BORROWING)
def _tsplib_geo(lat_a, lon_a, lat_b, lon_b):  # type: ignore[no-untyped-def]
    if lat_a == lat_b and lon_a == lon_b:
        return 0.0
    lat_a, lon_a = _tsplib_radians(lat_a), _tsplib_radians(lon_a)
    lat_b, lon_b = _tsplib_radians(lat_b), _tsplib_radians(lon_b)
    q1, q2, q3 = math.cos(lon_a - lon_b), math.cos(lat_a - lat_b), math.cos(lat_a + lat_b)
    cosine = min(1.0, max(-1.0, 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)))
    return np.trunc(TSPLIB_EARTH_RADIUS_KM * math.acos(cosine) + 1.0)


@njit(**BORROWING)
def _measure(plane, a, b):  # type: ignore[no-untyped-def]
    points, metric, rounding = plane.points, plane.metric, plane.rounding
    x, y = points[a, 0] - points[b, 0], points[a, 1] - points[b, 1]
    if metric == EUCLIDEAN:
        cost = math.sqrt(x * x + y * y)
    elif metric == MANHATTAN:
        cost = abs(x) + abs(y)
    elif metric == MAXIMUM:
        cost = max(abs(x), abs(y))
    elif metric == GREAT_CIRCLE:
        z = points[a, 2] - points[b, 2]
        cost = 2 * EARTH_RADIUS_METRES * math.asin(min(1.0, 0.5 * math.sqrt(x * x + y * y + z * z)))
    else:
        cost = _tsplib_geo(points[a, 0], points[a, 1], points[b, 0], points[b, 1])
    if rounding == UNROUNDED:
        return cost
    if rounding == NEAREST:
        return np.floor(cost + 0.5)
    return np.ceil(cost) if rounding == UP else np.floor(cost)


@njit(**INLINE)
def _between_stops(plane, a, b):  # type: ignore[no-untyped-def]
    """The cost of an arc that neither leaves nor enters the depot; the usual case without a call."""
    if plane.metric == EUCLIDEAN and plane.rounding == UNROUNDED:
        x = plane.points[a, 0] - plane.points[b, 0]
        y = plane.points[a, 1] - plane.points[b, 1]
        return math.sqrt(x * x + y * y)
    return _measure(plane, a, b)


def _arc(legs: Any, a: int, b: int) -> None:
    """What ``leg`` is compiled to, by the type of ``legs``."""


def _both_arcs(legs: Any, a: int, b: int) -> None:
    """What ``leg_pair`` is compiled to, by the type of ``legs``."""


@overload(_arc, jit_options=INLINE)
def _arc_of_type(legs, a, b):  # type: ignore[no-untyped-def]
    if isinstance(legs, types.Array):
        return lambda legs, a, b: legs[a, b]

    def on_plane(legs, a, b):  # type: ignore[no-untyped-def]
        if a == 0:
            return legs.from_depot[b]
        if b == 0:
            return legs.to_depot[a]
        return _between_stops(legs, a, b)

    return on_plane


@overload(_both_arcs, jit_options=INLINE)
def _both_arcs_of_type(legs, a, b):  # type: ignore[no-untyped-def]
    if isinstance(legs, types.Array):
        return lambda legs, a, b: (legs[a, b], legs[b, a])

    def on_plane(legs, a, b):  # type: ignore[no-untyped-def]
        if a == 0:
            return legs.from_depot[b], legs.to_depot[b]
        if b == 0:
            return legs.to_depot[a], legs.from_depot[a]
        cost = _between_stops(legs, a, b)
        return cost, cost

    return on_plane


@njit(**INLINE)
def leg(legs, a, b):  # type: ignore[no-untyped-def]
    """The cost of the arc from a to b."""
    return _arc(legs, a, b)


@njit(**INLINE)
def leg_pair(legs, a, b):  # type: ignore[no-untyped-def]
    """The costs of the arcs from a to b and back, for less than two questions."""
    return _both_arcs(legs, a, b)


@njit(**BORROWING)
def route_cost(legs, tour):  # type: ignore[no-untyped-def]
    """The cost of one closed tour (N,)."""
    total = 0.0
    for position in range(len(tour) - 1):
        total += leg(legs, tour[position], tour[position + 1])
    return total + leg(legs, tour[-1], tour[0])


@njit(**INLINE)
def _keep_least(found, costs, held, item, cost):  # type: ignore[no-untyped-def]
    """Sort an item into the ``held`` cheapest, dropping the dearest if there is no room; how many."""
    if held < len(found):
        at = held
        held += 1
    elif held > 0 and cost < costs[held - 1]:
        at = held - 1
    else:
        return held
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        found[at] = found[at - 1]
        at -= 1
    costs[at] = cost
    found[at] = item
    return held


@njit(**BORROWING)
def _find_nearest(legs, node, size, found, costs):  # type: ignore[no-untyped-def]
    held = 0
    for other in range(1, size):
        if other != node:
            there, back = leg_pair(legs, node, other)
            held = _keep_least(found, costs, held, other, there + back)


@njit(**BORROWING)
def _find_similar(legs, request, n, found, costs):  # type: ignore[no-untyped-def]
    held = 0
    for other in range(1, n + 1):
        if other != request:
            there, back = leg_pair(legs, request, other)
            on, off = leg_pair(legs, request + n, other + n)
            held = _keep_least(found, costs, held, other, there + back + on + off)


@njit(cache=True, parallel=True)
def _nearest_stops(legs, size, width):  # type: ignore[no-untyped-def]
    near = np.empty((size, width), np.int64)
    for node in prange(size):
        _find_nearest(legs, node, size, near[node], np.empty(width))
    return near


@njit(cache=True, parallel=True)
def _similar_requests(legs, n, width):  # type: ignore[no-untyped-def]
    alike = np.zeros((n + 1, width), np.int64)
    for request in prange(1, n + 1):
        _find_similar(legs, request, n, alike[request], np.empty(width))
    return alike


def nearest_stops(legs: Any, count: int) -> Any:
    """(N, K) the nearest stops of every node, there and back, nearest first; K = min(count, N - 2).

    The depot is nobody's neighbour: every search looks there anyway.
    """
    size = len(legs.points) if isinstance(legs, Plane) else len(legs)
    return _nearest_stops(legs, size, min(count, size - 2))


def similar_requests(legs: Any, n: int, count: int) -> Any:
    """(n + 1, L) the requests whose stops are nearest to those of each; L = min(count, n - 1)."""
    return _similar_requests(legs, n, min(count, n - 1))

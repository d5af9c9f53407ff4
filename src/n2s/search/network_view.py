"""What the network sees of an instance: points in the unit square, and how long a cost unit is there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from n2s.problem import Instance, Metric
from n2s.problem.distance import FloatArray

FITS = 0.5
"""Points that already fill at least this much of the unit square stay as they are."""
SAMPLE = 4096
"""Arcs that are compared to find the scale of a cost that is no plain distance."""


@dataclass(frozen=True)
class NetworkView:
    """Coordinates for the network; every cost that counts stays the instance's own."""

    points: FloatArray
    """(N, 2) in the unit square, aspect ratio kept."""
    scale: float
    """Factor from the instance's costs to distances between the points."""


def network_view(instance: Instance) -> NetworkView:
    """Points in the unit square by one scale factor; from a matrix alone by multidimensional scaling."""
    plane, exact = _plane(instance)
    low, high = plane.min(0), plane.max(0)
    extent = float((high - low).max())
    if extent <= 0:
        return NetworkView(np.full_like(plane, 0.5), 1.0)
    if low.min() >= 0 and high.max() <= 1 and extent >= FITS:
        points, factor = plane, 1.0  # as in training: nothing to change
    else:
        factor = 1.0 / extent
        # The shorter side is centred.
        points = (plane - low) * factor + (1 - (high - low) * factor) / 2
    return NetworkView(points, factor if exact else _scale(instance, points))


def _plane(instance: Instance) -> tuple[FloatArray, bool]:
    """(N, 2) points on a plane, and whether the instance's costs are distances between them."""
    points = instance.coordinates
    if points is None:
        return classical_scaling(instance.costs), False
    if instance.metric is Metric.GREAT_CIRCLE:
        points = np.array(points)
        if np.ptp(points[:, 0]) > 180:  # across the date line
            points[points[:, 0] < 0, 0] += 360
        # Longitudes shrink with the cosine of the latitude; on a city's or a country's scale it serves.
        return points * [np.cos(np.radians(points[:, 1].mean())), 1.0], False
    if instance.metric is Metric.TSPLIB_GEO:
        return points[:, ::-1] * [np.cos(np.radians(points[:, 0].mean())), 1.0], False
    return np.array(points), instance.metric is Metric.EUCLIDEAN and instance.matrix is None


def classical_scaling(costs: FloatArray) -> FloatArray:
    """(N, 2) points whose distances come close to the costs, both directions averaged (Torgerson)."""
    mean = (costs + costs.T) / 2
    square = mean**2
    centred = square - square.mean(0) - square.mean(1)[:, None] + square.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    plane = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    # An eigenvector's sign is arbitrary; the largest entry decides, so that the same matrix gives the same.
    signs = np.sign(plane[np.abs(plane).argmax(0), [0, 1]])
    result: FloatArray = plane * np.where(signs == 0, 1.0, signs)
    return result


def _scale(instance: Instance, points: FloatArray) -> float:
    """Distance between points per unit of cost, over a fixed sample of arcs between stops."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, instance.size, (2, SAMPLE))
    costs = instance.legs(a[a != b], b[a != b])
    distance = np.linalg.norm(points[a[a != b]] - points[b[a != b]], axis=1)
    total = float(costs.sum())
    return float(distance.sum()) / total if total > 0 else 1.0

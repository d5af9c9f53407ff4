"""Distances between points: metrics and rounding rules, as pure array functions."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

EARTH_RADIUS_METRES = 6_371_008.8  # mean radius (IUGG)
TSPLIB_EARTH_RADIUS_KM = 6378.388


class Metric(StrEnum):
    """How two coordinate pairs become a distance."""

    EUCLIDEAN = "euclidean"
    MANHATTAN = "manhattan"
    MAXIMUM = "maximum"
    GREAT_CIRCLE = "great_circle"
    """Metres on the sphere; coordinates are (longitude, latitude) in degrees."""
    TSPLIB_GEO = "tsplib_geo"
    """The TSPLIB ``GEO`` rule (whole kilometres); coordinates are (latitude, longitude) as DDD.MM."""


class Rounding(StrEnum):
    """What happens to a distance before it is added up. Explicit matrices are never rounded."""

    NONE = "none"
    NEAREST = "nearest"
    """floor(x + 1/2), the TSPLIB ``nint`` of EUC_2D."""
    UP = "up"
    DOWN = "down"


def distances(a: FloatArray, b: FloatArray, metric: Metric, rounding: Rounding) -> FloatArray:
    """Distances from points ``a`` to points ``b``: (..., 2) and (..., 2), broadcast, to (...)."""
    return _round(_METRICS[metric](a, b), rounding)


def _round(values: FloatArray, rounding: Rounding) -> FloatArray:
    if rounding is Rounding.NEAREST:
        return np.floor(values + 0.5)
    if rounding is Rounding.UP:
        return np.ceil(values)
    if rounding is Rounding.DOWN:
        return np.floor(values)
    return values


def _euclidean(a: FloatArray, b: FloatArray) -> FloatArray:
    difference = a - b
    return np.asarray(np.sqrt(np.square(difference).sum(-1)))


def _manhattan(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.abs(a - b).sum(-1))


def _maximum(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.abs(a - b).max(-1))


def _great_circle(a: FloatArray, b: FloatArray) -> FloatArray:
    lon_a, lat_a = np.moveaxis(np.radians(a), -1, 0)
    lon_b, lat_b = np.moveaxis(np.radians(b), -1, 0)
    # The haversine form keeps its precision for the short distances that deliveries have.
    chord = (
        np.sin((lat_b - lat_a) / 2) ** 2
        + np.cos(lat_a) * np.cos(lat_b) * np.sin((lon_b - lon_a) / 2) ** 2
    )
    return np.asarray(2 * EARTH_RADIUS_METRES * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0))))


def _tsplib_geo(a: FloatArray, b: FloatArray) -> FloatArray:
    def radians(ddd_mm: FloatArray) -> FloatArray:
        degrees = np.trunc(ddd_mm)
        # TSPLIB's own approximation of pi: its published optima depend on it.
        return 3.141592 * (degrees + 5.0 * (ddd_mm - degrees) / 3.0) / 180.0

    lat_a, lon_a = np.moveaxis(radians(a), -1, 0)
    lat_b, lon_b = np.moveaxis(radians(b), -1, 0)
    q1 = np.cos(lon_a - lon_b)
    q2 = np.cos(lat_a - lat_b)
    q3 = np.cos(lat_a + lat_b)
    cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
    kilometres = np.trunc(TSPLIB_EARTH_RADIUS_KM * np.arccos(cosine) + 1.0)
    # Published as (int)(... + 1.0) even for equal points; a stop is at no distance from itself.
    return np.where((a == b).all(-1), 0.0, kilometres)


_METRICS = {
    Metric.EUCLIDEAN: _euclidean,
    Metric.MANHATTAN: _manhattan,
    Metric.MAXIMUM: _maximum,
    Metric.GREAT_CIRCLE: _great_circle,
    Metric.TSPLIB_GEO: _tsplib_geo,
}

from __future__ import annotations

import numpy as np
import pytest

from n2s.problem.distance import Metric, Rounding, distances


def between(a: tuple[float, float], b: tuple[float, float], metric: Metric, rounding: Rounding):
    return float(distances(np.array(a), np.array(b), metric, rounding))


@pytest.mark.parametrize(
    ("metric", "expected"),
    # (0, 0) to (3, 4): the hypotenuse is 5, the sum 7, the larger leg 4.
    [(Metric.EUCLIDEAN, 5.0), (Metric.MANHATTAN, 7.0), (Metric.MAXIMUM, 4.0)],
)
def test_planar_metrics(metric: Metric, expected: float) -> None:
    assert between((0, 0), (3, 4), metric, Rounding.NONE) == expected


@pytest.mark.parametrize(
    ("rounding", "length", "expected"),
    [
        (Rounding.NONE, 2.5, 2.5),
        (Rounding.NEAREST, 2.5, 3.0),  # TSPLIB's nint goes up at one half, unlike numpy's round
        (Rounding.NEAREST, 3.5, 4.0),
        (Rounding.NEAREST, 2.49, 2.0),
        (Rounding.UP, 2.01, 3.0),
        (Rounding.DOWN, 2.99, 2.0),
    ],
)
def test_rounding(rounding: Rounding, length: float, expected: float) -> None:
    assert between((0, 0), (length, 0), Metric.EUCLIDEAN, rounding) == expected


def test_great_circle_takes_longitude_first() -> None:
    """A degree of a meridian is 2 pi R / 360 = 111,195 m; at 60 degrees north a parallel is half."""
    degree = 2 * np.pi * 6_371_008.8 / 360
    assert between((0, 0), (0, 1), Metric.GREAT_CIRCLE, Rounding.NONE) == pytest.approx(degree)
    along = between((10, 60), (10.001, 60), Metric.GREAT_CIRCLE, Rounding.NONE)
    assert along == pytest.approx(degree / 2000, rel=1e-6)
    antipodes = between((0, 0), (180, 0), Metric.GREAT_CIRCLE, Rounding.NONE)
    assert antipodes == pytest.approx(180 * degree)


def test_tsplib_geo_truncates_to_kilometres_and_reads_minutes() -> None:
    """10.30 means 10 degrees 30 minutes: half a degree of meridian, 6378.388 * pi / 360 = 55.66 km,
    plus 1, truncated: 56.
    """
    assert between((10.0, 5.0), (10.30, 5.0), Metric.TSPLIB_GEO, Rounding.NONE) == 56.0
    assert between((10.0, 5.0), (10.0, 5.0), Metric.TSPLIB_GEO, Rounding.NONE) == 0.0

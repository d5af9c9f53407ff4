"""Where the stops of a route lie on a flat drawing: east to the right, north up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from n2s.formats.stops import place
from n2s.problem import Evaluation, Metric

Point = tuple[float, float]

STEEPEST = 20.0  # at the poles a degree of longitude is nothing; no drawing gets narrower than this


@dataclass(frozen=True)
class Chart:
    """One point per stop, and how long a unit upwards is against a unit to the right."""

    points: tuple[Point | None, ...]
    """By stop; None where nobody knows the place."""
    aspect: float
    geographic: bool
    """Whether the points are (longitude, latitude) in degrees."""

    @property
    def line(self) -> list[Point]:
        """The known points in the order of the route."""
        return [point for point in self.points if point is not None]


def chart(evaluation: Evaluation) -> Chart:
    """The points to draw an evaluated route with; all of them None for a bare matrix."""
    metric = evaluation.instance.metric
    points = [place(evaluation, stop) for stop in evaluation.stops]
    known = np.array([point for point in points if point is not None])
    if not known.size or metric not in (Metric.GREAT_CIRCLE, Metric.TSPLIB_GEO):
        return Chart(tuple(points), aspect=1.0, geographic=False)
    if metric is Metric.TSPLIB_GEO:  # (latitude, longitude), 52 degrees 30 minutes as 52.30
        known = known[:, ::-1]
        whole = np.trunc(known)
        known = whole + (known - whole) / 0.6
    around = known[:, 0] % 360
    if np.ptp(around) < np.ptp(known[:, 0]):  # the route crosses the date line: do not tear it
        known[:, 0] = around
    middle = np.radians((known[:, 1].min() + known[:, 1].max()) / 2)
    aspect = 1 / max(float(np.cos(middle)), 1 / STEEPEST)
    turned = iter(known.tolist())
    drawn = tuple(None if point is None else _pair(next(turned)) for point in points)
    return Chart(drawn, aspect, geographic=True)


def _pair(values: list[float]) -> Point:
    return values[0], values[1]

"""A route for a map: a GeoJSON line through the stops and a point for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from n2s.errors import InputError
from n2s.formats import stops, strict_json
from n2s.formats.base import RouteFormat
from n2s.formats.json_solution import written
from n2s.formats.strict_json import short
from n2s.problem import Evaluation, Metric

Position = list[float]


def _render(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    instance = evaluation.instance
    if instance.coordinates is None:
        raise InputError("a distance matrix has no place on a map: write .json or .csv")
    positions = [_position(evaluation, k) for k in range(len(evaluation.stops))]
    line = [position for position in positions if position is not None]
    summary = {
        "instance": instance.name,
        "variant": str(instance.variant),
        "cost": short(evaluation.cost),
        "feasible": evaluation.feasible,
        "record": written(record),
    }
    # A line has two ends; a single stop is not one.
    features = [_feature("LineString", line if len(line) > 1 else None, summary)]
    for position, stop in zip(positions, evaluation.stops, strict=True):
        properties = {
            "position": stop.position,
            "id": stop.id,
            "kind": stop.kind,
            "request": stop.request,
            "leg": short(stop.leg),
            "cumulative": short(stop.cumulative),
            "load": short(stop.load),
            "attributes": dict(stops.attributes(evaluation, stop)),
        }
        features.append(_feature("Point", position, properties))
    collection: dict[str, Any] = {"type": "FeatureCollection"}
    if instance.metric not in (Metric.GREAT_CIRCLE, Metric.TSPLIB_GEO):
        collection["coordinates_are"] = "planar"
    return strict_json.dump({**collection, "features": features}, levels=2)


def _position(evaluation: Evaluation, index: int) -> Position | None:
    """[longitude, latitude] of a stop, or [x, y] in the plane; None where nobody knows it."""
    point = stops.place(evaluation, evaluation.stops[index])
    if point is None:
        return None
    if evaluation.instance.metric is Metric.TSPLIB_GEO:
        latitude, longitude = (_degrees(value) for value in point)
        return [longitude, latitude]
    return [point[0], point[1]]


def _degrees(ddd_mm: float) -> float:
    """TSPLIB writes 52 degrees 30 minutes as 52.30."""
    whole = np.trunc(ddd_mm)
    return float(whole + (ddd_mm - whole) / 0.6)


def _feature(kind: str, coordinates: object, properties: Mapping[str, object]) -> dict[str, object]:
    geometry = None if coordinates is None else {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": dict(properties)}


FORMAT = RouteFormat(
    name="GeoJSON",
    suffixes=(".geojson",),
    recognises=lambda source: False,
    parse=None,
    render=_render,
)

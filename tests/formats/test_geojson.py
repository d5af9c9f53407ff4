from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.formats.base import Source
from n2s.formats.geojson import FORMAT
from n2s.problem import Instance, Metric, evaluate

POINTS = np.array([[4.0, 52.0], [4.1, 52.1], [4.2, 52.2]])


def render(instance: Instance, route: tuple[int, ...] = (1, 2)) -> dict[str, Any]:
    data = FORMAT.render(evaluate(instance, list(route)), {"seed": 1})
    body = json.loads(data)
    assert isinstance(body, dict)
    return body


def test_a_route_on_the_map() -> None:
    kept = ({}, {"address": "Mill Road"}, {})
    body = render(Instance(coordinates=POINTS, metric=Metric.GREAT_CIRCLE, attributes=kept))
    assert list(body) == ["type", "features"]
    line, *points = body["features"]
    closed = [[4.0, 52.0], [4.1, 52.1], [4.2, 52.2], [4.0, 52.0]]
    assert line["geometry"] == {"type": "LineString", "coordinates": closed}
    assert line["properties"]["feasible"] is True
    assert line["properties"]["record"] == {"seed": 1}
    assert [point["geometry"]["coordinates"] for point in points] == closed
    properties = points[1]["properties"]
    assert (properties["position"], properties["id"], properties["kind"]) == (1, 1, "pickup")
    assert (properties["request"], properties["load"]) == (1, 1)
    assert properties["attributes"] == {"address": "Mill Road"}


def test_the_plane_is_named() -> None:
    assert render(Instance(coordinates=POINTS))["coordinates_are"] == "planar"


def coordinates(body: dict[str, Any]) -> Any:
    return body["features"][0]["geometry"]["coordinates"]


def test_open_routes_and_a_separate_end() -> None:
    opened = Instance(coordinates=POINTS, open_end=True)
    assert coordinates(render(opened)) == POINTS.tolist()
    opened = Instance(coordinates=POINTS, open_start=True, open_end=True)
    assert coordinates(render(opened)) == POINTS[1:].tolist()
    ended = Instance(coordinates=POINTS, end=np.array([9, 9]), end_id="e")
    assert coordinates(render(ended)) == [*POINTS.tolist(), [9, 9]]


def test_where_a_matrix_leads_is_on_no_map() -> None:
    body = render(Instance(coordinates=POINTS, matrix=np.ones((3, 3)), end_id="e"))
    assert coordinates(body) == POINTS.tolist()
    assert body["features"][-1]["geometry"] is None
    with pytest.raises(InputError, match="no place on a map"):
        render(Instance(matrix=np.ones((3, 3))))


def test_tsplib_degrees_and_minutes() -> None:
    # 52.30 is 52 degrees 30 minutes north; TSPLIB writes the latitude first
    points = np.array([[52.30, 4.15], [-52.30, 4.0], [0, 0]])
    body = render(Instance(coordinates=points, metric=Metric.TSPLIB_GEO))
    assert np.allclose(coordinates(body)[:2], [[4.25, 52.5], [4.0, -52.5]])
    assert "coordinates_are" not in body


def test_a_route_too_short_for_a_line() -> None:
    evaluation = evaluate(Instance(coordinates=POINTS, open_start=True, open_end=True), [1])
    line, point = json.loads(FORMAT.render(evaluation, {}))["features"]
    assert line["geometry"] is None
    assert point["geometry"]["coordinates"] == [4.1, 52.1]


def test_maps_are_only_written() -> None:
    assert FORMAT.parse is None
    assert not FORMAT.recognises(Source("a.geojson", b"{}"))

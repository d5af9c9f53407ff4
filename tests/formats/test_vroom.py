from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats.base import Source
from n2s.formats.vroom import FORMAT
from n2s.problem import Instance, Metric, Variant, evaluate

ON_EARTH: dict[str, Any] = {
    "vehicles": [
        {"id": 1, "profile": "car", "start": [4.0, 52.0], "end": [4.0, 52.0], "capacity": [4]}
    ],
    "shipments": [
        {
            "amount": [3],
            "pickup": {"id": 1, "location": [4.1, 52.1], "service": 300, "description": "x"},
            "delivery": {"id": 1, "location": [4.2, 52.2], "setup": 60},
        },
        {
            "amount": [1],
            "pickup": {"id": 2, "location": [4.3, 52.3]},
            "delivery": {"id": 5, "location": [4.4, 52.4]},
        },
    ],
}
DISTANCES = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]]
BY_MATRIX: dict[str, Any] = {
    "vehicles": [{"id": 1, "start_index": 0, "end_index": 3}],
    "shipments": [
        {"pickup": {"id": 1, "location_index": 1}, "delivery": {"id": 1, "location_index": 2}},
        {"pickup": {"id": 2, "location_index": 1}, "delivery": {"id": 2, "location_index": 2}},
    ],
    "matrices": {"bike": {"distances": DISTANCES, "durations": [[9] * 4] * 4}},
}


def parse(body: object) -> Instance:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    source = Source("v.json", data)
    FORMAT.recognises(source)
    (instance,) = FORMAT.parse(source)
    return instance


def changed(path: str, value: object, body: dict[str, Any] = ON_EARTH) -> dict[str, Any]:
    """The body with one member more, or one less if the value is None."""
    copy = json.loads(json.dumps(body))
    at = copy
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return copy


def test_shipments_on_earth() -> None:
    assert FORMAT.recognises(Source("x", json.dumps(ON_EARTH).encode()))
    instance = parse(ON_EARTH)
    assert instance.ids == ("depot", "1:pickup", "2:pickup", "1:delivery", "5:delivery")
    assert instance.requests == (1, 2)
    assert (instance.metric, instance.variant) == (Metric.GREAT_CIRCLE, Variant.PDTSP)
    assert instance.weights.tolist() == [3, 1]
    assert instance.capacity == 4
    assert instance.coordinates is not None
    assert instance.coordinates[1].tolist() == [4.1, 52.1]
    assert not instance.open_start
    assert not instance.open_end


@pytest.mark.parametrize(
    ("gone", "opened", "depot"),
    [
        (["end"], (False, True), [4, 52]),
        (["start"], (True, False), [4, 52]),
        (["start", "end"], (True, True), [4.25, 52.25]),  # the mean of the four stops
    ],
)
def test_open_routes(gone: list[str], opened: tuple[bool, bool], depot: list[float]) -> None:
    body = ON_EARTH
    for key in gone:
        body = changed(f"vehicles.0.{key}", None, body)
    instance = parse(body)
    assert (instance.open_start, instance.open_end) == opened
    assert instance.coordinates is not None
    assert instance.coordinates[0].tolist() == pytest.approx(depot)


def test_a_separate_end() -> None:
    instance = parse(changed("vehicles.0.end", [5, 53]))
    assert (instance.ids[0], instance.end_id) == ("start", "end")
    assert instance.end is not None
    assert instance.end.tolist() == [5, 53]


ROUTE = ["1:pickup", "2:pickup", "1:delivery", "2:delivery"]


def test_a_matrix_by_location_index() -> None:
    # 0 -> 1 -> 1 -> 2 -> 2 -> 3: both shipments go from place 1 to place 2, the end is place 3
    assert evaluate(parse(BY_MATRIX), ROUTE).cost == 1 + 0 + 5 + 0 + 9
    legacy = changed("matrix", DISTANCES, changed("matrices", None, BY_MATRIX))
    assert evaluate(parse(legacy), ROUTE).cost == 15


@pytest.mark.parametrize(
    ("tables", "cost"),
    [
        ({"durations": DISTANCES}, 15),
        ({"durations": [[9] * 4] * 4, "costs": DISTANCES}, 15),
        ({"durations": [[1] * 4] * 4}, 5),
    ],
)
def test_which_table_is_the_cost(tables: dict[str, object], cost: float) -> None:
    assert evaluate(parse(changed("matrices.bike", tables, BY_MATRIX)), ROUTE).cost == cost


@pytest.mark.parametrize(("gone", "cost"), [("start_index", 0 + 5 + 9), ("end_index", 1 + 0 + 5)])
def test_open_routes_by_matrix(gone: str, cost: float) -> None:
    assert evaluate(parse(changed(f"vehicles.0.{gone}", None, BY_MATRIX)), ROUTE).cost == cost


def test_the_profile_chooses_among_matrices() -> None:
    two = changed("matrices.car", {"distances": [[1] * 4] * 4}, BY_MATRIX)
    assert evaluate(parse(two), ROUTE).cost == 5  # VROOM's default is "car"
    assert evaluate(parse(changed("vehicles.0.profile", "bike", two)), ROUTE).cost == 15
    with pytest.raises(InputError, match="matrices has no profile 'foot'"):
        parse(changed("vehicles.0.profile", "foot", two))


def test_a_shipment_without_an_amount_weighs_nothing() -> None:
    assert parse(changed("shipments.0.amount", None)).weights.tolist() == [0, 1]
    body = changed("shipments.1.amount", None, changed("shipments.0.amount", None))
    assert parse(body).weights.tolist() == [0, 0]
    assert parse(changed("vehicles.0.capacity", None, body)).loads is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("jobs", [{"id": 1}]),
        ("options", {"g": True}),
        ("vehicles.0.time_window", [0, 1]),
        ("vehicles.0.skills", [1]),
        ("vehicles.0.breaks", [{"id": 1}]),
        ("vehicles.0.max_travel_time", 5),
        ("vehicles.0.max_tasks", 5),
        ("vehicles.0.speed_factor", 2),
        ("vehicles.0.costs", {"fixed": 1}),
        ("shipments.0.skills", [1]),
        ("shipments.0.priority", 3),
        ("shipments.1.pickup.time_windows", [[0, 1]]),
        ("shipments.1.delivery.service_per_type", {}),
    ],
)
def test_what_is_not_supported_is_named(path: str, value: object) -> None:
    shown = path.replace(".0.", "[0].").replace(".1.", "[1].")
    with pytest.raises(UnsupportedError) as caught:
        parse(changed(path, value))
    assert f"{shown} is not supported" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("jobs", []),
        ("vehicles.0.skills", []),
        ("vehicles.0.breaks", []),
        ("vehicles.0.speed_factor", 1),
        ("shipments.0.priority", 0),
    ],
)
def test_fields_that_ask_for_nothing_are_no_obstacle(path: str, value: object) -> None:
    assert parse(changed(path, value)).n == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (changed("vehicles", [{"id": 1}, {"id": 2}]), "vehicles must be exactly one, not 2"),
        (changed("vehicles", []), "vehicles must be exactly one, not 0"),
        (changed("shipments", []), "shipments is missing or empty"),
        (changed("vehicles.0.capacity", [1, 2]), "vehicles[0].capacity has 2 dimensions"),
        (changed("shipments.0.amount", [1, 2]), "shipments[0].amount has 2 dimensions"),
        (changed("shipments.0.amount", 1), "shipments[0].amount must be a list"),
        (changed("shipments.0.amount", [9]), "more than the capacity 4"),
        (changed("shipments.0.pickup", None), "shipments[0].pickup is missing"),
        (changed("shipments.0.pickup.id", None), "shipments[0].pickup.id is missing"),
        (changed("shipments.0.pickup.location", None), "pickup.location is missing"),
        (changed("shipments.0.pickup.location", [1]), "must be [longitude, latitude], not 1"),
        (changed("shipments.0.pickup.location", [52.1, 104.1]), "latitude and longitude swapped"),
        (changed("shipments.1.pickup.id", 1), "node id '1:pickup' occurs twice"),
        (
            changed("matrices", None, BY_MATRIX),
            "vehicles[0].start is missing, and there is no matrix",
        ),
        (
            changed("vehicles.0.end", None, changed("vehicles.0.end_index", 0)),
            "vehicles[0].end is missing, and there is no matrix",
        ),
        (changed("matrices", {"car": {}}, BY_MATRIX), "neither distances nor costs nor durations"),
        (changed("vehicles.0.start_index", 4, BY_MATRIX), "has index 4, but the matrix has 4 rows"),
        (changed("vehicles.0.start_index", -1, BY_MATRIX), "whole number from 0 on, not -1"),
        (changed("matrix", DISTANCES), "vehicles[0].start has no index into the matrix"),
        (changed("matrices.bike.distances", [[0, 1]], BY_MATRIX), "distances[0] has 2 entries"),
        ([], "the file must be an object"),
        (b'{"vehicles": [', "this is not JSON"),
    ],
)
def test_bad_bodies_are_named(body: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(body)
    assert message in str(caught.value)


@pytest.mark.parametrize("data", [b"{}", b"[]", b"\xff", b'{"vehicles": []}', b'{"requests": []}'])
def test_the_json_of_others_is_not_recognised(data: bytes) -> None:
    assert not FORMAT.recognises(Source("a.json", data))


@pytest.mark.parametrize("valid", [ON_EARTH, BY_MATRIX])
def test_damage_is_read_or_refused(valid: object) -> None:
    @settings(max_examples=100, deadline=None)
    @given(mutated(json.dumps(valid).encode()) | mutated(json.dumps(valid, indent=1).encode()))
    def check(data: bytes) -> None:
        with suppress(InputError):
            assert isinstance(parse(data), Instance)

    check()

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.any_instance import assert_same, instances
from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats.base import Source
from n2s.formats.json_instance import FORMAT
from n2s.problem import Instance, Metric, Rounding, Variant, evaluate, generate


def parse(data: bytes | str | object, name: str = "a.json") -> list[Instance]:
    if not isinstance(data, (bytes, str)):
        data = json.dumps(data)
    source = Source(name, data.encode() if isinstance(data, str) else data)
    FORMAT.recognises(source)
    return FORMAT.parse(source)


def render(batch: list[Instance]) -> bytes:
    assert FORMAT.render is not None
    return FORMAT.render(batch)


MINIMAL: dict[str, Any] = {
    "depot": {"x": 0, "y": 0},
    "requests": [
        {"pickup": {"x": 3, "y": 4}, "delivery": {"x": 3, "y": 0}},
        {"pickup": {"x": 6, "y": 8}, "delivery": {"x": 0, "y": 4}},
    ],
}


def changed(path: str, value: object, body: dict[str, Any] = MINIMAL) -> dict[str, Any]:
    """The body with one more member, or one less if the value is None."""
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


def test_a_few_words_by_hand_are_enough() -> None:
    assert FORMAT.recognises(Source("x", json.dumps(MINIMAL).encode()))
    (instance,) = parse(MINIMAL)
    assert instance.ids == ("depot", "1:pickup", "2:pickup", "1:delivery", "2:delivery")
    assert instance.requests == (1, 2)
    assert (instance.name, instance.variant) == ("a", Variant.PDTSP)
    # 0 -> (3,4): 5, -> (6,8): 5, -> (0,4): sqrt(52), -> (3,0): 5, back: 3
    verdict = evaluate(instance, ["1:pickup", "2:pickup", "2:delivery", "1:delivery"])
    assert verdict.cost == pytest.approx(18 + 52**0.5)


def test_lat_and_lon_mean_the_earth() -> None:
    text = json.dumps(MINIMAL).replace('"x"', '"lon"').replace('"y"', '"lat"')
    (instance,) = parse(text)
    assert instance.metric is Metric.GREAT_CIRCLE
    assert instance.coordinates is not None
    assert instance.coordinates[2].tolist() == [6, 8]
    assert b'"lat": 8, "lon": 6' in render([instance])


def test_without_a_depot() -> None:
    body = changed("open_end", True, changed("open_start", True, changed("depot", None)))
    (instance,) = parse(body)
    assert instance.ids[0] == "depot"
    assert instance.coordinates is not None
    assert instance.coordinates[0].tolist() == [3, 4]  # the mean of the four stops


def test_a_matrix_in_the_order_depot_pickups_deliveries() -> None:
    body = {
        "depot": {"id": "h"},
        "end": {"id": "e"},
        "requests": [{"pickup": {"id": "p"}, "delivery": {"id": "d"}}],
        "matrix": [[0, 1, 2], [3, 0, 4], [5, 6, 0]],
    }
    (instance,) = parse(body)
    assert evaluate(instance, ["h", "p", "d", "e"]).cost == 1 + 4 + 5


@settings(max_examples=100, deadline=None)
@given(st.lists(instances(), min_size=1, max_size=2))
def test_every_field_survives(batch: list[Instance]) -> None:
    found = parse(render(batch))
    assert len(found) == len(batch)
    for here, there in zip(found, batch, strict=True):
        assert_same(here, there)


def test_several_instances() -> None:
    batch = generate(2, 3)
    data = render(batch)
    assert FORMAT.recognises(Source("x", data))
    assert [instance.name for instance in parse(data)] == [instance.name for instance in batch]
    unnamed = parse({"format": "n2s-instances", "instances": [MINIMAL, MINIMAL]})
    assert [instance.name for instance in unnamed] == ["a-0", "a-1"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "the file must be an object, not a list"),
        ({}, "requests is missing or empty"),
        (changed("format", "n2s-solution"), "format is 'n2s-solution', not 'n2s-instance'"),
        (changed("version", 2), "version is 2, but only 1 is known"),
        ({"format": "n2s-instances"}, "instances is missing or empty"),
        (changed("colour", 1), "unknown key colour"),
        (changed("requests.1.pickup.colour", 1), "unknown key requests[1].pickup.colour"),
        (changed("requests.1.colour", 1), "unknown key requests[1].colour"),
        (changed("depot.load", 1), "unknown key depot.load"),
        (changed("end", {"x": 1, "y": 1, "z": 1}), "unknown key end.z"),
        (changed("end", {}), "end has neither id nor coordinates"),
        (changed("depot", None), "depot is missing"),
        (changed("requests", []), "requests is missing or empty"),
        (changed("requests", {}), "requests must be a list, not an object"),
        (changed("requests.0", 7), "requests[0] must be an object, not the number 7"),
        (changed("requests.0.delivery", None), "requests[0].delivery is missing"),
        (changed("requests.0.pickup.x", None), "requests[0].pickup.x is missing"),
        (changed("requests.0.pickup.x", "1"), "requests[0].pickup.x must be a number, not a text"),
        (changed("requests.0.pickup.x", True), "requests[0].pickup.x must be a number, not true"),
        (changed("requests.0.pickup.x", 10**400), "pickup.x is a number that is too large"),
        (changed("requests.0.pickup", {"lat": 1, "lon": 1}), "requests[0].pickup mixes x and y"),
        (changed("requests.0.pickup", {}), "requests[0].pickup has no coordinates, but others"),
        (changed("requests.0.id", 1.5), "requests[0].id must be a text or a whole number"),
        (changed("requests.0.id", 2), "requests[1].id is 2, which occurs twice"),
        (changed("requests.0.pickup.id", "depot"), "node id 'depot' occurs twice"),
        (changed("requests.0.load", 2), "requests[1].load is missing, but other requests have"),
        (changed("requests.0.pickup.attributes", {"a": 1}), "pickup.attributes.a must be a text"),
        (changed("variant", "fastest"), "variant must be one of pdtsp, lifo, not 'fastest'"),
        (changed("metric", "great_circle"), "so coordinates must be called lat and lon"),
        (changed("rounding", 1), "rounding must be one of"),
        (changed("name", 1), "name must be a text"),
        (changed("open_end", 1), "open_end must be true or false, not the number 1"),
        (changed("capacity", "big"), "capacity must be a number"),
        (changed("matrix", [[0]]), "matrix has 1 rows, but there are 5 nodes"),
        (changed("matrix", [[0, 1], [0]]), "matrix[1] has 1 entries, not 2"),
        (changed("matrix", [[0, 1], [0, "a"]]), "matrix[1][1] must be a number, not a text"),
        (changed("matrix", [[10**400]]), "matrix holds a number that is too large"),
        (
            {"depot": {}, "requests": [{"pickup": {}, "delivery": {}}]},
            "depot has no coordinates, and there is no matrix",
        ),
        (
            {"format": "n2s-instances", "instances": [MINIMAL, changed("depot.q", 1)]},
            "unknown key instances[1].depot.q",
        ),
        (
            {
                "format": "n2s-instances",
                "instances": [MINIMAL, changed("requests.0.pickup.id", "depot")],
            },
            "a.json: instances[1]: node id 'depot' occurs twice",
        ),
        ('{"requests": [],\n "requests": []}', "the key 'requests' occurs twice"),
        ('{"requests":\n [', "a.json:2: this is not JSON"),
        ('{"requests": NaN}', "NaN is not a JSON number"),
        ('{"format": ' + "[" * 900 + "]" * 900 + "}", "format is"),
        ('{"requests": ' + "[" * 90000, "nested too deeply"),
    ],
)
def test_bad_bodies_are_named(body: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(body)
    assert message in str(caught.value)


def test_no_instances() -> None:
    with pytest.raises(InputError, match="no instance to write"):
        render([])


@pytest.mark.parametrize(
    "data",
    [
        b'{"vehicles": [], "shipments": []}',
        b'{"nodes": [], "edges": [], "precedence": []}',
        b'{"format": "n2s-solution", "route": []}',
        b"[1]",
        b"\xff\x00",
        b"{",
    ],
)
def test_the_json_of_others_is_not_recognised(data: bytes) -> None:
    assert not FORMAT.recognises(Source("a.json", data))


FULL = render(
    [
        Instance(
            coordinates=np.arange(10).reshape(5, 2) / 4,
            rounding=Rounding.NEAREST,
            loads=np.array([1, 2.5]),
            capacity=3.0,
            end=np.zeros(2),
            end_id="e",
            attributes=({"k": "v"}, {}, {}, {}, {}),
        )
    ]
)


@settings(max_examples=100, deadline=None)
@given(mutated(FULL) | mutated(FULL.replace(b" ", b"\n")))
def test_damage_is_read_or_refused(data: bytes) -> None:
    with suppress(InputError):
        assert all(isinstance(instance, Instance) for instance in parse(data))

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats.base import Source
from n2s.formats.json_solution import FORMAT, as_dict
from n2s.problem import Id, Instance, Variant, evaluate, generate

INSTANCE = Instance(
    coordinates=np.array([[0, 0], [3, 4], [6, 8], [3, 0], [0, 4]]),
    ids=("h", 1, 2, 3, 4),
    requests=("a", "b"),
    variant=Variant.LIFO,
    name="five",
)
# a and b are stacked and delivered in the wrong order: (3,4) 5, (6,8) 5, (3,0) sqrt(73), (0,4) 5, 4
CROSSED = evaluate(INSTANCE, [1, 2, 3, 4])
DATA = FORMAT.render(CROSSED, {"seed": np.int64(7), "gap": float("nan"), "stop": [Variant.LIFO]})


def parse(data: bytes | str, name: str = "r.json") -> list[Id]:
    source = Source(name, data.encode() if isinstance(data, str) else data)
    assert FORMAT.recognises(source)
    assert FORMAT.parse is not None
    return FORMAT.parse(source, INSTANCE)


def test_what_is_written() -> None:
    body = json.loads(DATA)
    assert (body["format"], body["version"], body["instance"]) == ("n2s-solution", 1, "five")
    assert (body["variant"], body["rounding"], body["feasible"]) == ("lifo", "none", False)
    assert body["cost"] == pytest.approx(19 + 73**0.5)
    assert body["route"] == ["h", 1, 2, 3, 4, "h"]
    assert body["stops"][2] == {
        **{"position": 2, "id": 2, "kind": "pickup", "request": "b"},
        **{"leg": 5, "cumulative": 10, "load": 2, "stack": ["a", "b"]},
    }
    (violation,) = body["violations"]
    assert (violation["rule"], violation["request"]) == ("lifo", "a")
    assert violation["positions"] == [1, 2, 3]
    assert body["record"] == {"seed": 7, "gap": None, "stop": ["lifo"]}


def test_what_is_written_is_read() -> None:
    assert evaluate(INSTANCE, parse(DATA)).cost == CROSSED.cost


@pytest.mark.parametrize("text", ["[1, 2, 3, 4]", '{"route": [1, 2, 3, 4], "by": "hand"}'])
def test_routes_by_hand(text: str) -> None:
    assert parse(text) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.sol", b'{"instance": "x", "cost": 1, "route": [0, 1]}'),
        ("a.json", b'{"depot": {}, "requests": []}'),
        ("a.json", b'{"format": "other", "route": [1]}'),
        ("a.json", b"[]"),
        ("a.json", b"[[1]]"),
        ("a.json", b"[true]"),
        ("a.json", b"\xff"),
        ("a.csv", b"id\n1\n"),
    ],
)
def test_what_is_no_route(name: str, data: bytes) -> None:
    assert not FORMAT.recognises(Source(name, data))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"route": []}', "route is missing or empty"),
        ("{}", "route is missing or empty"),
        ('{"route": [1, 2.5]}', "route[1] must be a text or a whole number"),
        ('{"format": "x", "route": [1]}', "format is not 'n2s-solution'"),
        ('{"version": 2, "route": [1]}', "version is not known"),
        ("7", "the file must be an object"),
        ("[1,", "this is not JSON"),
    ],
)
def test_bad_routes_are_named(text: str, message: str) -> None:
    assert FORMAT.parse is not None
    with pytest.raises(InputError) as caught:
        FORMAT.parse(Source("r.json", text.encode()), INSTANCE)
    assert message in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(mutated(DATA))
def test_damage_is_read_or_refused(data: bytes) -> None:
    assert FORMAT.parse is not None
    source = Source("r.json", data)
    FORMAT.recognises(source)
    with suppress(InputError):
        assert FORMAT.parse(source, INSTANCE)


def test_a_large_route_has_depth_and_top_of_the_stack() -> None:
    large = generate(501, variant=Variant.LIFO)[0]
    rows = as_dict(evaluate(large, [1, 2]), {})["stops"]
    assert isinstance(rows, list)
    assert (rows[2]["depth"], rows[2]["top"]) == (2, 2)
    assert "stack" not in rows[2]

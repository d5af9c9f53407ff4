from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats import tsppdlib
from n2s.formats.base import Source
from n2s.problem import Instance, evaluate

PLANE = """\
NAME: plane
TYPE: TSP
COMMENT: size=2
DIMENSION: 6
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
+0 0 0
-0 0 0
+1 3 4
-1 6 8
+4 0 1
-4 1 1
PRECEDENCE_SECTION
+0 -0
+1 -1
+4 -4
EOF
"""
# Row by row +0 -0 +1 -1 +2 -2; nothing is paid for going to -0.
OPEN = """\
NAME: open
TYPE: TSP
DIMENSION: 6
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT : LOWER_DIAG_ROW
EDGE_WEIGHT_SECTION
0
0 0
10 0 0
20 0 21 0
30 0 31 32 0
40 0 41 42 43 0
NODE_COORD_SECTION
+0 9 9
-0 9 9
+1 1 1
-1 2 2
+2 3 3
-2 4 4
PRECEDENCE_SECTION
+0 -0
+1 -1
+2 -2
EOF
"""
TWIN: dict[str, Any] = {
    "name": "open",
    "comment": "size=2",
    "nodes": ["+0", "-0", "+1", "-1", "+2", "-2"],
    "precedence": {"+0": "-0", "+1": "-1", "+2": "-2"},
    "edges": [
        [0, 0, 10, 20, 30, 40],
        [0, 0, 0, 0, 0, 0],
        [10, 0, 0, 21, 31, 41],
        [20, 0, 21, 0, 32, 42],
        [30, 0, 31, 32, 0, 43],
        [40, 0, 41, 42, 43, 0],
    ],
}


def parse(text: str) -> Instance:
    (instance,) = tsppdlib.TSP_FORMAT.parse(Source("file.tsp", text.encode()))
    return instance


def parse_json(data: object) -> Instance:
    text = data if isinstance(data, str) else json.dumps(data)
    (instance,) = tsppdlib.JSON_FORMAT.parse(Source("file.json", text.encode()))
    return instance


@pytest.mark.parametrize("text", [PLANE, PLANE.replace("\n", "\r\n")], ids=["lf", "crlf"])
def test_an_end_at_the_start_closes_the_route(text: str) -> None:
    instance = parse(text)
    assert instance.name == "plane"
    assert instance.ids == ("+0", "+1", "+4", "-1", "-4")
    assert instance.requests == ("1", "4")
    assert (instance.end_id, instance.open_end) == ("-0", False)
    # +0 +1: 5; +1 -1: 5; -1 +4: sqrt(36 + 49) = 9.2 -> 9; +4 -4: 1; -4 +0: 1.41 -> 1.
    evaluation = evaluate(instance, ["+1", "-1", "+4", "-4"])
    assert evaluation.feasible
    assert evaluation.cost == 21
    assert evaluation.route == ["+0", "+1", "-1", "+4", "-4", "-0"]
    assert evaluate(instance, evaluation.route).cost == 21


def test_an_end_elsewhere() -> None:
    instance = parse(PLANE.replace("-0 0 0", "-0 1 4"))
    assert instance.end_id == "-0"
    # As above, but from -4 (1, 1) it is 3 to the end.
    evaluation = evaluate(instance, ["+0", "+1", "-1", "+4", "-4", "-0"])
    assert evaluation.feasible
    assert evaluation.cost == 23
    assert evaluation.route[-1] == "-0"


def test_an_end_that_costs_nothing_opens_the_route() -> None:
    instance = parse(OPEN)
    assert instance.open_end
    assert instance.ids == ("+0", "+1", "+2", "-1", "-2")
    evaluation = evaluate(instance, ["+0", "+1", "+2", "-2", "-1"])
    assert evaluation.feasible
    assert evaluation.cost == 10 + 31 + 43 + 42
    named = evaluate(instance, ["+0", "+1", "+2", "-2", "-1", "-0"])
    assert (named.cost, named.route) == (evaluation.cost, evaluation.route)
    with pytest.raises(InputError, match=r"stop '-0' \(position 1\)"):
        evaluate(instance, ["+0", "-0", "+1", "+2", "-2", "-1"])


def test_the_json_twin_is_the_same_instance() -> None:
    instance, twin = parse(OPEN), parse_json(TWIN)
    assert (twin.name, twin.ids, twin.requests) == (instance.name, instance.ids, instance.requests)
    assert twin.open_end
    np.testing.assert_array_equal(twin.costs, instance.costs)


def test_costs_of_the_end_decide() -> None:
    edges = np.array(TWIN["edges"])
    edges[:, 1] = edges[:, 0]
    closed = parse_json({**TWIN, "edges": edges.tolist()})
    assert (closed.open_end, closed.end_id) == (False, "-0")
    assert evaluate(closed, ["+1", "+2", "-2", "-1"]).cost == 10 + 31 + 43 + 42 + 20
    edges[3, 1] = 7  # from -1 to -0
    edges[1, 0] = 1000  # -0 back to +0, no part of the route
    ended = parse_json({**TWIN, "edges": edges.tolist()})
    assert ended.end_id == "-0"
    assert evaluate(ended, ["+1", "+2", "-2", "-1"]).cost == 10 + 31 + 43 + 42 + 7


def test_a_matrix_alone_is_ordered_like_the_precedences() -> None:
    head, rest = OPEN.split("NODE_COORD_SECTION")
    text = head + "PRECEDENCE_SECTION" + rest.split("PRECEDENCE_SECTION")[1]
    np.testing.assert_array_equal(parse(text).costs, parse(OPEN).costs)
    with pytest.raises(InputError, match="names 4 nodes but DIMENSION is 6"):
        parse(text.replace("+2 -2\n", ""))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PRECEDENCE_SECTION", "EOF", "no PRECEDENCE_SECTION .* open the .mtc"),
        ("+1 3 4", "+4 3 4", r"node '\+4' occurs twice"),
        ("+1 3 4", "1 3 4", "a node is called like '\\+1' or '-1', not '1'"),
        ("+1 3 4\n", "", "NODE_COORD_SECTION has 5 rows but DIMENSION is 6"),
        ("+1 -1\n", "+1 -4\n", r"'\+i' before '-i', not '\+1' before '-4'"),
        ("+1 -1\n", "-1 +1\n", r"'\+i' before '-i', not '-1' before '\+1'"),
        ("+1 -1\n", "+1\n", r"a row here is '\+i -i', not '\+1'"),
        ("+1 -1\n", "+7 -7\n", r"node '\+7' has a precedence but is not among the nodes"),
        ("+1 -1\n", "", r"node '\+1' has no partner"),
        ("+1 -1\n", "+4 -4\n", r"node '\+4' is paired twice"),
        ("+0 -0\n", "", r"one precedence of start '\+0' and end '-0'"),
        ("TYPE: TSP\n", "", "TYPE is missing"),
    ],
)
def test_errors(old: str, new: str, message: str) -> None:
    assert old in PLANE
    with pytest.raises(InputError, match=message):
        parse(PLANE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TYPE: TSP", "TYPE: SOP", "TYPE 'SOP' is not supported"),
        ("DIMENSION", "CAPACITY : 3\nDIMENSION", "CAPACITY is not supported"),
        ("PRECEDENCE", "FIXED_EDGES_SECTION\n1 2\nPRECEDENCE", "FIXED_EDGES_SECTION is not"),
    ],
)
def test_unsupported(old: str, new: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        parse(PLANE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": None}, "nodes is missing"),
        ({"nodes": "+0"}, "nodes must be a list"),
        ({"nodes": ["+0", "-0", "+1", "-1", "+2", 2]}, "not '2'"),
        ({"nodes": ["+0", "-0", "+1", "-1", "+2", "+2"]}, r"node '\+2' occurs twice"),
        ({"precedence": []}, "precedence must be an object"),
        ({"precedence": {"+0": "-0", "+1": "-2"}}, "not '\\+1' before '-2'"),
        ({"precedence": {"+0": "-0", "+1": 1}}, "not '1'"),
        ({"edges": TWIN["edges"][:5]}, r"edges\[0\] has 6 entries, not 5"),
        ({"edges": [[0]]}, "edges must have 6 rows"),
        ({"edges": [["x"] * 6] * 6}, "must be a number"),
        ({"edges": [[-1] * 6] * 6}, "is -1"),
        ({"edges": [[10**400] * 6] * 6}, "too large"),
        ({"name": 3}, "name must be a text"),
    ],
)
def test_errors_of_json(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_json({**TWIN, **change})


@pytest.mark.parametrize("text", ["[]", "{", '{"nodes": 1, "nodes": 2}', "[" * 100_000])
def test_other_json(text: str) -> None:
    with pytest.raises(InputError):
        parse_json(text)


def test_recognition() -> None:
    assert tsppdlib.recognises_tsp(Source("x", PLANE.encode()))
    assert not tsppdlib.recognises_tsp(Source("x", b"TYPE: TSP\nCOMMENT: PRECEDENCE_SECTION\n"))
    assert tsppdlib.recognises_json(Source("x", json.dumps(TWIN).encode()))
    assert not tsppdlib.recognises_json(Source("x", b'{"nodes": []}'))
    for recognises in (tsppdlib.recognises_tsp, tsppdlib.recognises_json):
        assert not recognises(Source("x", bytes(range(256))))


@settings(max_examples=100, deadline=None)
@given(mutated(PLANE.encode()) | mutated(OPEN.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("file.tsp", data)
    tsppdlib.recognises_tsp(source)
    try:
        (instance,) = tsppdlib.parse_tsp(source)
    except InputError:
        return
    assert np.isfinite(instance.costs).all()


@settings(max_examples=100, deadline=None)
@given(mutated(json.dumps(TWIN, indent=1).encode()))
def test_damaged_json_is_read_or_refused(data: bytes) -> None:
    source = Source("file.json", data)
    tsppdlib.recognises_json(source)
    try:
        (instance,) = tsppdlib.parse_json(source)
    except InputError:
        return
    assert np.isfinite(instance.costs).all()

from __future__ import annotations

import time

import numpy as np
import pytest
import vrplib
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats import sol
from n2s.formats.base import Source
from n2s.problem import Id, Instance, evaluate, evaluate_nodes, generate, random_tour

# A line: the depot at 0, the pickups b and d at 1 and 2, their deliveries a and c at 3 and 4.
WORDS = Instance(
    coordinates=np.array([[0.0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]),
    ids=("depot", "b", "d", "a", "c"),
    name="line",
)
# Counted from 1 as in a .pdt file: number 0 is node 1, the depot; number 4 is the first pickup.
COUNTED = Instance(coordinates=WORDS.coordinates, ids=(1, 5, 3, 2, 4), name="line")
VRPLIB = "Route #1: 1 2 3 4\nCost: 8\n"
JSON = '{\n "instance": "line",\n "cost": 8,\n "route": [0, 1, 2, 3, 4, 0]\n}\n'


def parse(text: str, instance: Instance = WORDS) -> list[Id]:
    if sol.FORMAT.parse is None:
        raise TypeError
    return sol.FORMAT.parse(Source("line.sol", text.encode()), instance)


def test_vrplib_dialect() -> None:
    evaluation = evaluate(WORDS, ["b", "d", "a", "c"])
    assert sol.render(evaluation, {}).decode() == VRPLIB
    assert parse(VRPLIB) == ["b", "d", "a", "c"]
    assert parse(VRPLIB.replace("\n", "\r\n")) == ["b", "d", "a", "c"]
    assert parse("route 1 : 1 2\nCost 8\nTime: 2 s\n") == ["b", "d"]
    read = vrplib.parse.parse_solution(VRPLIB)
    assert (read["routes"], read["cost"]) == ([[1, 2, 3, 4]], 8)


def test_json_dialect() -> None:
    assert parse(JSON) == ["depot", "b", "d", "a", "c", "depot"]
    assert parse("\ufeff" + JSON.replace("\n", "\r\n")) == parse(JSON)


def test_numbers_are_those_of_the_file() -> None:
    # Numbers 1, 2, 3, 4 are the ids 2, 3, 4, 5 of a file counted from 1.
    assert parse(VRPLIB, COUNTED) == [2, 3, 4, 5]
    assert parse(JSON, COUNTED) == [1, 2, 3, 4, 5, 1]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("Route #1: 1 5\n", r"node 5 is outside 0\.\.4", 1),
        ("Cost: 3\nRoute #1: 1 -2\n", r"node -2 is outside 0\.\.4", 2),
        ("Route #1: 1 b\n", "a stop must be a whole number, not 'b'", 1),
        ("Route #1: 1\n2 3\n", "'2 3' is neither 'Route #1: ...' nor 'Cost: ...'", 2),
        ("Cost: 3\n", "there is no 'Route #1: ...'", None),
        ("{", "not JSON", 1),
        ("{}", "route must be a list of node numbers", None),
        ('{"route": "1"}', "route must be a list of node numbers", None),
        ('{"route": [1, 2.5]}', "route must hold whole numbers, not 2.5", None),
        ('{"route": [true]}', "route must hold whole numbers, not True", None),
        ('{"route": [0, 7]}', r"node 7 is outside 0\.\.4", None),
    ],
)
def test_errors(text: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(text)
    assert caught.value.line == line


def test_more_than_one_route() -> None:
    with pytest.raises(UnsupportedError, match="more than one route"):
        parse("Route #1: 1 2\nRoute #2: 3 4\n")


def test_recognition() -> None:
    assert sol.recognises(Source("x", VRPLIB.encode()))
    assert sol.recognises(Source("x", JSON.encode()))
    assert not sol.recognises(Source("x", b'{"nodes": []}'))
    assert not sol.recognises(Source("x", bytes(range(256))))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([WORDS, COUNTED]))
def test_round_trip(seed: int, instance: Instance) -> None:
    nodes = random_tour(instance.n, instance.variant, np.random.default_rng(seed))
    evaluation = evaluate_nodes(instance, nodes.tolist())
    again = evaluate(instance, parse(sol.render(evaluation, {}).decode(), instance))
    assert again.nodes == evaluation.nodes
    assert again.cost == evaluation.cost


@settings(max_examples=100, deadline=None)
@given(mutated(VRPLIB.encode()) | mutated(JSON.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("line.sol", data)
    sol.recognises(source)
    try:
        route = sol.parse(source, WORDS)
    except InputError:
        return
    evaluate(WORDS, route)


def test_a_long_line_of_blanks_is_read_at_once() -> None:
    began = time.perf_counter()
    with pytest.raises(InputError):
        sol.parse(Source("a.sol", b"route" + b" " * 200_000 + b"x"), generate(1)[0])
    assert time.perf_counter() - began < 2

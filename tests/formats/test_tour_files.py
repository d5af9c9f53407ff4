from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats import tour
from n2s.formats.base import Source
from n2s.problem import Id, Instance, evaluate, evaluate_nodes, random_tour

# A line: the depot at 0, the pickups b and d at 1 and 2, their deliveries a and c at 3 and 4.
WORDS = Instance(
    coordinates=np.array([[0.0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]),
    ids=("depot", "b", "d", "a", "c"),
    name="line",
)
COUNTED = Instance(coordinates=WORDS.coordinates, ids=(3, 1, 2, 5, 4), name="line")
TOUR = """\
NAME : line.tour
COMMENT : Length = 8
TYPE : TOUR
DIMENSION : 5
TOUR_SECTION
1
2
3
4
5
-1
EOF
"""


def parse(text: str, instance: Instance = WORDS) -> list[Id]:
    if tour.FORMAT.parse is None:
        raise TypeError
    return tour.FORMAT.parse(Source("line.tour", text.encode()), instance)


def test_writing_and_reading() -> None:
    evaluation = evaluate(WORDS, ["depot", "b", "d", "a", "c", "depot"])
    assert tour.render(evaluation, {}).decode() == TOUR
    assert parse(TOUR) == ["depot", "b", "d", "a", "c"]
    assert parse(TOUR.replace("\n", "\r\n")) == ["depot", "b", "d", "a", "c"]


def test_ids_that_are_numbers_are_the_numbers_of_the_file() -> None:
    evaluation = evaluate(COUNTED, [3, 1, 2, 5, 4])
    assert b"TOUR_SECTION\n3\n1\n2\n5\n4\n-1\n" in tour.render(evaluation, {})


def test_a_cycle_may_be_written_from_any_node() -> None:
    assert parse(TOUR, COUNTED) == [3, 4, 5, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("TYPE : TOUR\n", "", "TYPE is missing", None),
        ("TYPE : TOUR", "TYPE : TSP", "the TYPE is 'TSP', not TOUR", 3),
        ("TOUR_SECTION", "X_SECTION", "TOUR_SECTION is missing", None),
        ("-1\n", "", r"does not end with -1 \(is it cut off\?\)", 5),
        ("\n2\n", "\n9\n", r"node 9 is outside 1\.\.5", 7),
        ("\n2\n", "\n0\n", r"node 0 is outside 1\.\.5", 7),
        ("\n2\n", "\nb\n", "a node of the tour must be a whole number, not 'b'", 7),
        ("\n2\n", "\n", "the tour has 4 nodes but DIMENSION is 5", 4),
    ],
)
def test_errors(old: str, new: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(TOUR.replace(old, new, 1))
    assert caught.value.line == line


def test_more_than_one_tour() -> None:
    with pytest.raises(UnsupportedError, match="more than one tour"):
        parse(TOUR.replace("-1\n", "-1\n1 2 3 4 5 -1\n"))


def test_recognition() -> None:
    assert tour.recognises(Source("x", TOUR.encode()))
    assert not tour.recognises(Source("x", b"TYPE : TSP\n"))
    assert not tour.recognises(Source("x", bytes(range(256))))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([WORDS, COUNTED]))
def test_round_trip(seed: int, instance: Instance) -> None:
    nodes = random_tour(instance.n, instance.variant, np.random.default_rng(seed))
    evaluation = evaluate_nodes(instance, nodes.tolist())
    again = evaluate(instance, parse(tour.render(evaluation, {}).decode(), instance))
    assert again.nodes == evaluation.nodes
    assert again.cost == evaluation.cost


@settings(max_examples=100, deadline=None)
@given(mutated(TOUR.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("line.tour", data)
    tour.recognises(source)
    try:
        route = tour.parse(source, WORDS)
    except InputError:
        return
    evaluate(WORDS, route)

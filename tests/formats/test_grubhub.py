from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats import grubhub
from n2s.formats.base import Source
from n2s.problem import Instance, evaluate

FIVE = """\
GRUBHUB: meals
DIMENSION: 5
0 1 2 3 4
0 0 12 13 14
0 21 0 23 24
0 31 32 0 34
0 41 42 43 0
"""


def parse(text: str) -> Instance:
    (instance,) = grubhub.FORMAT.parse(Source("five.pdt", text.encode()))
    return instance


@pytest.mark.parametrize("text", [FIVE, FIVE.replace("\n", "\r\n")], ids=["lf", "crlf"])
def test_reading(text: str) -> None:
    instance = parse(text)
    assert instance.name == "meals"
    assert instance.ids == (0, 1, 3, 2, 4)  # 1 -> 2 and 3 -> 4
    assert instance.open_end
    # 0-1: 1; 1-3: 13; 3-2: 32; 2-4: 24; nothing for the way back.
    evaluation = evaluate(instance, [0, 1, 3, 2, 4])
    assert evaluation.feasible
    assert evaluation.cost == 70


def test_a_way_back_that_costs_makes_a_closed_route() -> None:
    instance = parse(FIVE.replace("\n0 41", "\n7 41"))
    assert not instance.open_end
    assert evaluate(instance, [0, 1, 3, 2, 4]).cost == 77


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("GRUBHUB: meals\n", "", "this line must be 'GRUBHUB: ...', not 'DIMENSION: 5'", 1),
        ("DIMENSION: 5\n", "", "this line must be 'DIMENSION: ...', not '0 1 2 3 4'", 2),
        ("DIMENSION: 5", "DIMENSION: five", "DIMENSION must be a whole number", 2),
        ("DIMENSION: 5", "DIMENSION: 99999999999", "declares 99999999999 nodes but has 5", 2),
        ("0 41 42 43 0\n", "", "declares 5 nodes but has 4 rows", 2),
        ("0 41 42 43 0", "0 41 42 43", "a row of the matrix has 5 distances, not 4", 7),
        ("0 41 42 43 0", "0 41 42 nan 0", "a distance must be a number, not 'nan'", 7),
        ("0 41 42 43 0", "0 41 42 -3 0", "the distance from node 4 to node 3 is -3", None),
    ],
)
def test_errors(old: str, new: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(FIVE.replace(old, new, 1))
    assert caught.value.line == line


def test_an_even_number_of_nodes() -> None:
    with pytest.raises(InputError, match="an odd number of nodes, not 2"):
        parse("GRUBHUB: a\nDIMENSION: 2\n0 1\n0 0\n")


def test_a_head_alone() -> None:
    with pytest.raises(InputError, match="starts with 'GRUBHUB: name' and 'DIMENSION: n'"):
        parse("GRUBHUB: a\n")


def test_recognition() -> None:
    assert grubhub.recognises(Source("x", FIVE.encode()))
    assert grubhub.recognises(Source("x", b"\xef\xbb\xbf" + FIVE.encode()))
    assert not grubhub.recognises(Source("x", b"5\n1 0 0\n"))
    assert not grubhub.recognises(Source("x", bytes(range(256))))


@settings(max_examples=100, deadline=None)
@given(mutated(FIVE.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("five.pdt", data)
    grubhub.recognises(source)
    try:
        (instance,) = grubhub.parse(source)
    except InputError:
        return
    assert np.isfinite(instance.costs).all()

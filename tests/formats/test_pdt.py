from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats import pdt
from n2s.formats.base import Source
from n2s.problem import Instance, Variant, evaluate

FIVE = """\
 5
   1   0.0   0.0
   2   3.0   4.0   1   5
   3   6.0   8.0   0   4
   4   0.0   1.0   1   3
   5   1.0   1.0   0   2
-999
"""


def parse(text: str, name: str = "five.pdt") -> Instance:
    (instance,) = pdt.FORMAT.parse(Source(name, text.encode()))
    return instance


@pytest.mark.parametrize(
    "text",
    [FIVE, FIVE.replace("\n", "\r\n"), FIVE.replace("-999\n", ""), FIVE + "remarks\n"],
    ids=["plain", "crlf", "no terminator", "remarks"],
)
def test_reading(text: str) -> None:
    instance = parse(text)
    assert instance.name == "five"
    assert instance.variant is Variant.PDTSP
    assert instance.ids == (1, 3, 5, 4, 2)  # type 0 is a pickup: 3 -> 4 and 5 -> 2
    # 1-5: 1.41 -> 1; 5-2: sqrt(4 + 9) = 3.6 -> 4; 2-3: 5; 3-4: sqrt(36 + 49) = 9.2 -> 9; 4-1: 1.
    evaluation = evaluate(instance, [1, 5, 2, 3, 4, 1])
    assert evaluation.feasible
    assert evaluation.cost == 20


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        (" 5\n", "", "a row here is 'count', not '1 0.0 0.0'", 1),
        (" 5\n", "five\n", "the number of nodes must be a whole number, not 'five'", 1),
        (" 5\n", "7\n", r"declares 7 nodes but has 5 rows \(is it cut off\?\)", 1),
        (" 5\n", "999999999999\n", "declares 999999999999 nodes but has 5 rows", 1),
        (" 5\n", "0\n-999\n", "declares no nodes", 1),
        ("1   0.0   0.0", "1   0.0   0.0 0 0", "a row here is '1 x y'", 2),
        ("3.0   4.0   1   5", "3.0   4.0   1", "a row here is 'i x y type pair'", 3),
        ("3.0   4.0   1   5", "3.0   4.0   2   5", "node 2 has type 2, not 0", 3),
        ("3.0   4.0   1   5", "3.0   4.0   p   5", "the type of node 2 must be a whole", 3),
        ("3.0   4.0   1   5", "3.0   nan   1   5", "the coordinate of node 2 must be a number", 3),
        ("3.0   4.0   1   5", "3.0   4.0   1   9", "node 2 is paired with node 9, which is no", 3),
        ("3.0   4.0   1   5", "3.0   4.0   1   1", "node 2 is paired with node 1, which is no", 3),
        ("3.0   4.0   1   5", "3.0   4.0   1   3", "node 2 is paired with node 3, which is pai", 3),
        ("3.0   4.0   1   5", "3.0   4.0   0   5", "node 2 and its pair 5 are both pickups", 3),
        ("   2   3.0", "   3   3.0", r"node 3 occurs twice \(first in line 3\)", 4),
        ("   2   3.0", "   8   3.0", "node 8 is outside 1..5", 3),
    ],
)
def test_errors(old: str, new: str, message: str, line: int) -> None:
    assert old in FIVE
    with pytest.raises(InputError, match=message) as caught:
        parse(FIVE.replace(old, new, 1))
    assert caught.value.line == line


def test_the_depot_comes_first() -> None:
    with pytest.raises(InputError, match="the depot is node 1, not 2"):
        parse("3\n2 0 0\n1 1 1 0 3\n3 2 2 1 1\n")


def test_an_empty_file() -> None:
    with pytest.raises(InputError, match="empty"):
        parse("\n")


def test_recognition() -> None:
    assert pdt.recognises(Source("a.txt", FIVE.encode()))
    assert pdt.recognises(Source("a.PDT", b"rubbish"))  # so that its parser says what is wrong
    assert not pdt.recognises(Source("a.pdt", b"GRUBHUB: x\n"))
    assert not pdt.recognises(Source("a.txt", b"rubbish"))
    assert not pdt.recognises(Source("a.txt", b""))
    assert not pdt.recognises(Source("a.txt", bytes(range(256))))


@settings(max_examples=100, deadline=None)
@given(mutated(FIVE.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("five.txt", data)
    pdt.recognises(source)
    try:
        (instance,) = pdt.parse(source)
    except InputError:
        return
    assert np.isfinite(instance.costs).all()

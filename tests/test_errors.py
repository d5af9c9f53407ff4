from __future__ import annotations

import pytest

from n2s.errors import InputError, located, quoted


def test_a_message_starts_with_file_and_line() -> None:
    assert str(InputError("node 3 is odd", "a.csv", 7)) == "a.csv:7: node 3 is odd"
    assert str(InputError("node 3 is odd", "a.csv")) == "a.csv: node 3 is odd"
    assert str(InputError("node 3 is odd")) == "node 3 is odd"


def test_the_outer_source_is_named_only_where_none_was() -> None:
    with pytest.raises(InputError, match=r"^outer: x"), located("outer"):
        raise InputError("x")
    with pytest.raises(InputError, match=r"^inner:2: x"), located("outer"):
        raise InputError("x", "inner", 2)


def test_a_message_is_one_printable_line() -> None:
    message = str(InputError("a\nb \x1b[31m", "odd\udcff.csv"))
    assert message == "odd\\udcff.csv: a\\nb \\x1b[31m"


def test_quotes_are_cut_short() -> None:
    assert quoted("a\tb") == "'a\\tb'"
    assert quoted(7) == "7"
    assert len(quoted("x" * 1000)) == 62
    assert len(quoted(list(range(1000)))) == 60
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert quoted(nested) == "something very large"
    assert quoted(10**5000) == "something very large"

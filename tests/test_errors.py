from __future__ import annotations

import pytest

from n2s.errors import InputError, located


def test_a_message_starts_with_file_and_line() -> None:
    assert str(InputError("node 3 is odd", "a.csv", 7)) == "a.csv:7: node 3 is odd"
    assert str(InputError("node 3 is odd", "a.csv")) == "a.csv: node 3 is odd"
    assert str(InputError("node 3 is odd")) == "node 3 is odd"


def test_the_outer_source_is_named_only_where_none_was() -> None:
    with pytest.raises(InputError, match=r"^outer: x"), located("outer"):
        raise InputError("x")
    with pytest.raises(InputError, match=r"^inner:2: x"), located("outer"):
        raise InputError("x", "inner", 2)

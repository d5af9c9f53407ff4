from __future__ import annotations

import pytest

from n2s.errors import InputError
from n2s.formats import strict_json
from n2s.formats.base import Source


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' occurs twice"),
        (b"[NaN]", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{\n "a": }', "f.json:2: this is not JSON: Expecting value"),
        (b'["\\ud800"]', "half of a surrogate pair"),
        (b"[" + b"1" * 5000 + b"]", "too many digits"),
        (b"[\xff]", "not a text file in UTF-8"),
        (b"", "f.json:1: this is not JSON"),
    ],
)
def test_what_is_not_strict_json_is_named(data: bytes, message: str) -> None:
    source = Source("f.json", data)
    with pytest.raises(InputError) as caught:
        strict_json.load(source)
    assert message in str(caught.value)
    assert strict_json.peek(source) is None


def test_loads_with_byte_order_mark_and_large_numbers() -> None:
    source = Source(
        "f.json", b'\xef\xbb\xbf {"a": [1, 2.5, "\\ud83d\\ude00"], "b": 10000000000000000000000}'
    )
    value = {"a": [1, 2.5, "😀"], "b": 10**22}
    assert strict_json.load(source) == value
    assert strict_json.peek(source) is strict_json.load(source)  # parsed once


@pytest.mark.parametrize("data", [b"\x80\x05]\x94.", b"PK\x03\x04", b"a,b\n1,2", b"\x00\xff", b"7"])
def test_peek_of_what_is_no_container_is_nothing(data: bytes) -> None:
    assert strict_json.peek(Source("f", data)) is None


def test_dump_breaks_the_outer_levels_only() -> None:
    value = {"a": 1, "b": [{"c": [1, [2]]}, {"d": 3}], "e": [4, 5]}
    assert strict_json.dump(value, levels=2).decode() == (
        '{\n "a": 1,\n "b": [\n  {"c": [1, [2]]},\n  {"d": 3}\n ],\n "e": [4, 5]\n}\n'
    )


def test_dump_refuses_what_json_cannot_hold() -> None:
    with pytest.raises(InputError, match="cannot be written as JSON"):
        strict_json.dump({"a": object()})

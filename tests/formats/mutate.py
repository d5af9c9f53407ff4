"""Damaged files: what a reader may be handed, made from a file that is good."""

from __future__ import annotations

from hypothesis import strategies as st

TOKENS = [
    *(b"0", b"-1", b"1", b"2", b"3", b"99", b"1.5", b"-0", b"+1", b"1e9", b"1e999", b"1_0"),
    *(b"nan", b"inf", b"-inf", b"x", b"", b"1 2", b":", b"EOF", b"-999", b"\xff", b"\x00", b"{"),
    *("٣".encode(), b"9" * 30, b"null", b"true", b"[]", b'"a"'),
]


@st.composite
def mutated(draw: st.DrawFn, valid: bytes) -> bytes:
    """``valid`` after one to three accidents to its lines, tokens or bytes."""
    data = valid
    for _ in range(draw(st.integers(1, 3))):
        data = draw(st.sampled_from(ACCIDENTS))(draw, data)
    return data


def _delete_line(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[draw(st.integers(0, len(lines) - 1))]
    return b"".join(lines)


def _double_line(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        line = lines[draw(st.integers(0, len(lines) - 1))]
        lines.insert(draw(st.integers(0, len(lines))), line)
    return b"".join(lines)


def _swap_lines(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def _replace_token(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.split(b"\n")
    i = draw(st.integers(0, len(lines) - 1))
    tokens = lines[i].split(b" ")
    tokens[draw(st.integers(0, len(tokens) - 1))] = draw(st.sampled_from(TOKENS))
    lines[i] = b" ".join(tokens)
    return b"\n".join(lines)


def _change_byte(draw: st.DrawFn, data: bytes) -> bytes:
    if not data:
        return data
    place = draw(st.integers(0, len(data) - 1))
    byte = draw(st.one_of(st.integers(0, 255), st.sampled_from(list(b"0123456789+-. :\n"))))
    return data[:place] + bytes([byte]) + data[place + 1 :]


def _truncate(draw: st.DrawFn, data: bytes) -> bytes:
    return data[: draw(st.integers(0, len(data)))]


def _insert(draw: st.DrawFn, data: bytes) -> bytes:
    place = draw(st.integers(0, len(data)))
    return data[:place] + draw(st.binary(min_size=1, max_size=4)) + data[place:]


def _other_line_ends(draw: st.DrawFn, data: bytes) -> bytes:
    return data.replace(b"\n", draw(st.sampled_from([b"\r\n", b"\n\n", b"\r"])))


ACCIDENTS = [
    _delete_line,
    _double_line,
    _swap_lines,
    _replace_token,
    _change_byte,
    _truncate,
    _insert,
    _other_line_ends,
]

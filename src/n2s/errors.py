"""One small family of exceptions; every message is a sentence that names what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class N2SError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(N2SError):
    """Data that cannot be used as it is: a file, an instance, a route or an option.

    Parameters
    ----------
    message
        One sentence that names the node, request, field or value.
    source
        The file (or other origin) the data came from.
    line
        The line in that file, counted from 1.
    """

    def __init__(self, message: str, source: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line

    def __str__(self) -> str:
        where = [str(part) for part in (self.source, self.line) if part is not None]
        return printable(": ".join([":".join(where), self.message] if where else [self.message]))


class UnsupportedError(InputError):
    """Well-formed input that asks for something this package does not do (yet)."""


def printable(text: str) -> str:
    """Text with its control characters escaped: a file must not steer the terminal that shows it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quoted(value: object, limit: int = 60) -> str:
    """A value from a file as a message quotes it: escaped, and cut short where it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= limit else f"{value[: limit - 3]}...")
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # digits or brackets beyond what Python prints
        return "something very large"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


@contextmanager
def located(source: str) -> Iterator[None]:
    """Name ``source`` in any :class:`InputError` raised inside that does not name one yet."""
    try:
        yield
    except InputError as error:
        if error.source is None:
            error.source = source
        raise

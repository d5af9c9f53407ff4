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
        return ": ".join([":".join(where), self.message] if where else [self.message])


class UnsupportedError(InputError):
    """Well-formed input that asks for something this package does not do (yet)."""


@contextmanager
def located(source: str) -> Iterator[None]:
    """Name ``source`` in any :class:`InputError` raised inside that does not name one yet."""
    try:
        yield
    except InputError as error:
        if error.source is None:
            error.source = source
        raise

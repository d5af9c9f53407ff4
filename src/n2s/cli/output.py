"""Standard streams whose failures reach :func:`n2s.cli.main.run`.

Typer and rich both answer a broken pipe by leaving with exit code 1, which here means an infeasible
route. They look for ``OSError``; these streams raise something they let pass.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """A standard stream took no more."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause.strerror)
        self.broken_pipe = isinstance(cause, BrokenPipeError)


class _Guarded(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._failed = False

    def write(self, data: ReadableBuffer, /) -> int | None:
        if self._failed:  # told already; what is still in a buffer is lost either way
            return len(memoryview(data))
        try:
            return self._raw.write(data)
        except OSError as error:
            self._failed = True
            raise OutputError(error) from error

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._raw.isatty()

    def fileno(self) -> int:
        return self._raw.fileno()


def guard() -> None:
    """Put guarded streams in the place of standard output and standard error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        buffer = getattr(stream, "buffer", None)
        if buffer is None:  # closed, or replaced by whoever calls
            continue
        raw = getattr(buffer, "raw", buffer)  # with PYTHONUNBUFFERED there is no buffer
        guarded = io.TextIOWrapper(
            io.BufferedWriter(_Guarded(raw)),
            encoding=stream.encoding,
            errors="backslashreplace",  # a name that the terminal cannot show is no reason to fail
            line_buffering=stream.isatty() or raw is buffer or name == "stderr",
        )
        setattr(sys, name, guarded)

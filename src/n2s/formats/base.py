"""What every format module is made of: a source to parse and two small descriptions.

A format module parses bytes it is handed and renders bytes it hands back; only ``registry`` touches
the disk. The same parsers therefore serve files, uploads and tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from n2s.errors import InputError
from n2s.problem import Evaluation, Id, Instance


@dataclass(frozen=True)
class Source:
    """Bytes with a name for messages and, where they came from a folder, that folder."""

    name: str
    data: bytes = field(repr=False)
    folder: Path | None = None
    beside: tuple[Source, ...] = field(default=(), repr=False)
    """Files that came together with this one, where there is no folder to look into."""

    @property
    def stem(self) -> str:
        """The name without folder and last suffix: the default name of an instance.

        What is not UTF-8 in a file's name is replaced, since no other file could hold it.
        """
        return os.fsencode(Path(self.name).stem).decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """The bytes as text: UTF-8 with or without a byte-order mark."""
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise InputError(
                "this is not a text file in UTF-8 (save it with that encoding)", self.name, line
            ) from None

    def lines(self) -> list[tuple[int, str]]:
        """(line number from 1, stripped line) of every line that is not blank."""
        numbered = enumerate(self.text.splitlines(), start=1)
        return [(number, line.strip()) for number, line in numbered if line.strip()]

    def error(self, message: str, line: int | None = None) -> InputError:
        """An error about this source, to be raised."""
        return InputError(message, self.name, line)


@dataclass(frozen=True)
class Format:
    """A file format for instances."""

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Source], bool]
    """Whether the content looks like this format; called for a matching suffix, cheap, never raises."""
    parse: Callable[[Source], list[Instance]]
    render: Callable[[Sequence[Instance]], bytes] | None = None
    """None for a format that is only read."""


@dataclass(frozen=True)
class RouteFormat:
    """A file format for the route of a known instance."""

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Source], bool]
    parse: Callable[[Source, Instance], list[Id]] | None
    render: Callable[[Evaluation, Mapping[str, object]], bytes]
    """Evaluation and a record of how it was found (method, seed, seconds, ...; may be empty)."""


def one(instances: Sequence[Instance], format_name: str) -> Instance:
    """The only instance of a sequence, for formats that hold just one."""
    if len(instances) != 1:
        raise InputError(
            f"a {format_name} file holds one instance, not {len(instances)}: "
            "write .npz or .json, or one file each"
        )
    return instances[0]

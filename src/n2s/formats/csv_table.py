"""A table from a CSV file as people write them: any delimiter, decimal commas, blank lines."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from n2s.errors import quoted
from n2s.formats.base import Source
from n2s.problem import Id

DELIMITERS = ",;\t"

# The first line that is not blank; quotes may hold line breaks.
_HEADER = re.compile(r'(?:[^\S\r\n]*[\r\n])*(?:"[^"]*"|[^"\r\n])*')
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Row:
    """The cells of one line, stripped, as many as the header has."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The header and the rows that are not blank."""

    source: Source
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    delimiter: str

    def number(self, text: str, column: str, line: int) -> float:
        """The number in a cell; with a comma for the point where the delimiter is a semicolon."""
        plain = text.replace(",", ".") if self.delimiter == ";" else text
        if not _NUMBER.fullmatch(plain):
            raise self.source.error(f"{column} is {quoted(text)}, which is not a number", line)
        value = float(plain)
        if math.isinf(value):
            raise self.source.error(f"{column} is {quoted(text)}, which is too large", line)
        return value


def header(source: Source) -> tuple[str, ...]:
    """The first line's cells; an error if the file is no table."""
    return next(_rows(source))[1]


def read(source: Source) -> Table:
    """The whole table; rows may leave out cells at their end, but not have too many."""
    lines = _rows(source)
    _, names = next(lines)
    rows = []
    for line, cells in lines:
        if any(cells[len(names) :]):
            raise source.error(f"the row has {len(cells)} cells, the header {len(names)}", line)
        padded = (*cells, *[""] * (len(names) - len(cells)))[: len(names)]
        for cell, name in zip(padded, names, strict=True):
            if cell and not name:
                raise source.error(f"the cell {quoted(cell)} is in a column without a name", line)
        rows.append(Row(line, padded))
    return Table(source, names, tuple(rows), _delimiter(source))


def _delimiter(source: Source) -> str:
    """The one that occurs most in the header, quoted text aside."""
    header = _HEADER.match(source.text)
    plain = _QUOTED.sub("", header[0]) if header else ""
    return max(DELIMITERS, key=plain.count)


def _rows(source: Source) -> Iterator[tuple[int, tuple[str, ...]]]:
    # newline="" leaves line breaks inside quotes alone.
    reader = csv.reader(
        io.StringIO(source.text, newline=""), delimiter=_delimiter(source), strict=True
    )
    found = False
    while True:
        try:
            cells = tuple(cell.strip() for cell in next(reader))
        except StopIteration:
            break
        except csv.Error as error:
            raise source.error(f"this is not a CSV table ({error})", reader.line_num) from None
        if any(cells):
            found = True
            yield reader.line_num, cells
    if not found:
        raise source.error("the table is empty")


def render(rows: Iterable[Sequence[str]], delimiter: str = ",") -> bytes:
    """A table as text. Not by ``csv``: its writer leaves a lone carriage return bare."""
    return "".join(delimiter.join(map(_quoted, row)) + "\n" for row in rows).encode()


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if re.search('[,;\t"\r\n]', cell) else cell


def shown(value: float) -> str:
    """The shortest text that reads back as the same number: 3, not 3.0."""
    text = repr(float(value))
    return text.removesuffix(".0")


def as_ids(texts: Sequence[str]) -> list[Id]:
    """Ids as the user wrote them: whole numbers if all of them are, else texts."""
    if all(_WHOLE.fullmatch(text) for text in texts):
        return [int(text) for text in texts]
    return list(texts)

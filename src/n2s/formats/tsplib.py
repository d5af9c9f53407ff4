"""The TSPLIB layout that several formats share: ``KEY : VALUE`` lines and ``*_SECTION`` blocks.

``vrplib`` reads this layout too, but drops the ids and line numbers that messages have to name, and
of the explicit matrices knows two; so the text is split here. The tests use it as a second reader.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from n2s.errors import UnsupportedError, quoted
from n2s.formats.base import Source
from n2s.problem import Metric, Rounding
from n2s.problem.distance import FloatArray

SECTION = re.compile(r"([A-Z][A-Z0-9_]*)_SECTION\s*:?", re.IGNORECASE)
SPECIFICATION = re.compile(r"([A-Z][A-Z0-9_]*)\s*:\s*(.*)", re.IGNORECASE)

# What every file of this family may say in its head without changing the problem.
HEAD = frozenset(
    {
        "NAME",
        "TYPE",
        "COMMENT",
        "DIMENSION",
        "EDGE_WEIGHT_TYPE",
        "EDGE_WEIGHT_FORMAT",
        "NODE_COORD_TYPE",
        "DISPLAY_DATA_TYPE",
    }
)
GEOMETRY = frozenset({"NODE_COORD", "EDGE_WEIGHT", "DISPLAY_DATA"})

EXPLICIT = "EXPLICIT"
WEIGHT_TYPES: Mapping[str, tuple[Metric, Rounding]] = {
    "EUC_2D": (Metric.EUCLIDEAN, Rounding.NEAREST),
    "CEIL_2D": (Metric.EUCLIDEAN, Rounding.UP),
    "FLOOR_2D": (Metric.EUCLIDEAN, Rounding.DOWN),
    "MAN_2D": (Metric.MANHATTAN, Rounding.NEAREST),
    "MAX_2D": (Metric.MAXIMUM, Rounding.NEAREST),
    "GEO": (Metric.TSPLIB_GEO, Rounding.NONE),  # whole kilometres by its own rule
}
# (whether it is the lower triangle, whether the diagonal is written)
TRIANGLES: Mapping[str, tuple[bool, bool]] = {
    "LOWER_ROW": (True, False),
    "LOWER_DIAG_ROW": (True, True),
    "UPPER_ROW": (False, False),
    "UPPER_DIAG_ROW": (False, True),
}
FULL_MATRIX = "FULL_MATRIX"


@dataclass(frozen=True)
class Row:
    """One line of a section."""

    line: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A block of rows under a ``*_SECTION`` line."""

    name: str
    line: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Specification:
    """The value of one ``KEY : VALUE`` line."""

    line: int
    value: str


@dataclass(frozen=True)
class Geometry:
    """Where the nodes are and what the arcs cost, in the order of the file."""

    rows: tuple[Row, ...]
    """The rows of the coordinates, whose first tokens are ids; empty if there are none."""
    coordinates: FloatArray | None
    matrix: FloatArray | None
    metric: Metric
    rounding: Rounding


@dataclass(frozen=True)
class Document:
    """A text split into its specifications and sections, by name in capitals."""

    source: Source
    specifications: Mapping[str, Specification]
    sections: Mapping[str, Section]

    @property
    def name(self) -> str:
        """What the file calls itself, or else what it is called."""
        return self.value("NAME") or self.source.stem

    def value(self, key: str) -> str | None:
        """The value of a specification, None if there is none."""
        found = self.specifications.get(key)
        return None if found is None else found.value

    def line(self, key: str) -> int | None:
        """The line of a specification."""
        found = self.specifications.get(key)
        return None if found is None else found.line

    def need(self, key: str) -> str:
        """The value of a specification that has to be there."""
        value = self.value(key)
        if not value:
            raise self.source.error(f"the specification {key} is missing", self.line(key))
        return value

    def section(self, name: str) -> Section:
        """A section that has to be there."""
        if name not in self.sections:
            raise self.source.error(f"the {name}_SECTION is missing (is the file cut off?)")
        return self.sections[name]

    def expect(self, specifications: Collection[str], sections: Collection[str]) -> None:
        """Refuse whatever is not listed: it would change the problem without being heeded."""
        for key, specification in self.specifications.items():
            if key not in specifications:
                raise unsupported(
                    self.source,
                    f"the specification {key[:60]} is not supported",
                    specification.line,
                )
        for name, section in self.sections.items():
            if name not in sections:
                raise unsupported(
                    self.source, f"the {name[:60]}_SECTION is not supported", section.line
                )

    @property
    def dimension(self) -> int:
        """The declared number of nodes: a claim to be checked, never a size to allocate."""
        line = self.line("DIMENSION")
        size = integer(self.source, self.need("DIMENSION"), line, "DIMENSION")
        if size < 1:
            raise self.source.error(f"DIMENSION is {size}", line)
        return size

    def rows_by_node(self, name: str) -> tuple[Row, ...]:
        """The rows of a section that has one for each node."""
        section = self.section(name)
        if len(section.rows) != self.dimension:
            raise self.source.error(
                f"the {name}_SECTION has {len(section.rows)} rows but DIMENSION is "
                f"{self.dimension} (is the file cut off?)",
                section.line,
            )
        return section.rows


def split(source: Source) -> Document:
    """Take a text apart; whether its parts make sense is for the format to say."""
    specifications: dict[str, Specification] = {}
    sections: dict[str, tuple[int, list[Row]]] = {}
    rows: list[Row] | None = None
    for number, text in source.lines():
        if text.startswith("#"):
            continue
        if text.upper() == "EOF":
            break
        if section := SECTION.fullmatch(text):
            name = section[1].upper()
            if name in sections:
                first = sections[name][0]
                raise source.error(
                    f"the {name[:60]}_SECTION occurs twice (first in line {first})", number
                )
            rows = []
            sections[name] = (number, rows)
        elif specification := SPECIFICATION.fullmatch(text):
            key = specification[1].upper()
            if key in specifications and key != "COMMENT":
                earlier = specifications[key].line
                raise source.error(f"{key[:60]} is given twice (first in line {earlier})", number)
            specifications[key] = Specification(number, specification[2].strip())
        elif rows is not None:
            rows.append(Row(number, tuple(text.split())))
        else:
            raise source.error(
                f"{quoted(text)} is neither 'KEY : VALUE' nor the start of a section", number
            )
    return Document(
        source,
        specifications,
        {name: Section(name, line, tuple(found)) for name, (line, found) in sections.items()},
    )


def geometry(document: Document) -> Geometry:
    """Coordinates and costs of a document, checked against its DIMENSION."""
    source = document.source
    kind = document.need("EDGE_WEIGHT_TYPE").upper()
    line = document.line("EDGE_WEIGHT_TYPE")
    if kind != EXPLICIT and kind not in WEIGHT_TYPES:
        raise unsupported(
            source,
            f"EDGE_WEIGHT_TYPE {quoted(kind)} is not supported, "
            f"only {', '.join([*WEIGHT_TYPES, EXPLICIT])}",
            line,
        )
    if kind != EXPLICIT and "EDGE_WEIGHT" in document.sections:
        raise source.error(f"an EDGE_WEIGHT_SECTION contradicts EDGE_WEIGHT_TYPE {kind}", line)
    metric, rounding = WEIGHT_TYPES.get(kind, (Metric.EUCLIDEAN, Rounding.NONE))
    rows: tuple[Row, ...] = ()
    coordinates = None
    if kind != EXPLICIT or "NODE_COORD" in document.sections:
        rows = document.rows_by_node("NODE_COORD")
        coordinates = _coordinates(source, rows)
    matrix = _matrix(document) if kind == EXPLICIT else None
    return Geometry(rows, coordinates, matrix, metric, rounding)


def numbered(source: Source, rows: Sequence[Row], first: int) -> list[int]:
    """The ids of rows that are counted ``first``, ``first`` + 1, ... in any order, each once."""
    lines: dict[int, int] = {}
    last = first + len(rows) - 1
    for row in rows:
        node = integer(source, row.tokens[0], row.line, "the node")
        if not first <= node <= last:
            raise source.error(f"node {node} is outside {first}..{last}", row.line)
        if node in lines:
            raise source.error(f"node {node} occurs twice (first in line {lines[node]})", row.line)
        lines[node] = row.line
    return list(lines)


def columns(source: Source, row: Row, layout: str) -> tuple[str, ...]:
    """The tokens of a row that has to look like ``layout``."""
    if len(row.tokens) != len(layout.split()):
        found = quoted(" ".join(row.tokens))
        raise source.error(f"a row here is '{layout}', not {found}", row.line)
    return row.tokens


def integer(source: Source, token: str, line: int | None, what: str) -> int:
    """A whole number as people write it; Python's own rules also take ``1_0``."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", token):
        raise source.error(f"{what} must be a whole number, not {quoted(token)}", line)
    return int(token)


def number(source: Source, token: str, line: int | None, what: str) -> float:
    """A finite number."""
    try:
        value = float(token) if "_" not in token and token.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(f"{what} must be a number, not {quoted(token)}", line)
    return value


def written(value: float) -> str:
    """A number so that reading it gives the same number, whole ones without a point."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def unsupported(source: Source, message: str, line: int | None = None) -> UnsupportedError:
    """An error about something well-formed that is not done here, to be raised."""
    return UnsupportedError(message, source.name, line)


def _coordinates(source: Source, rows: Sequence[Row]) -> FloatArray:
    points = np.empty((len(rows), 2))
    for index, row in enumerate(rows):
        node, x, y = columns(source, row, "id x y")
        points[index] = [
            number(source, token, row.line, f"the coordinate of node {quoted(node)}")
            for token in (x, y)
        ]
    return points


def _matrix(document: Document) -> FloatArray:
    source, size = document.source, document.dimension
    layout = document.need("EDGE_WEIGHT_FORMAT").upper()
    if layout != FULL_MATRIX and layout not in TRIANGLES:
        raise unsupported(
            source,
            f"EDGE_WEIGHT_FORMAT {quoted(layout)} is not supported, "
            f"only {', '.join([FULL_MATRIX, *TRIANGLES])}",
            document.line("EDGE_WEIGHT_FORMAT"),
        )
    lower, diagonal = TRIANGLES.get(layout, (False, False))
    expected = size * size if layout == FULL_MATRIX else size * (size - 1 + 2 * diagonal) // 2
    section = document.section("EDGE_WEIGHT")
    count = sum(len(row.tokens) for row in section.rows)
    if count != expected:
        raise source.error(
            f"the EDGE_WEIGHT_SECTION has {count} numbers but a {layout} of {size} nodes has "
            f"{expected} (is the file cut off?)",
            section.line,
        )
    # The numbers are one stream: line breaks need not be where the rows of the matrix end.
    values = np.array(
        [
            number(source, token, row.line, "a distance")
            for row in section.rows
            for token in row.tokens
        ]
    )
    if layout == FULL_MATRIX:
        return values.reshape(size, size)
    matrix = np.zeros((size, size))
    if lower:
        origins, targets = np.tril_indices(size, 0 if diagonal else -1)
    else:
        origins, targets = np.triu_indices(size, 0 if diagonal else 1)
    matrix[origins, targets] = values
    matrix[targets, origins] = values
    return matrix

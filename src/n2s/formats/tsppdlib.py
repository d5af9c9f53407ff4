"""Grubhub's TSPPD library: TSPLIB with a ``PRECEDENCE_SECTION``, and its JSON twin.

Nodes are called ``+1`` and ``-1`` for the pickup and delivery of request 1, ``+0`` and ``-0`` for
start and end. The arc from the end back to the start, which closes the cycle for TSP solvers, is no
part of the route and its cost is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from n2s.errors import quoted
from n2s.formats import tsplib
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source
from n2s.formats.strict_json import Fields, load
from n2s.problem import Instance, Metric, Rounding, Variant
from n2s.problem.distance import FloatArray

START, END = "+0", "-0"
KEYS = ("nodes", "precedence", "edges")

_NODE = re.compile(r"[+-][0-9]+")
_SECTION = re.compile(rb"^[ \t]*PRECEDENCE_SECTION", re.IGNORECASE | re.MULTILINE)


def recognises_tsp(source: Source) -> bool:
    """Whether there is a ``PRECEDENCE_SECTION``."""
    return _SECTION.search(source.data) is not None


def recognises_json(source: Source) -> bool:
    """Whether this looks like an object with the three keys of the JSON twin."""
    start = source.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and all(f'"{key}"'.encode() in source.data for key in KEYS)


def parse_tsp(source: Source) -> list[Instance]:
    """Read the one instance of a ``.tsp`` file with precedences."""
    document = tsplib.split(source)
    if "PRECEDENCE" not in document.sections:
        raise source.error(
            "there is no PRECEDENCE_SECTION that pairs the nodes: "
            "if this .tsp belongs to a .mtc file, open the .mtc"
        )
    if document.need("TYPE").upper() not in ("TSP", "ATSP"):
        raise tsplib.unsupported(
            source,
            f"TYPE {quoted(document.need('TYPE'))} is not supported, only TSP and ATSP",
            document.line("TYPE"),
        )
    document.expect(tsplib.HEAD, tsplib.GEOMETRY | {"PRECEDENCE"})
    geometry = tsplib.geometry(document)
    rows = document.sections["PRECEDENCE"].rows
    if rows and rows[-1].tokens == ("-1",):  # some TSPLIB writers end every section with it
        rows = rows[:-1]
    precedence: list[tuple[str, str]] = []
    for row in rows:
        first, second = tsplib.columns(source, row, "+i -i")
        _check_pair(source, first, second, row.line)
        precedence.append((first, second))
    if geometry.rows:
        lines: dict[str, int] = {}
        for row in geometry.rows:
            node = _checked(source, row.tokens[0], row.line)
            if node in lines:
                raise source.error(
                    f"node {quoted(node)} occurs twice (first in line {lines[node]})", row.line
                )
            lines[node] = row.line
        ids = list(lines)
    else:
        ids = [node for pair in precedence for node in pair]
        if len(ids) != document.dimension:
            raise source.error(
                f"the PRECEDENCE_SECTION names {len(ids)} nodes but DIMENSION is "
                f"{document.dimension}",
                document.sections["PRECEDENCE"].line,
            )
    return [
        _instance(
            source,
            ids,
            precedence,
            document.name,
            geometry.coordinates,
            geometry.matrix,
            geometry.metric,
            geometry.rounding,
        )
    ]


def parse_json(source: Source) -> list[Instance]:
    """Read the one instance of a ``.json`` file of the library."""
    fields = Fields(source, load(source))
    for key in KEYS:
        if fields.take(key) is None:
            raise fields.wrong(key, "is missing")
    ids = [_checked(source, node) for node in fields.identities("nodes") or ()]
    pairs = fields.take("precedence")
    if not isinstance(pairs, dict):
        raise fields.wrong("precedence", "must be an object of pickups and their deliveries")
    for first, second in pairs.items():
        _check_pair(source, first, _checked(source, second))
    matrix = fields.matrix("edges")
    if matrix is None or len(matrix) != len(ids):
        raise fields.wrong("edges", f"must have {len(ids)} rows, one for each node")
    name = fields.text("name")
    return [_instance(source, ids, list(pairs.items()), name or source.stem, None, matrix)]


def _instance(
    source: Source,
    ids: Sequence[str],
    precedence: Sequence[tuple[str, str]],
    name: str,
    coordinates: FloatArray | None,
    matrix: FloatArray | None,
    metric: Metric = Metric.EUCLIDEAN,
    rounding: Rounding = Rounding.NONE,
) -> Instance:
    index = {node: position for position, node in enumerate(ids)}
    if len(index) != len(ids):
        twice = next(node for position, node in enumerate(ids) if index[node] != position)
        raise source.error(f"node {quoted(twice)} occurs twice")
    if precedence.count((START, END)) != 1:
        raise source.error(f"there must be one precedence of start {START!r} and end {END!r}")
    for node in (node for pair in precedence for node in pair):
        if node not in index:
            raise source.error(f"node {quoted(node)} has a precedence but is not among the nodes")
    kept = list(range(len(ids)))
    start, end = index[START], index[END]
    stops = [node for node in kept if node not in (start, end)]
    # Costs decide where there are some: coordinates then only serve pictures.
    if matrix is not None:
        open_end = not matrix[stops, end].any()
        closed = bool((matrix[stops, end] == matrix[stops, start]).all())
    else:
        open_end = False
        closed = coordinates is not None and bool((coordinates[start] == coordinates[end]).all())
    if open_end or closed:
        kept.remove(end)
    place = {ids[node]: position for position, node in enumerate(kept)}
    requests = [pair for pair in precedence if pair != (START, END)]
    return assemble(
        ids=[ids[node] for node in kept],
        depot=place[START],
        end=place.get(END),
        end_id=END,  # routes may close with it even where it is the start, or nowhere
        pairs=[(place[pickup], place[delivery]) for pickup, delivery in requests],
        requests=[pickup.removeprefix("+") for pickup, _ in requests],
        name=name,
        variant=Variant.PDTSP,
        coordinates=None if coordinates is None else coordinates[kept],
        matrix=None if matrix is None else matrix[np.ix_(kept, kept)],
        metric=metric,
        rounding=rounding,
        open_end=open_end,
    )


def _checked(source: Source, node: object, line: int | None = None) -> str:
    if not isinstance(node, str) or not _NODE.fullmatch(node):
        found = quoted(str(node))
        raise source.error(f"a node is called like '+1' or '-1', not {found}", line)
    return node


def _check_pair(source: Source, first: str, second: str, line: int | None = None) -> None:
    if _checked(source, first, line)[0] != "+" or second != f"-{first[1:]}":
        raise source.error(
            f"a precedence is '+i' before '-i', not {quoted(first)} before {quoted(second)}",
            line,
        )


TSP_FORMAT = Format("TSPPDLIB", (".tsp",), recognises_tsp, parse_tsp)
JSON_FORMAT = Format("TSPPDLIB JSON", (".json",), recognises_json, parse_json)

"""The LIFO benchmarks of Carrabs et al.: a ``.mtc`` of pairs beside the TSPLIB file it draws on.

Rows are ``vertex kind mate``, counted from 0, with kind 1 for a pickup, 0 for a delivery (the
opposite of ``.pdt``) and 3 for the depot. The vertices are the first nodes of the ``.tsp``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from n2s.errors import InputError
from n2s.formats import tsplib
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source
from n2s.problem import Instance, Variant
from n2s.problem.distance import FloatArray

DELIVERY, PICKUP, DEPOT = 0, 1, 3
LAYOUT = "vertex kind mate"


def recognises(source: Source) -> bool:
    """Whether the text starts with two rows of three whole numbers."""
    try:
        lines = [line.split() for _, line in source.lines()[:2]]
    except InputError:
        return False
    return len(lines) == 2 and all(
        len(line) == 3 and all(token.removeprefix("-").isdecimal() for token in line)
        for line in lines
    )


def parse(source: Source) -> list[Instance]:
    """Read the pairs of the ``.mtc`` and the coordinates of the ``.tsp`` beside it."""
    rows = [tsplib.Row(line, tuple(text.split())) for line, text in source.lines()]
    for row in rows:
        tsplib.columns(source, row, LAYOUT)
    vertices = tsplib.numbered(source, rows, first=0)
    depot, pairs = _pairs(source, dict(zip(vertices, rows, strict=True)))
    document = tsplib.split(_partner(source))
    document.expect(tsplib.HEAD, tsplib.GEOMETRY)
    geometry = tsplib.geometry(document)
    size = len(rows)
    if document.dimension < size:
        raise source.error(
            f"{document.source.name} has {document.dimension} nodes, fewer than the {size} "
            "vertices here"
        )
    points = _by_number(document.source, geometry)
    return [
        assemble(
            ids=range(size),
            depot=depot,
            pairs=pairs,
            name=source.stem,
            variant=Variant.LIFO,
            coordinates=None if points is None else points[:size],
            matrix=None if geometry.matrix is None else geometry.matrix[:size, :size],
            metric=geometry.metric,
            rounding=geometry.rounding,
        )
    ]


def _by_number(source: Source, geometry: tsplib.Geometry) -> FloatArray | None:
    if geometry.coordinates is None:
        return None
    return geometry.coordinates[np.argsort(tsplib.numbered(source, geometry.rows, first=1))]


def _pairs(source: Source, rows: dict[int, tsplib.Row]) -> tuple[int, list[tuple[int, int]]]:
    """The depot and (pickup, delivery) of every request, by pickup."""
    kinds: dict[int, int] = {}
    mates: dict[int, int] = {}
    for vertex, row in rows.items():
        kinds[vertex], mates[vertex] = (
            tsplib.integer(source, token, row.line, f"the {what} of vertex {vertex}")
            for what, token in zip(("kind", "mate"), row.tokens[1:], strict=True)
        )
        if kinds[vertex] not in (DELIVERY, PICKUP, DEPOT):
            raise source.error(
                f"vertex {vertex} has kind {kinds[vertex]}, "
                "not 1 (pickup), 0 (delivery) or 3 (depot)",
                row.line,
            )
    depots = [vertex for vertex, kind in kinds.items() if kind == DEPOT]
    if not depots:
        raise source.error("no vertex is the depot (kind 3)")
    if len(depots) > 1:
        second = depots[1]
        raise source.error(
            f"vertex {second} is a depot (kind 3), and so is vertex {depots[0]}", rows[second].line
        )
    for vertex, mate in mates.items():
        if kinds[vertex] == DEPOT:
            continue  # its mate has no meaning
        line = rows[vertex].line
        if mate not in rows or kinds[mate] == DEPOT:
            raise source.error(
                f"vertex {vertex} has the mate {mate}, which is neither pickup nor delivery", line
            )
        if mates[mate] != vertex:
            raise source.error(
                f"vertex {vertex} has the mate {mate}, which has the mate {mates[mate]}", line
            )
        if kinds[mate] == kinds[vertex]:
            what = "pickups" if kinds[vertex] == PICKUP else "deliveries"
            raise source.error(f"vertex {vertex} and its mate {mate} are both {what}", line)
    pickups = sorted(vertex for vertex, kind in kinds.items() if kind == PICKUP)
    return depots[0], [(pickup, mates[pickup]) for pickup in pickups]


def _partner(source: Source) -> Source:
    """The ``.tsp`` of the same stem, or else the only one whose stem the ``.mtc``'s starts with."""
    if source.folder is None and not source.beside:
        raise source.error(
            f"a .mtc file needs {source.stem}.tsp beside it, but it came without a folder"
        )
    try:
        around = source.folder.iterdir() if source.folder else (Path(f.name) for f in source.beside)
        files = [path for path in around if path.suffix.lower() == ".tsp"]
        same = [path for path in files if path.stem == source.stem]
        starts = [path for path in files if source.stem.startswith(path.stem)]
        chosen = same or starts
        if not chosen:
            raise source.error(
                f"there is no {source.stem}.tsp beside it, nor a .tsp whose name it starts with"
            )
        if len(chosen) > 1:
            names = ", ".join(sorted(path.name for path in chosen))
            raise source.error(f"more than one .tsp beside it fits {source.stem}: {names}")
        if source.folder is None:
            return next(other for other in source.beside if Path(other.name) == chosen[0])
        return Source(str(chosen[0]), chosen[0].read_bytes(), source.folder)
    except OSError as error:
        place = Path(error.filename or source.name).name
        raise source.error(f"{place} beside it cannot be read ({error.strerror})") from error


FORMAT = Format("Carrabs .mtc", (".mtc",), recognises, parse)

"""The ``.pdt`` files of Renaud et al. and Dumitrescu et al.: a count, a depot row, a row per stop.

Rows are ``i x y type pair``, counted from 1, with type 0 for a pickup and 1 for a delivery (the
opposite of ``.mtc``). Published values on these files use distances rounded to the nearest integer.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from n2s.errors import InputError
from n2s.formats import tsplib
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source
from n2s.problem import Instance, Metric, Rounding, Variant

END = "-999"
PICKUP, DELIVERY = 0, 1


def recognises(source: Source) -> bool:
    """Whether the text starts with a count and a depot row, or is called ``.pdt``."""
    try:
        lines = [line.split() for _, line in source.lines()[:2]]
    except InputError:
        return False
    if Path(source.name).suffix.lower() == ".pdt" and lines:
        # The suffix is this format's own but for one other, so its parser says what is wrong.
        return not lines[0][0].upper().startswith("GRUBHUB")
    if len(lines) < 2 or len(lines[0]) != 1 or len(lines[1]) != 3:
        return False
    return lines[0][0].isdecimal() and lines[1][0] == "1"


def parse(source: Source) -> list[Instance]:
    """Read the one instance of the file; what follows ``-999`` is not part of it."""
    rows = [tsplib.Row(line, tuple(text.split())) for line, text in source.lines()]
    if not rows:
        raise source.error("the file is empty")
    head, *rows = rows
    (count,) = tsplib.columns(source, head, "count")
    declared = tsplib.integer(source, count, head.line, "the number of nodes")
    ends = [index for index, row in enumerate(rows) if row.tokens == (END,)]
    if ends:
        rows = rows[: ends[0]]
    if len(rows) != declared:
        raise source.error(
            f"the file declares {declared} nodes but has {len(rows)} rows (is it cut off?)",
            head.line,
        )
    if not rows:
        raise source.error("the file declares no nodes", head.line)
    tsplib.columns(source, rows[0], "1 x y")
    for row in rows[1:]:
        tsplib.columns(source, row, "i x y type pair")
    nodes = tsplib.numbered(source, rows, first=1)
    if nodes[0] != 1:
        raise source.error(f"the depot is node 1, not {nodes[0]}", rows[0].line)
    points = np.empty((len(rows), 2))
    for node, row in zip(nodes, rows, strict=True):
        points[node - 1] = [
            tsplib.number(source, token, row.line, f"the coordinate of node {node}")
            for token in row.tokens[1:3]
        ]
    return [
        assemble(
            ids=range(1, len(rows) + 1),
            depot=0,
            pairs=_pairs(source, dict(zip(nodes[1:], rows[1:], strict=True))),
            name=source.stem,
            variant=Variant.PDTSP,
            coordinates=points,
            metric=Metric.EUCLIDEAN,
            rounding=Rounding.NEAREST,
        )
    ]


def _pairs(source: Source, rows: dict[int, tsplib.Row]) -> list[tuple[int, int]]:
    """(pickup, delivery) counted from 0, by pickup."""
    kinds: dict[int, int] = {}
    mates: dict[int, int] = {}
    for node, row in rows.items():
        kinds[node] = tsplib.integer(source, row.tokens[3], row.line, f"the type of node {node}")
        mates[node] = tsplib.integer(source, row.tokens[4], row.line, f"the pair of node {node}")
        if kinds[node] not in (PICKUP, DELIVERY):
            raise source.error(
                f"node {node} has type {kinds[node]}, not 0 (pickup) or 1 (delivery)", row.line
            )
    for node, mate in mates.items():
        line = rows[node].line
        if mate not in rows:
            raise source.error(f"node {node} is paired with node {mate}, which is no stop", line)
        if mates[mate] != node:
            raise source.error(
                f"node {node} is paired with node {mate}, which is paired with {mates[mate]}", line
            )
        if kinds[mate] == kinds[node]:
            what = "pickups" if kinds[node] == PICKUP else "deliveries"
            raise source.error(f"node {node} and its pair {mate} are both {what}", line)
    return sorted((node - 1, mates[node] - 1) for node in rows if kinds[node] == PICKUP)


FORMAT = Format("PDT", (".pdt", ".txt"), recognises, parse)

"""Grubhub's meal deliveries as plain matrices: ``GRUBHUB: name``, ``DIMENSION: n``, then the rows.

Row 0 is the depot, odd nodes are pickups and the next even node is the delivery. Where nothing is
paid for coming back to the depot, the route is open.
"""

from __future__ import annotations

import re

import numpy as np

from n2s.errors import quoted
from n2s.formats import tsplib
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source
from n2s.problem import Instance, Variant

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*GRUBHUB\s*:", re.IGNORECASE)


def recognises(source: Source) -> bool:
    """Whether the text starts with ``GRUBHUB:``."""
    return _HEAD.match(source.data) is not None


def parse(source: Source) -> list[Instance]:
    """Read the one instance of the file."""
    lines = source.lines()
    head: dict[str, tuple[int, str]] = {}
    for key, (line, text) in zip(("GRUBHUB", "DIMENSION"), lines, strict=False):
        found, colon, value = text.partition(":")
        if not colon or found.strip().upper() != key:
            raise source.error(f"this line must be '{key}: ...', not {quoted(text)}", line)
        head[key] = (line, value.strip())
    if "DIMENSION" not in head:
        raise source.error("a Grubhub file starts with 'GRUBHUB: name' and 'DIMENSION: n'")
    line, token = head["DIMENSION"]
    size = tsplib.integer(source, token, line, "DIMENSION")
    rows = [tsplib.Row(number, tuple(text.split())) for number, text in lines[2:]]
    if len(rows) != size:
        raise source.error(
            f"the file declares {size} nodes but has {len(rows)} rows (is it cut off?)", line
        )
    if size % 2 == 0:
        raise source.error(f"a depot and pairs make an odd number of nodes, not {size}", line)
    for row in rows:
        if len(row.tokens) != size:
            raise source.error(
                f"a row of the matrix has {size} distances, not {len(row.tokens)}", row.line
            )
    matrix = np.array(
        [
            [tsplib.number(source, token, row.line, "a distance") for token in row.tokens]
            for row in rows
        ]
    )
    return [
        assemble(
            ids=range(size),
            depot=0,
            pairs=[(node, node + 1) for node in range(1, size, 2)],
            name=head["GRUBHUB"][1] or source.stem,
            variant=Variant.PDTSP,
            matrix=matrix,
            open_end=not matrix[:, 0].any(),
        )
    ]


FORMAT = Format("Grubhub matrix", (".pdt", ".txt"), recognises, parse)

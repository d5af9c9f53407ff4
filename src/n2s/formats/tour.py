"""TSPLIB ``.tour`` files: the cycle of nodes, counted from 1, that LKH writes and reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

from n2s.errors import quoted
from n2s.formats import tsplib
from n2s.formats.base import RouteFormat, Source
from n2s.problem import Evaluation, Id, Instance

_SECTION = re.compile(rb"^[ \t]*TOUR_SECTION", re.IGNORECASE | re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether there is a ``TOUR_SECTION``."""
    return _SECTION.search(source.data) is not None


def parse(source: Source, instance: Instance) -> list[Id]:
    """The stops of the one tour, from the depot on (a cycle may be written from any node)."""
    document = tsplib.split(source)
    if document.need("TYPE").upper() != "TOUR":
        found = quoted(document.need("TYPE"))
        raise source.error(f"the TYPE is {found}, not TOUR", document.line("TYPE"))
    section = document.section("TOUR")
    tokens = [(row.line, token) for row in section.rows for token in row.tokens]
    if not tokens or tokens[-1][1] != "-1":
        raise source.error("the TOUR_SECTION does not end with -1 (is it cut off?)", section.line)
    node_of = {int(number) + 1: node for node, number in enumerate(instance.numbers)}
    nodes: list[int] = []
    for line, token in tokens[:-1]:
        if token == "-1":
            raise tsplib.unsupported(source, "the file has more than one tour, not one", line)
        number = tsplib.integer(source, token, line, "a node of the tour")
        if number not in node_of:
            raise source.error(f"node {number} is outside 1..{instance.size}", line)
        nodes.append(node_of[number])
    if document.value("DIMENSION") is not None and document.dimension != len(nodes):
        raise source.error(
            f"the tour has {len(nodes)} nodes but DIMENSION is {document.dimension}",
            document.line("DIMENSION"),
        )
    start = nodes.index(0) if 0 in nodes else 0
    return [instance.ids[node] for node in [*nodes[start:], *nodes[:start]]]


def render(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    """Write a route: the depot first and only there."""
    instance = evaluation.instance
    name = " ".join(instance.name.split())
    lines = [f"NAME : {name}.tour"] if name else []
    lines += [
        f"COMMENT : Length = {tsplib.written(evaluation.cost)}",
        "TYPE : TOUR",
        f"DIMENSION : {len(evaluation.nodes)}",
        "TOUR_SECTION",
        *(str(instance.numbers[node] + 1) for node in evaluation.nodes),
        "-1",
        "EOF",
        "",
    ]
    return "\n".join(lines).encode()


FORMAT = RouteFormat("TSPLIB tour", (".tour",), recognises, parse, render)

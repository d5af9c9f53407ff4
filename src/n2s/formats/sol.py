"""``.sol`` files in two dialects: JSON as beside the PDTSP benchmarks, and VRPLIB.

Both number the nodes from 0 in the order of the instance's file. JSON is
``{"instance": ..., "cost": ..., "route": [0, ..., 0]}``; VRPLIB has ``Route #1: 1 2 3`` without the
depot and ``Cost: 42``. ``vrplib`` reads the latter, but without line numbers, so it is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from n2s.errors import quoted
from n2s.formats import tsplib
from n2s.formats.base import RouteFormat, Source
from n2s.formats.strict_json import Fields, load
from n2s.problem import Evaluation, Id, Instance

# Each run of blanks belongs to one part only: a line of a million blanks is read in one go.
_ROUTE = re.compile(r"route\s*(?:#\s*)?(?:[0-9]+\s*)?:(.*)", re.IGNORECASE)
_REMARK = re.compile(r"[A-Za-z][\w ]*:?\s.*")
_START = re.compile(rb"^[ \t]*route[ \t]*#[ \t]*[0-9]+[ \t]*:", re.IGNORECASE | re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether there is a VRPLIB route, or a JSON object with a route."""
    return _START.search(source.data) is not None or (
        _is_json(source) and b'"route"' in source.data
    )


def parse(source: Source, instance: Instance) -> list[Id]:
    """The stops of the one route of the file."""
    node_of = {int(number): node for node, number in enumerate(instance.numbers)}
    route: list[Id] = []
    for line, number in _from_json(source) if _is_json(source) else _from_vrplib(source):
        if number not in node_of:
            raise source.error(f"node {number} is outside 0..{instance.size - 1}", line)
        route.append(instance.ids[node_of[number]])
    return route


def render(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    """Write a route in the VRPLIB dialect."""
    numbers = evaluation.instance.numbers
    stops = " ".join(str(numbers[node]) for node in evaluation.nodes[1:])
    return f"Route #1: {stops}\nCost: {tsplib.written(evaluation.cost)}\n".encode()


def _is_json(source: Source) -> bool:
    return source.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def _from_json(source: Source) -> list[tuple[int | None, int]]:
    fields = Fields(source, load(source))
    route = fields.take("route")
    if not isinstance(route, list):
        raise fields.wrong("route", "must be a list of node numbers")
    for number in route:
        if type(number) is not int:
            raise fields.wrong("route", f"must hold whole numbers, not {quoted(number)}")
    return [(None, number) for number in route]


def _from_vrplib(source: Source) -> list[tuple[int | None, int]]:
    routes: list[list[tuple[int | None, int]]] = []
    for line, text in source.lines():
        if found := _ROUTE.fullmatch(text):
            if routes:
                raise tsplib.unsupported(source, "the file has more than one route, not one", line)
            tokens = found[1].split()
            routes.append(
                [(line, tsplib.integer(source, token, line, "a stop")) for token in tokens]
            )
        elif not _REMARK.fullmatch(text):
            raise source.error(f"{quoted(text)} is neither 'Route #1: ...' nor 'Cost: ...'", line)
    if not routes:
        raise source.error("there is no 'Route #1: ...'")
    return routes[0]


FORMAT = RouteFormat(".sol", (".sol",), recognises, parse, render)

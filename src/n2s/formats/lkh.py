"""LKH-3 files of ``TYPE : PDTSP`` and ``PDTSPL``: pairs in a ``PICKUP_AND_DELIVERY_SECTION``.

Its rows are ``id demand early late service pickup delivery``, counted from 1: a pickup names its
delivery in the last column, a delivery its pickup in the one before, the depot neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from n2s.errors import InputError, UnsupportedError, quoted
from n2s.formats import tsplib
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source, one
from n2s.problem import Instance, Metric, Rounding, Variant
from n2s.problem.instance import IntArray

TYPES = {"PDTSP": Variant.PDTSP, "PDTSPL": Variant.LIFO}
PAIRS = "PICKUP_AND_DELIVERY"
LARGEST_MATRIX = 5000  # nodes; the text of such a matrix is half a gigabyte
LAYOUT = "id demand early late service pickup delivery"

_SINGLE = ("VEHICLES", "SALESMEN", "SCALE")  # with the value 1 these change nothing
_HEAD = re.compile(rb"^[ \t]*TYPE[ \t]*:[ \t]*PDTSP[LF]?[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class _Stop:
    """A row of the section; ``pickup`` and ``delivery`` as the file has them, 0 for none."""

    line: int
    demand: float
    pickup: int
    delivery: int


def recognises(source: Source) -> bool:
    """Whether the head of the file names one of these types."""
    return _HEAD.search(source.data[:65536]) is not None


def parse(source: Source) -> list[Instance]:
    """Read the one instance of an LKH-3 file."""
    document = tsplib.split(source)
    variant = _variant(document)
    document.expect(tsplib.HEAD | {"CAPACITY", *_SINGLE}, tsplib.GEOMETRY | {PAIRS, "DEPOT"})
    for key in _SINGLE:
        if document.value(key) not in (None, "1"):
            raise tsplib.unsupported(
                source,
                f"{key} {document.need(key)[:60]} is not supported, only 1",
                document.line(key),
            )
    geometry = tsplib.geometry(document)
    points = geometry.coordinates
    if points is not None:
        # Matrices are ordered by number; the rows of the coordinates need not be.
        numbers = tsplib.numbered(source, geometry.rows, first=1)
        points = points[np.argsort(numbers)]
    depot = _depot(document)
    stops = _stops(document)
    pairs = _pairs(source, stops, depot)
    capacity = None
    loads = None
    if variant is Variant.PDTSP:  # for PDTSPL, LKH-3 ignores the demands
        if document.value("CAPACITY") is not None:
            line = document.line("CAPACITY")
            capacity = tsplib.number(source, document.need("CAPACITY"), line, "CAPACITY")
        if capacity is not None or any(stop.demand for stop in stops.values()):
            loads = _loads(source, stops, depot, pairs)
    return [
        assemble(
            ids=range(1, len(stops) + 1),
            depot=depot - 1,
            pairs=[(pickup - 1, delivery - 1) for pickup, delivery in pairs],
            name=document.name,
            variant=variant,
            coordinates=points,
            matrix=geometry.matrix,
            metric=geometry.metric,
            rounding=geometry.rounding,
            loads=loads,
            capacity=capacity,
        )
    ]


def render(instances: Sequence[Instance]) -> bytes:
    """Write one instance, its nodes numbered ``instance.numbers`` + 1.

    Coordinates are the distances where TSPLIB has a rule for them. All else (exact Euclidean
    distances, open routes, an end of its own) becomes a full matrix, which reads back to the same
    costs; LKH-3 itself only calculates with whole numbers, so scale such distances before using it.

    Raises
    ------
    UnsupportedError
        For a LIFO instance with a capacity, which LKH-3 would not heed.
    """
    instance = one(instances, "LKH-3")
    if instance.variant is Variant.LIFO and instance.capacity is not None:
        raise UnsupportedError(
            "LKH-3 ignores loads with LIFO loading (PDTSPL), so the capacity cannot be written"
        )
    types = {variant: name for name, variant in TYPES.items()}
    if instance.variant not in types:
        raise UnsupportedError(f"LKH-3 has no type for {instance.variant} loading here")
    order = np.argsort(instance.numbers)  # node by number
    kind = _weight_type(instance)
    if kind == tsplib.EXPLICIT and instance.size > LARGEST_MATRIX:
        raise InputError(
            f"LKH-3 would need a matrix of all distances, which is written for up to "
            f"{LARGEST_MATRIX} nodes, not {instance.size}"
        )
    lines = [f"NAME : {' '.join(instance.name.split())}"] if instance.name.split() else []
    lines += [f"TYPE : {types[instance.variant]}", f"DIMENSION : {instance.size}"]
    if instance.capacity is not None:
        lines.append(f"CAPACITY : {tsplib.written(instance.capacity)}")
    lines.append(f"EDGE_WEIGHT_TYPE : {kind}")
    if kind == tsplib.EXPLICIT:
        lines.append(f"EDGE_WEIGHT_FORMAT : {tsplib.FULL_MATRIX}")
        if instance.coordinates is not None:
            # Without it LKH-3 refuses coordinates beside a matrix.
            lines.append("NODE_COORD_TYPE : TWOD_COORDS")
    if instance.coordinates is not None:
        lines.append("NODE_COORD_SECTION")
        for number, (x, y) in enumerate(instance.coordinates[order].tolist(), start=1):
            lines.append(f"{number} {tsplib.written(x)} {tsplib.written(y)}")
    if kind == tsplib.EXPLICIT:
        lines.append("EDGE_WEIGHT_SECTION")
        for node in order:  # one row at a time: the whole as Python numbers takes gigabytes
            row = instance.legs(np.full(len(order), node), order)
            row[order == node] = 0.0
            lines.append(" ".join(map(tsplib.written, row.tolist())))
    lines += [f"{PAIRS}_SECTION", *_rows(instance, order)]
    lines += ["DEPOT_SECTION", str(instance.numbers[0] + 1), "-1", "EOF", ""]
    return "\n".join(lines).encode()


def _variant(document: tsplib.Document) -> Variant:
    kind = document.need("TYPE").upper()
    line = document.line("TYPE")
    if kind == "PDTSPF":
        raise tsplib.unsupported(document.source, "FIFO loading (PDTSPF) is not supported", line)
    if kind not in TYPES:
        raise tsplib.unsupported(
            document.source,
            f"TYPE {quoted(kind)} is not supported, only {' and '.join(TYPES)}",
            line,
        )
    return TYPES[kind]


def _depot(document: tsplib.Document) -> int:
    if "DEPOT" not in document.sections:
        return 1
    source = document.source
    section = document.sections["DEPOT"]
    tokens = [(row.line, token) for row in section.rows for token in row.tokens]
    if tokens and tokens[-1][1] == "-1":
        tokens.pop()
    if not tokens:
        raise source.error("the DEPOT_SECTION names no node", section.line)
    if len(tokens) > 1:
        raise tsplib.unsupported(source, "more than one depot is not supported", tokens[1][0])
    line, token = tokens[0]
    depot = tsplib.integer(source, token, line, "the depot")
    if not 1 <= depot <= document.dimension:
        raise source.error(f"the depot {depot} is outside 1..{document.dimension}", line)
    return depot


def _stops(document: tsplib.Document) -> dict[int, _Stop]:
    """The rows of the section by node."""
    source = document.source
    rows = document.rows_by_node(PAIRS)
    stops: dict[int, _Stop] = {}
    for node, row in zip(tsplib.numbered(source, rows, first=1), rows, strict=True):
        _, demand, *times, pickup, delivery = tsplib.columns(source, row, LAYOUT)
        for what, token in zip(("early", "late", "service"), times, strict=True):
            time = tsplib.number(source, token, row.line, f"the {what} time of node {node}")
            if time != 0:
                raise tsplib.unsupported(
                    source,
                    f"node {node} has {what} time {token[:60]}: time windows and service times are "
                    "not supported",
                    row.line,
                )
        stops[node] = _Stop(
            line=row.line,
            demand=tsplib.number(source, demand, row.line, f"the demand of node {node}"),
            pickup=tsplib.integer(source, pickup, row.line, f"the pickup of node {node}"),
            delivery=tsplib.integer(source, delivery, row.line, f"the delivery of node {node}"),
        )
    return stops


def _pairs(source: Source, stops: dict[int, _Stop], depot: int) -> list[tuple[int, int]]:
    """(pickup, delivery) of every request by number, the rows of both having to agree."""
    pairs: list[tuple[int, int]] = []
    for node, stop in stops.items():
        if node == depot:
            if stop.pickup or stop.delivery:
                raise source.error(f"node {node} is the depot and cannot be paired", stop.line)
            continue
        if stop.pickup and stop.delivery:
            raise source.error(f"node {node} has both a pickup and a delivery", stop.line)
        mate = stop.pickup or stop.delivery
        if not mate:
            raise source.error(f"node {node} has neither a pickup nor a delivery", stop.line)
        if mate not in stops:
            raise source.error(f"node {node} is paired with node {mate}, which is none", stop.line)
        back = stops[mate].pickup if stop.delivery else stops[mate].delivery
        if back != node or mate == node:
            raise source.error(
                f"node {node} is paired with node {mate}, whose row (line {stops[mate].line}) "
                "does not agree",
                stop.line,
            )
        if stop.delivery:
            pairs.append((node, mate))
    return sorted(pairs)


def _loads(
    source: Source, stops: dict[int, _Stop], depot: int, pairs: Sequence[tuple[int, int]]
) -> list[float]:
    if stops[depot].demand != 0:
        raise source.error(f"the depot {depot} has a demand", stops[depot].line)
    for pickup, delivery in pairs:
        load = stops[pickup].demand
        if load < 0:
            raise source.error(f"the pickup {pickup} has a negative demand", stops[pickup].line)
        if stops[delivery].demand != -load:
            raise source.error(
                f"node {delivery} has demand {stops[delivery].demand:g}, but its pickup {pickup} "
                f"has {load:g}",
                stops[delivery].line,
            )
    return [stops[pickup].demand for pickup, _ in pairs]


def _weight_type(instance: Instance) -> str:
    """The TSPLIB rule that gives the costs of an instance, EXPLICIT if there is none."""
    special = instance.open_start or instance.open_end or instance.end is not None
    if instance.matrix is not None or special:
        return tsplib.EXPLICIT
    whole = instance.metric is Metric.TSPLIB_GEO  # rounding changes nothing there
    wanted = (instance.metric, Rounding.NONE if whole else instance.rounding)
    kinds = [kind for kind, rule in tsplib.WEIGHT_TYPES.items() if rule == wanted]
    return kinds[0] if kinds else tsplib.EXPLICIT


def _rows(instance: Instance, order: IntArray) -> Iterator[str]:
    """The rows of the section, by number."""
    numbers = (instance.numbers + 1).tolist()
    weighed = instance.loads is not None or instance.capacity is not None
    loads = instance.weights.tolist() if weighed else [0.0] * instance.n
    for node in order.tolist():
        request = instance.request_of(node)
        if request is None:
            yield f"{numbers[node]} 0 0 0 0 0 0"
        elif node <= instance.n:
            load, mate = loads[request - 1], numbers[node + instance.n]
            yield f"{numbers[node]} {tsplib.written(load)} 0 0 0 0 {mate}"
        else:
            load, mate = -loads[request - 1], numbers[request]
            yield f"{numbers[node]} {tsplib.written(load)} 0 0 0 {mate} 0"


def _as_type(suffix: str, variant: Variant) -> Callable[[Sequence[Instance]], bytes]:
    """A writer for one suffix, which says the type and must not contradict the instance."""

    def write(instances: Sequence[Instance]) -> bytes:
        for instance in instances:
            if instance.variant is not variant:
                raise InputError(
                    f"a {suffix} file holds {variant} instances, and this one is {instance.variant}"
                )
        return render(instances)

    return write


FORMATS = (
    Format("LKH-3", (".pdtsp",), recognises, parse, _as_type(".pdtsp", Variant.PDTSP)),
    Format("LKH-3", (".pdtspl",), recognises, parse, _as_type(".pdtspl", Variant.LIFO)),
    Format("LKH-3", (".pdtspf",), recognises, parse),  # read to say that it is not supported
)

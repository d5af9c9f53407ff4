"""A route as a CSV table: a row per stop, or just a column of ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import repeat

import numpy as np

from n2s.errors import InputError, quoted
from n2s.formats import csv_stops, csv_table, stops
from n2s.formats.base import RouteFormat, Source
from n2s.formats.csv_columns import normal, word_of
from n2s.formats.csv_table import Table, shown
from n2s.problem import Evaluation, Id, Instance, Metric

_IN_ROUTE = ("position", "id", "kind", "request", "leg", "cumulative", "load")
_STACKED = ("stack", "depth", "top")


def _recognises(source: Source) -> bool:
    try:
        header = csv_table.header(source)
        text = source.text
    except InputError:
        return False
    words = [word_of(normal(name)) for name in header]
    if "id" in words and len(header) > 1:
        return "position" in words or not csv_stops.FORMAT.recognises(source)
    if len(header) > 1 or text.lstrip()[:1] in ("{", "["):
        return False
    # Other formats are lines of text too; only a file that says .csv may have ids with spaces.
    lines = [line.strip() for line in text.splitlines()]
    is_csv = source.name.lower().endswith((".csv", ".tsv"))
    return is_csv or not any(re.search(r"[\s:;,]", line) for line in lines)


def _parse(source: Source, instance: Instance) -> list[Id]:
    table = csv_table.read(source)
    words = [word_of(normal(name)) for name in table.header]
    texts = []
    if "id" in words:
        column = words.index("id")
    elif len(words) == 1:
        column = 0
        texts.append((1, table.header[0]))
    else:
        raise source.error("there is no column 'id'")
    texts += [(row.line, row.cells[column]) for row in table.rows]
    if "position" in words:
        _check_order(table, words.index("position"))
    route: list[Id] = []
    for line, text in texts:
        if not text:
            raise source.error("the stop has no id", line)
        node = instance.find(text)
        if node is None and text != str(instance.end_id):
            named = f" of {quoted(instance.name)[1:-1]}" if instance.name else ""
            raise source.error(f"stop {quoted(text)} is not a node{named}", line)
        route.append(text if node is None else instance.ids[node])
    if not route:
        raise source.error("the route is empty")
    return route


def _check_order(table: Table, column: int) -> None:
    before = -np.inf
    for row in table.rows:
        position = table.number(row.cells[column], "position", row.line)
        if position <= before:
            raise table.source.error(
                f"position {shown(position)} comes after {shown(before)}: the rows are not in the "
                "order of the route",
                row.line,
            )
        before = position


def _render(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    instance = evaluation.instance
    geographic = instance.metric is Metric.GREAT_CIRCLE
    axes = ("lat", "lon") if geographic else ("x", "y")
    located = instance.coordinates is not None
    full = stops.full_stacks(instance)
    stacked = (("stack",) if full else ("depth", "top")) if instance.variant.ordered else ()
    columns = list(dict.fromkeys(c for kept in instance.attributes or () for c in kept))
    taken = {*_IN_ROUTE, *_STACKED, *axes}
    # The user's own "position" or "leg" stands beside ours under a name of its own.
    titles = [f"stop_{name}" if word_of(normal(name)) in taken else name for name in columns]
    rows = [
        [
            *("position", "id", "kind", "request"),
            *(axes if located else ()),
            *("leg", "cumulative", "load"),
            *stacked,
            *titles,
        ]
    ]
    piles = evaluation.stacks() if full else repeat(())
    for stop, pile in zip(evaluation.stops, piles, strict=False):
        cells = [str(stop.position), str(stop.id), stop.kind]
        cells.append("" if stop.request is None else str(stop.request))
        if located:
            point = stops.place(evaluation, stop)
            pair = ("", "") if point is None else (shown(point[0]), shown(point[1]))
            cells += pair[::-1] if geographic else pair
        cells += [shown(stop.leg), shown(stop.cumulative), shown(stop.load)]
        if stacked and full:
            cells.append(" ".join(map(str, pile)))
        elif stacked:
            cells += [str(stop.depth), "" if stop.top is None else str(stop.top)]
        kept = stops.attributes(evaluation, stop)
        rows.append([*cells, *(kept.get(column, "") for column in columns)])
    return csv_table.render(rows)


FORMAT = RouteFormat(
    name="CSV of stops",
    suffixes=(".csv",),
    recognises=_recognises,
    parse=_parse,
    render=_render,
)

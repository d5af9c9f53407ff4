"""A route as JSON, with its cost, its verdict, a row per stop and how it was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from n2s.formats import stops, strict_json
from n2s.formats.base import RouteFormat, Source
from n2s.formats.strict_json import Fields, short
from n2s.problem import Evaluation, Id, Instance

NAME = "n2s-solution"
VERSION = 1


def _recognises(source: Source) -> bool:
    if Path(source.name).suffix.lower() == ".sol":
        return False  # JSON there counts nodes in its own way
    value = strict_json.peek(source)
    if isinstance(value, dict):
        return isinstance(value.get("route"), list) and value.get("format") in (None, NAME)
    return isinstance(value, list) and bool(value) and all(type(i) in (int, str) for i in value)


def _parse(source: Source, instance: Instance) -> list[Id]:
    value = strict_json.load(source)
    body = Fields(source, {"route": value} if isinstance(value, list) else value)
    if body.take("format") not in (None, NAME):
        raise body.wrong("format", f"is not {NAME!r}")
    if body.take("version") not in (None, VERSION):
        raise body.wrong("version", f"is not known, only {VERSION} is")
    route = body.identities("route")
    if not route:
        raise body.wrong("route", "is missing or empty")
    return route


def as_dict(evaluation: Evaluation, record: Mapping[str, object]) -> dict[str, object]:
    """The route and its verdict as plain values."""
    instance = evaluation.instance
    return {
        "format": NAME,
        "version": VERSION,
        "instance": instance.name,
        "variant": str(instance.variant),
        "cost": short(evaluation.cost),
        "feasible": evaluation.feasible,
        "rounding": str(instance.rounding),
        "route": evaluation.route,
        "stops": _rows(evaluation),
        "violations": [
            {
                "rule": violation.rule,
                "request": violation.request,
                "positions": list(violation.positions),
                "message": violation.message,
            }
            for violation in evaluation.violations
        ],
        "record": written(record),
    }


def _rows(evaluation: Evaluation) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {
            "position": stop.position,
            "id": stop.id,
            "kind": stop.kind,
            "request": stop.request,
            "leg": short(stop.leg),
            "cumulative": short(stop.cumulative),
            "load": short(stop.load),
        }
        for stop in evaluation.stops
    ]
    if stops.full_stacks(evaluation.instance):
        for row, stack in zip(rows, evaluation.stacks(), strict=True):
            row["stack"] = list(stack)
    else:
        for row, stop in zip(rows, evaluation.stops, strict=True):
            row |= {"depth": stop.depth, "top": stop.top}
    return rows


def _render(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    return strict_json.dump(as_dict(evaluation, record), levels=2)


def written(value: object) -> object:
    """A record as JSON can hold it: what is not a number becomes null, what is unknown its text."""
    value = strict_json.plain(value)
    if isinstance(value, Mapping):
        return {str(key): written(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [written(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


FORMAT = RouteFormat(
    name="n2s solution JSON",
    suffixes=(".json",),
    recognises=_recognises,
    parse=_parse,
    render=_render,
)

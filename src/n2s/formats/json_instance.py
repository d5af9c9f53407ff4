"""Instances as JSON in this package's own schema, which ``docs/json.md`` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from n2s.errors import InputError, located, quoted
from n2s.formats import open_depot, strict_json
from n2s.formats.base import Format, Source
from n2s.formats.strict_json import Fields, short
from n2s.problem import Id, Instance, Metric, Rounding, Variant
from n2s.problem.distance import FloatArray

ONE, SEVERAL = "n2s-instance", "n2s-instances"
VERSION = 1

Point = tuple[float, float]


# --- reading ---------------------------------------------------------------------------------


def _recognises(source: Source) -> bool:
    value = strict_json.peek(source)
    if not isinstance(value, dict):
        return False
    if value.get("format") in (ONE, SEVERAL):
        return True
    return "requests" in value and "format" not in value


def _parse(source: Source) -> list[Instance]:
    body = Fields(source, strict_json.load(source))
    kind = body.take("format")
    if kind not in (None, ONE, SEVERAL):
        raise body.wrong("format", f"is {quoted(kind)}, not {ONE!r} or {SEVERAL!r}")
    version = body.take("version")
    if version not in (None, VERSION):
        raise body.wrong("version", f"is {quoted(version)}, but only {VERSION} is known")
    if kind != SEVERAL:
        return [_instance(body, source.stem)]
    entries = body.each("instances")
    body.refuse_others()
    if not entries:
        raise source.error("instances is missing or empty")
    instances = []
    for k, entry in enumerate(entries):
        with located(f"{source.name}: {entry.path}"):
            instances.append(_instance(entry, f"{source.stem}-{k}"))
    return instances


class _Places:
    """Collects what is said of one node after the other, in the package's node order."""

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.points: list[Point | None] = []
        self.paths: list[str] = []
        self.attributes: list[Mapping[str, str] | None] = []
        self.geographic: bool | None = None

    def add(self, body: Fields, default_id: Id) -> None:
        """Read one node."""
        user_id = body.identity("id")
        self.ids.append(default_id if user_id is None else user_id)
        self.points.append(self.point(body))
        self.paths.append(body.path)
        self.attributes.append(_attributes(body))
        body.refuse_others()

    def point(self, body: Fields) -> Point | None:
        """The coordinates of a node, (x, y) or (longitude, latitude); None if it has none."""
        earth = "lat" in body or "lon" in body
        if not earth and "x" not in body and "y" not in body:
            return None
        if self.geographic not in (None, earth):
            raise body.source.error(f"{body.path} mixes x and y with lat and lon")
        self.geographic = earth
        first, second = ("lon", "lat") if earth else ("x", "y")
        a, b = body.number(first), body.number(second)
        for name, value in ((first, a), (second, b)):
            if value is None:
                raise body.wrong(name, "is missing")
        return (a or 0.0, b or 0.0)

    def coordinates(self, source: Source) -> FloatArray | None:
        """(N, 2), or None if no node has any; an error if only some have."""
        if all(point is None for point in self.points):
            return None
        if None in self.points:
            path = self.paths[self.points.index(None)]
            raise source.error(f"{path} has no coordinates, but others have")
        return np.array(self.points, dtype=np.float64)


def _instance(body: Fields, default_name: str) -> Instance:
    source = body.source
    places = _Places()
    open_start, open_end = body.flag("open_start"), body.flag("open_end")
    requests = body.each("requests")
    if not requests:
        raise body.wrong("requests", "is missing or empty")
    depot = body.fields("depot")
    if depot is not None:
        places.add(depot, "depot")
    elif not (open_start and open_end):
        raise body.wrong("depot", "is missing (without one, open_start and open_end must be true)")

    request_ids: list[Id] = []
    seen: set[Id] = set()
    loads: list[float | None] = []
    stops: dict[str, list[Fields]] = {"pickup": [], "delivery": []}
    for number, request in enumerate(requests, start=1):
        given = request.identity("id")
        given = number if given is None else given
        if given in seen:
            raise request.wrong("id", f"is {quoted(given)}, which occurs twice")
        seen.add(given)
        request_ids.append(given)
        loads.append(request.number("load"))
        for kind, found in stops.items():
            stop = request.fields(kind)
            if stop is None:
                raise request.wrong(kind, "is missing")
            found.append(stop)
        request.refuse_others()
    for kind, found in stops.items():
        for request_id, stop in zip(request_ids, found, strict=True):
            places.add(stop, f"{request_id}:{kind}")

    end = body.fields("end")
    end_point, end_id = None, None
    if end is not None:
        end_point, end_id = places.point(end), end.identity("id")
        end.refuse_others()
        if end_point is None and end_id is None:
            raise body.wrong("end", "has neither id nor coordinates")
    metric = _metric(body, places.geographic)
    coordinates = places.coordinates(source)
    ids, attributes = places.ids, places.attributes
    if depot is None:
        if coordinates is not None:
            coordinates = np.vstack([open_depot.middle(coordinates), coordinates])
        ids, attributes = [open_depot.unused("depot", ids), *ids], [None, *attributes]
    name, capacity = body.text("name"), body.number("capacity")
    variant = body.one_of("variant", Variant)
    rounding = body.one_of("rounding", Rounding)
    matrix = body.matrix("matrix")
    body.refuse_others()
    if matrix is not None and len(matrix) != len(ids):
        raise body.wrong("matrix", f"has {len(matrix)} rows, but there are {len(ids)} nodes")
    if coordinates is None and matrix is None:
        raise source.error(f"{places.paths[0]} has no coordinates, and there is no matrix")
    return Instance(
        coordinates=coordinates,
        matrix=matrix,
        variant=Variant.PDTSP if variant is None else Variant(variant),
        name=default_name if name is None else name,
        metric=metric,
        rounding=Rounding.NONE if rounding is None else Rounding(rounding),
        ids=tuple(ids),
        requests=tuple(request_ids),
        loads=_loads(requests, loads),
        capacity=capacity,
        end=None if end_point is None else np.array(end_point),
        end_id=end_id,
        open_start=open_start,
        open_end=open_end,
        attributes=(
            None
            if all(kept is None for kept in attributes)
            else tuple(kept or {} for kept in attributes)
        ),
    )


def _attributes(body: Fields) -> Mapping[str, str] | None:
    kept = body.fields("attributes")
    if kept is None:
        return None
    found: dict[str, str] = {}
    for key in kept.untaken():
        text = kept.text(key)
        if text is None:
            raise kept.wrong(key, "must be a text, not null")
        found[key] = text
    return found


def _metric(body: Fields, geographic: bool | None) -> Metric:
    """The metric, which the names of the coordinates imply where it is not given."""
    word = body.one_of("metric", Metric)
    if word is None:
        return Metric.GREAT_CIRCLE if geographic else Metric.EUCLIDEAN
    metric = Metric(word)
    if geographic is not None and geographic != (metric is Metric.GREAT_CIRCLE):
        names = "lat and lon" if metric is Metric.GREAT_CIRCLE else "x and y"
        raise body.wrong("metric", f"is {word}, so coordinates must be called {names}")
    return metric


def _loads(requests: Sequence[Fields], loads: Sequence[float | None]) -> FloatArray | None:
    if all(load is None for load in loads):
        return None
    for request, load in zip(requests, loads, strict=True):
        if load is None:
            raise request.wrong("load", "is missing, but other requests have one")
    return np.array(loads, dtype=np.float64)


# --- writing ---------------------------------------------------------------------------------


def _render(instances: Sequence[Instance]) -> bytes:
    if not instances:
        raise InputError("there is no instance to write")
    if len(instances) == 1:
        head: dict[str, object] = {"format": ONE, "version": VERSION}
        return strict_json.dump({**head, **_body(instances[0])}, levels=2)
    bodies = [_body(instance) for instance in instances]
    head = {"format": SEVERAL, "version": VERSION, "instances": bodies}
    return strict_json.dump(head, levels=2)


def _body(instance: Instance) -> dict[str, Any]:
    """One instance; what is the default is left out, but for the name and the ids."""
    n = instance.n
    body: dict[str, Any] = {"name": instance.name, "variant": str(instance.variant)}
    if instance.metric is not Metric.EUCLIDEAN:
        body["metric"] = str(instance.metric)
    if instance.rounding is not Rounding.NONE:
        body["rounding"] = str(instance.rounding)
    if instance.capacity is not None:
        body["capacity"] = short(instance.capacity)
    if instance.open_start:
        body["open_start"] = True
    if instance.open_end:
        body["open_end"] = True
    body["depot"] = _node(instance, 0)
    if instance.end is not None or instance.end_id is not None:
        body["end"] = {} if instance.end_id is None else {"id": instance.end_id}
        if instance.end is not None:
            body["end"] |= _point(instance, instance.end)
    body["requests"] = []
    for i, request_id in enumerate(instance.requests):
        request: dict[str, Any] = {"id": request_id}
        if instance.loads is not None:
            request["load"] = short(instance.loads[i])
        request["pickup"] = _node(instance, 1 + i)
        request["delivery"] = _node(instance, 1 + n + i)
        body["requests"].append(request)
    if instance.matrix is not None:
        body["matrix"] = [[short(cost) for cost in row] for row in instance.matrix.tolist()]
    return body


def _node(instance: Instance, node: int) -> dict[str, Any]:
    found: dict[str, Any] = {"id": instance.ids[node]}
    if instance.coordinates is not None:
        found |= _point(instance, instance.coordinates[node])
    if instance.attributes is not None:
        found["attributes"] = dict(instance.attributes[node])
    return found


def _point(instance: Instance, point: FloatArray) -> dict[str, int | float]:
    x, y = short(point[0]), short(point[1])
    return {"lat": y, "lon": x} if instance.metric is Metric.GREAT_CIRCLE else {"x": x, "y": y}


FORMAT = Format(
    name="n2s JSON", suffixes=(".json",), recognises=_recognises, parse=_parse, render=_render
)

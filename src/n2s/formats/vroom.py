"""VROOM's problem JSON, as far as it is one vehicle that carries shipments.

Costs are those of the vehicle's matrix: ``distances`` where given, else ``costs``, else
``durations``; ``location_index`` is a row of it, and several stops may share one. Without a matrix
they are metres on the sphere between ``[longitude, latitude]`` pairs. ``setup``, ``service`` and
``description`` are accepted: time spent at a stop changes no travel cost, and there are no time
windows for it to break. Every other field is refused by name, since leaving it out would solve
another problem.

VROOM counts pickups and deliveries apart, so that a shipment's two stops may both be number 1: they
are called ``1:pickup`` and ``1:delivery`` here, and the request by its pickup.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from n2s.errors import UnsupportedError, quoted
from n2s.formats import open_depot, strict_json
from n2s.formats.base import Format, Source
from n2s.formats.strict_json import Fields
from n2s.problem import Id, Instance, Metric
from n2s.problem.distance import FloatArray

# Values by which a field asks for nothing.
_HARMLESS: dict[str, tuple[object, ...]] = {
    "jobs": ([],),
    "breaks": ([],),
    "skills": ([],),
    "time_windows": ([],),
    "priority": (0,),
    "speed_factor": (1, 1.0),
}


@dataclass(frozen=True)
class _Stop:
    """A place as VROOM gives it: by coordinates, by row of the matrix, or both."""

    path: str
    location: tuple[float, float] | None
    index: int | None


def _recognises(source: Source) -> bool:
    value = strict_json.peek(source)
    return (
        isinstance(value, dict) and "vehicles" in value and bool({"shipments", "jobs"} & set(value))
    )


def _parse(source: Source) -> list[Instance]:
    body = Fields(source, strict_json.load(source))
    vehicles, shipments = body.each("vehicles"), body.each("shipments")
    profiles, legacy = body.fields("matrices"), body.matrix("matrix")
    _refuse_others(body)
    if len(vehicles) != 1:
        raise UnsupportedError(f"vehicles must be exactly one, not {len(vehicles)}", source.name)
    if not shipments:
        raise source.error("shipments is missing or empty")

    vehicle = vehicles[0]
    vehicle.identity("id")
    vehicle.text("description")
    start = _stop(vehicle, "start", "start_index")
    end = _stop(vehicle, "end", "end_index")
    capacity = _single(vehicle, "capacity")
    profile = vehicle.text("profile")
    _refuse_others(vehicle)
    matrix = legacy if profiles is None else _matrix(profiles, profile)

    requests: list[Id] = []
    amounts: list[float | None] = []
    pickups: list[_Stop] = []
    deliveries: list[_Stop] = []
    pickup_ids: list[Id] = []
    delivery_ids: list[Id] = []
    for shipment in shipments:
        amounts.append(_single(shipment, "amount"))
        for kind, found, ids in (
            ("pickup", pickups, pickup_ids),
            ("delivery", deliveries, delivery_ids),
        ):
            task = shipment.fields(kind)
            if task is None:
                raise shipment.wrong(kind, "is missing")
            number = task.identity("id")
            if number is None:
                raise task.wrong("id", "is missing")
            stop = _stop(task, "location", "location_index")
            if stop is None:
                raise task.wrong("location", "is missing")
            found.append(stop)
            ids.append(f"{number}:{kind}")
            if kind == "pickup":
                requests.append(number)
            task.text("description")
            task.number("setup")
            task.number("service")
            _refuse_others(task)
        _refuse_others(shipment)

    stops = [*pickups, *deliveries]
    # VROOM counts a shipment without an amount as weightless.
    weighed = capacity is not None or any(amount is not None for amount in amounts)
    apart = start is not None and end is not None and _apart(start, end, matrix is not None)
    places = [place for place in (start, end) if place is not None]
    points = _points(source, places, stops, matrix is None)
    return [
        Instance(
            coordinates=points,
            matrix=None if matrix is None else _costs(source, matrix, start, end, stops),
            name=source.stem,
            metric=Metric.EUCLIDEAN if points is None else Metric.GREAT_CIRCLE,
            ids=("start" if apart else "depot", *pickup_ids, *delivery_ids),
            requests=tuple(requests),
            loads=np.array([amount or 0.0 for amount in amounts]) if weighed else None,
            capacity=capacity,
            end=np.array(end.location) if apart and end is not None and matrix is None else None,
            end_id="end" if apart else None,
            open_start=start is None,
            open_end=end is None,
        )
    ]


def _refuse_others(body: Fields) -> None:
    for key in body.untaken():
        value = body.take(key)
        if value is None or (not isinstance(value, bool) and value in _HARMLESS.get(key, ())):
            continue
        raise UnsupportedError(f"{body.at(key)} is not supported", body.source.name)


def _single(body: Fields, key: str) -> float | None:
    values = body.numbers(key)
    if not values:
        return None
    if len(values) > 1:
        raise UnsupportedError(
            f"{body.at(key)} has {len(values)} dimensions, only one is supported", body.source.name
        )
    return values[0]


def _stop(body: Fields, key: str, index_key: str) -> _Stop | None:
    location, index = body.numbers(key), body.index(index_key)
    if location is None and index is None:
        return None
    if location is not None and len(location) != 2:
        raise body.wrong(key, f"must be [longitude, latitude], not {len(location)} numbers")
    pair = None if location is None else (location[0], location[1])
    return _Stop(body.at(key), pair, index)


def _matrix(profiles: Fields, profile: str | None) -> FloatArray | None:
    names = profiles.untaken()
    if not names:
        return None
    # With one matrix there is no choice; VROOM's own default is the profile "car".
    name = names[0] if len(names) == 1 else profile or "car"
    chosen = profiles.fields(name)
    if chosen is None:
        raise profiles.source.error(f"{profiles.path} has no profile {quoted(name)}")
    tables = [chosen.matrix(key) for key in ("distances", "costs", "durations")]
    _refuse_others(chosen)
    for table in tables:
        if table is not None:
            return table
    raise profiles.source.error(f"{chosen.path} has neither distances nor costs nor durations")


def _apart(start: _Stop, end: _Stop, by_index: bool) -> bool:
    return start.index != end.index if by_index else start.location != end.location


def _points(
    source: Source, places: list[_Stop], stops: list[_Stop], needed: bool
) -> FloatArray | None:
    """(N, 2) coordinates; with a matrix they are for pictures only and may be missing."""
    for stop in (*places, *stops):
        if stop.location is None:
            if needed:
                raise source.error(f"{stop.path} is missing, and there is no matrix")
            return None
    points = np.array([stop.location for stop in stops], dtype=np.float64)
    first = np.array(places[0].location) if places else open_depot.middle(points)
    return np.vstack([first, points])


def _costs(
    source: Source, matrix: FloatArray, start: _Stop | None, end: _Stop | None, stops: list[_Stop]
) -> FloatArray:
    """(N, N) costs by row and column: row 0 leaves the start, column 0 reaches the end."""
    for stop in (start, end, *stops):
        if stop is None:
            continue
        if stop.index is None:
            raise source.error(f"{stop.path} has no index into the matrix")
        if stop.index >= len(matrix):
            raise source.error(
                f"{stop.path} has index {stop.index}, but the matrix has {len(matrix)} rows"
            )
    own = [stop.index for stop in stops if stop.index is not None]
    # An open end needs some row; its costs are never counted.
    leave, reach = start or end or stops[0], end or start or stops[0]
    rows, columns = [leave.index or 0, *own], [reach.index or 0, *own]
    return matrix[np.ix_(rows, columns)]


FORMAT = Format(name="VROOM JSON", suffixes=(".json",), recognises=_recognises, parse=_parse)

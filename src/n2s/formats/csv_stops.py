"""Stops as a CSV table: a row per stop, or a row per request.

A row per stop has the columns ``id, kind, request`` and ``lat, lon`` or ``x, y``, and optionally
``load``. A row per request has ``request_id`` and ``pickup_lat, pickup_lon, delivery_lat,
delivery_lon`` (or ``pickup_x`` ...), and optionally ``load``, ``pickup_id`` and ``delivery_id``; a
row whose request is called ``depot``, ``start`` or ``end`` fills the pickup columns only.

``depot`` is where the route starts and, without an ``end``, ends. ``start`` without ``end`` is a
route that ends at its last stop, ``end`` without ``start`` one that begins at its first, and with
none of them both. Latitude and longitude mean metres on the sphere, x and y the plane.

A column ``variant`` may name the loading rule, in any row or all; without it the table is a PDTSP.
Columns nobody here knows are kept with the stop and come out again beside the route.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from n2s.errors import InputError, UnsupportedError, quoted
from n2s.formats import csv_table, open_depot, stops
from n2s.formats.assemble import assemble
from n2s.formats.base import Format, Source, one
from n2s.formats.csv_columns import (
    KINDS,
    PREFIXES,
    SYNONYMS,
    is_constraint,
    normal,
    split_role,
    word_of,
)
from n2s.formats.csv_table import Table, shown
from n2s.problem import Id, Instance, Metric, Rounding, Variant
from n2s.problem.distance import FloatArray

_AXES = {"lat": ("lon", "lat"), "x": ("x", "y")}  # as an instance stores them
_COORDINATES = ("lat", "lon", "x", "y")


@dataclass(frozen=True)
class _Row:
    """One stop as the table has it."""

    line: int
    id: str
    kind: str
    request: str
    point: tuple[float, float]
    load: float | None
    attributes: Mapping[str, str] = field(default_factory=dict)


# --- columns -----------------------------------------------------------------------------------


def _columns(header: Sequence[str]) -> tuple[list[str], bool]:
    """What each column means, and whether there is a row per stop (else per request)."""
    words = [word_of(normal(name)) for name in header]
    found = []
    for name, word in zip(header, words, strict=True):
        role, rest = split_role(normal(name))
        if role and word_of(rest) in ("id", *_COORDINATES):
            word = f"{role}_{word_of(rest)}"
        found.append("request" if word == "id" and "request" not in words else word)
    if any(f"{role}_{axis}" in found for role in PREFIXES for axis in _COORDINATES):
        return found, False
    return words, True


def _needed(words: Sequence[str], per_stop: bool) -> tuple[list[str], str]:
    """The columns there must be, and the first of the two axes in use."""
    earth = {f"{role}{axis}" for role in ("", "pickup_", "delivery_") for axis in ("lat", "lon")}
    axis = "x" if earth.isdisjoint(words) else "lat"
    other = {"lat": "lon", "x": "y"}[axis]
    if per_stop:
        return ["kind", "request", axis, other], axis
    roles = ("pickup", "delivery")
    return ["request", *(f"{role}_{a}" for role in roles for a in (axis, other))], axis


def _looks_like_instance(source: Source) -> bool:
    try:
        words, per_stop = _columns(csv_table.header(source))
    except InputError:
        return False
    needed, _ = _needed(words, per_stop)
    return set(needed) <= set(words)


# --- reading -----------------------------------------------------------------------------------


def _parse(source: Source) -> list[Instance]:
    header = csv_table.header(source)
    words, per_stop = _columns(header)
    needed, axis = _needed(words, per_stop)
    for word in needed:
        if word not in words:
            raise source.error(
                f"the column {quoted(word)} is missing (a row per request needs request_id, pickup_lat, "
                "pickup_lon, delivery_lat, delivery_lon; a row per stop id, kind, request, lat, lon; "
                f"or x, y): there are {quoted(', '.join(filter(None, header)), 200)}"
            )
    table = csv_table.read(source)
    prefixes = ("",) if per_stop else ("pickup_", "delivery_")
    known = {*needed, "load", "variant", *(f"{prefix}id" for prefix in prefixes)}
    both = {f"{prefix}{name}" for prefix in prefixes for name in _COORDINATES}
    for word in words:
        if words.count(word) > 1 and word:
            raise source.error(f"there are two columns {quoted(word)}")
        if word in both - known:
            raise source.error(f"the column {quoted(word)} is a second kind of coordinates")
    extra = [i for i, word in enumerate(words) if word and word not in known]
    _refuse_constraints(table, extra)
    read = _stop_rows if per_stop else _request_rows
    return [_build(table, read(table, words, axis, extra), axis, _variant(table, words))]


def _variant(table: Table, words: Sequence[str]) -> Variant:
    """The loading rule that the table names: once, or in every row the same."""
    found = None
    for row in table.rows if "variant" in words else ():
        text = row.cells[words.index("variant")].lower()
        if text and text not in tuple(Variant):
            raise table.source.error(
                f"the variant is {quoted(text)}, not one of {', '.join(Variant)}", row.line
            )
        if text and found not in (None, text):
            raise table.source.error(
                f"the variant is {quoted(text)} here and {quoted(found)} above", row.line
            )
        found = text or found
    return Variant(found or Variant.PDTSP)


def _refuse_constraints(table: Table, extra: Sequence[int]) -> None:
    for i in extra:
        if is_constraint(table.header[i]):
            for row in table.rows:
                if row.cells[i]:
                    raise UnsupportedError(
                        f"the column {quoted(table.header[i])} asks for something that a CSV file "
                        "cannot say or this package cannot do",
                        table.source.name,
                        row.line,
                    )


def _stop_rows(table: Table, words: list[str], axis: str, extra: list[int]) -> list[_Row]:
    found = []
    for row in table.rows:
        cells = dict(zip(words, row.cells, strict=True))
        kind = KINDS.get(cells["kind"].lower())
        if kind is None:
            raise table.source.error(
                f"the kind is {quoted(cells['kind'])}, not one of {', '.join(KINDS)}", row.line
            )
        stop = _Row(
            line=row.line,
            id=cells.get("id", ""),
            kind=kind,
            request=cells["request"],
            point=_point(table, cells, "", axis, row.line),
            load=_load(table, cells, row.line),
            attributes={table.header[i]: row.cells[i] for i in extra if row.cells[i]},
        )
        served = kind in ("pickup", "delivery")
        if served and not stop.request:
            raise table.source.error(f"the {kind} belongs to no request", row.line)
        if not served and (stop.request or stop.load):
            raise table.source.error(f"the {kind} has a request or a load", row.line)
        found.append(stop)
    return found


def _request_rows(table: Table, words: list[str], axis: str, extra: list[int]) -> list[_Row]:
    found = []
    for row in table.rows:
        cells = dict(zip(words, row.cells, strict=True))
        request = cells["request"]
        if not request:
            raise table.source.error("the row has no request id", row.line)
        kept: dict[str, dict[str, str]] = {"pickup": {}, "delivery": {}}
        for i in extra:
            role, _ = split_role(normal(table.header[i]))
            for one_of_both in (role,) if role else ("pickup", "delivery"):
                if row.cells[i]:
                    kept[one_of_both][table.header[i]] = row.cells[i]
        load = _load(table, cells, row.line)
        pickup = _Row(
            line=row.line,
            id=cells.get("pickup_id", ""),
            kind="pickup",
            request=request,
            point=_point(table, cells, "pickup_", axis, row.line),
            load=load,
            attributes=kept["pickup"],
        )
        if request.lower() in ("depot", "start", "end"):
            filled = [word for word in words if word.startswith("delivery_") and cells[word]]
            if filled or load or set(kept["delivery"]) - set(kept["pickup"]):
                raise table.source.error(f"the {request} has a delivery or a load", row.line)
            # The word itself is the id unless the file gives one.
            own = pickup.id or request
            found.append(replace(pickup, id=own, kind=request.lower(), request="", load=None))
            continue
        delivery = replace(
            pickup,
            id=cells.get("delivery_id", ""),
            kind="delivery",
            point=_point(table, cells, "delivery_", axis, row.line),
            attributes=kept["delivery"],
        )
        found += [pickup, delivery]
    return found


def _point(
    table: Table, cells: Mapping[str, str], prefix: str, axis: str, line: int
) -> tuple[float, float]:
    first, second = (f"{prefix}{name}" for name in _AXES[axis])
    for name in (first, second):
        if not cells[name]:
            raise table.source.error(f"{name} is missing", line)
    return table.number(cells[first], first, line), table.number(cells[second], second, line)


def _load(table: Table, cells: Mapping[str, str], line: int) -> float | None:
    return table.number(cells["load"], "load", line) if cells.get("load") else None


def _build(table: Table, rows: list[_Row], axis: str, variant: Variant) -> Instance:
    source = table.source
    places: dict[str, _Row] = {}
    pairs: dict[str, dict[str, _Row]] = {}
    for row in rows:
        seen = pairs.setdefault(row.request, {}) if row.request else places
        if row.kind in seen:
            what = f"the {row.kind} of request {quoted(row.request)}" if row.request else row.kind
            raise source.error(f"{what} was given before, in line {seen[row.kind].line}", row.line)
        seen[row.kind] = row
    if "depot" in places and "start" in places:
        raise source.error("there is both a depot and a start", places["start"].line)
    for request, pair in pairs.items():
        for kind in ("pickup", "delivery"):
            if kind not in pair:
                (other,) = pair.values()
                raise source.error(f"request {quoted(request)} has no {kind}", other.line)

    start = places.get("depot", places.get("start"))
    end = places.get("end")
    open_start = start is None
    open_end = end is None and "depot" not in places
    order = [row for row in (start, end) if row is not None]
    order += [pair[kind] for kind in ("pickup", "delivery") for pair in pairs.values()]
    if not pairs:
        raise source.error("there is no request: a depot alone needs no route")
    ids = _ids(source, order)
    points = [row.point for row in order]
    attributes = [row.attributes for row in order]
    if not places:
        x, y = open_depot.middle(points)
        points.insert(0, (float(x), float(y)))
        ids.insert(0, open_depot.unused("depot", ids))
        attributes.insert(0, {})
    first = len(ids) - 2 * len(pairs)
    return assemble(
        ids=ids,
        depot=0,
        end=1 if start is not None and end is not None else None,
        pairs=[(first + i, first + len(pairs) + i) for i in range(len(pairs))],
        name=source.stem,
        variant=variant,
        coordinates=points,
        metric=Metric.GREAT_CIRCLE if axis == "lat" else Metric.EUCLIDEAN,
        requests=csv_table.as_ids(list(pairs)),
        loads=_loads(source, pairs),
        open_start=open_start,
        open_end=open_end,
        attributes=attributes if any(attributes) else None,
    )


def _ids(source: Source, order: Sequence[_Row]) -> list[Id]:
    """Ids as the user wrote them; where there is none, one made from the request.

    A depot that is just called "depot" does not turn the numbers of the others into texts.
    """
    written = [row for row in order if row.id and (row.request or row.id.lower() != row.kind)]
    typed = dict(zip(map(id, written), csv_table.as_ids([row.id for row in written]), strict=True))
    ids = [
        typed.get(id(row), f"{row.request}:{row.kind}" if row.request else row.id or row.kind)
        for row in order
    ]
    seen: dict[Id, _Row] = {}
    for user_id, row in zip(ids, order, strict=True):
        before = seen.setdefault(user_id, row)
        if before is not row and (before.request or row.request):  # start and end may be one place
            raise source.error(
                f"the id {quoted(user_id)} was used before, in line {before.line}", row.line
            )
    return ids


def _loads(source: Source, pairs: Mapping[str, Mapping[str, _Row]]) -> list[float] | None:
    loads: list[float] = []
    for request, pair in pairs.items():
        pickup, delivery = pair["pickup"], pair["delivery"]
        given = [row.load for row in (pickup, delivery) if row.load is not None]
        # A delivery may state its load as what leaves the vehicle: a negative number.
        if len({abs(load) for load in given}) > 1 or (pickup.load or 0.0) < 0:
            raise source.error(
                f"request {quoted(request)} has loads {', '.join(map(shown, given))}", delivery.line
            )
        loads += [abs(load) for load in given[:1]]
        if loads and not given:
            raise source.error(
                f"request {quoted(request)} has no load, but others have", pickup.line
            )
    if loads and len(loads) < len(pairs):
        raise source.error(f"request {quoted(next(iter(pairs)))} has no load, but others have")
    return loads or None


# --- writing -----------------------------------------------------------------------------------


def _render(instances: Sequence[Instance], delimiter: str = ",") -> bytes:
    instance = one(instances, "CSV")
    data = csv_table.render(_table(instance), delimiter)
    _check_read_back(instance, data)
    return data


def _render_tabs(instances: Sequence[Instance]) -> bytes:
    return _render(instances, "\t")


def _table(instance: Instance) -> list[list[str]]:
    points = instance.coordinates
    if instance.matrix is not None or points is None:
        raise InputError("a CSV file cannot hold a distance matrix: write .json or .npz")
    if instance.capacity is not None:
        raise InputError("a CSV file cannot hold a capacity: write .json or .npz")
    axis = {Metric.GREAT_CIRCLE: "lat", Metric.EUCLIDEAN: "x"}.get(instance.metric)
    if axis is None or instance.rounding is not Rounding.NONE:
        raise InputError(
            f"a CSV file cannot say that distances are {instance.metric} with rounding "
            f"{instance.rounding}: write .json or .npz"
        )
    _check_texts(instance)
    columns = list(dict.fromkeys(c for kept in instance.attributes or () for c in kept))
    for column in columns:
        if word_of(normal(column)) in SYNONYMS or not column or column != column.strip():
            raise InputError(f"a CSV file cannot hold a further column named {quoted(column)}")
        if is_constraint(column):
            raise InputError(
                f"a CSV file cannot hold {quoted(column)}: it would read as a constraint"
            )
    names = ("lat", "lon") if axis == "lat" else ("x", "y")
    named = instance.variant is not Variant.PDTSP

    def row(user_id: Id, kind: str, request: int | None, point: FloatArray, node: int) -> list[str]:
        pair = [shown(value) for value in (point[::-1] if axis == "lat" else point)]
        cells = [str(user_id), kind, "" if request is None else str(instance.request_id(request))]
        cells += pair
        if instance.loads is not None:
            picked = request is not None and kind == "pickup"
            cells.append(shown(instance.loads[node - 1]) if picked else "")
        if named:
            cells.append(instance.variant.value)
        kept = instance.attributes[node] if instance.attributes and node >= 0 else {}
        return [*cells, *(kept.get(column, "") for column in columns)]

    further = ["load"] * (instance.loads is not None) + ["variant"] * named
    header = ["id", "kind", "request", *names, *further, *columns]
    rows = [header]
    separate = stops.separate_end(instance)
    end_id = (
        instance.end_id if instance.end_id is not None else open_depot.unused("end", instance.ids)
    )
    if not instance.open_start:
        kind = "start" if separate or instance.open_end else "depot"
        rows.append(row(instance.ids[0], kind, None, points[0], 0))
    if separate:
        end = points[0] if instance.end is None else instance.end
        rows.append(row(end_id, "end", None, end, -1))
    elif instance.open_start and not instance.open_end:
        rows.append(row(instance.ids[0], "end", None, points[0], 0))
    for node in range(1, instance.size):
        request = instance.request_of(node)
        rows.append(row(instance.ids[node], instance.kind(node), request, points[node], node))
    return rows


def _check_read_back(instance: Instance, data: bytes) -> None:
    """Refuse what the reader would refuse or take for something else: names can mean anything."""
    try:
        (again,) = _parse(Source("the table", data))
    except InputError as error:
        raise InputError(f"a CSV file cannot hold this instance: {error.message}") from None
    # A depot that nobody goes to is not written.
    first = 1 if instance.open_start and instance.open_end else 0
    for what, here, there in (
        ("ids", again.ids[first:], instance.ids[first:]),
        ("requests", again.requests, instance.requests),
    ):
        if list(map(str, here)) != list(map(str, there)):
            raise InputError(f"a CSV file cannot hold the {what} of this instance")
    if _filled(again) != _filled(instance):
        raise InputError("a CSV file cannot hold the attributes of this instance")


def _filled(instance: Instance) -> list[dict[str, str]]:
    """The further columns by node; an empty cell is none."""
    kept = instance.attributes or ({},) * instance.size
    return [{column: text for column, text in row.items() if text} for row in kept]


def _check_texts(instance: Instance) -> None:
    """Refuse ids that would come back as others: cells are stripped and know no types."""
    end = (instance.end_id,) if stops.separate_end(instance) else ()
    for what, ids in (("node", (*instance.ids, *end)), ("request", instance.requests)):
        texts = [str(user_id) for user_id in ids]
        for text in texts:
            if not text or text != text.strip():
                raise InputError(f"a CSV file cannot hold the {what} id {quoted(text)}")
    for kept in instance.attributes or ():
        for column, text in kept.items():
            if text != text.strip():
                raise InputError(f"a CSV file cannot hold {column[:60]} {quoted(text)}")


FORMAT = Format("CSV of stops or requests", (".csv",), _looks_like_instance, _parse, _render)
FORMATS = (FORMAT, replace(FORMAT, suffixes=(".tsv",), render=_render_tabs))

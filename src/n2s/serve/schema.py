"""What the OpenAPI description says of bodies and answers.

The readers of ``formats`` decide what is accepted; this tells clients. ``docs/json.md`` has the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from n2s.problem import Metric, Rounding, Variant

Schema = dict[str, Any]
Offered = Literal["auto", "anneal", "native", "n2s", "n2s-a"]
"""Methods that clients may ask for: not native+n2s, whose trained parts are files of whoever made them."""
OFFERED: tuple[str, ...] = get_args(Offered)


def _object(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _list(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def _words(words: Any) -> Schema:
    return {"type": "string", "enum": [str(word) for word in words]}


NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
ID: Schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
MATRIX = _list(_list({"type": "number", "minimum": 0}))
ANYTHING: Schema = {"type": "object"}

PLACE = _object(
    id=ID,
    x=NUMBER,
    y=NUMBER,
    lat={"type": "number", "minimum": -90, "maximum": 90},
    lon={"type": "number", "minimum": -180, "maximum": 180},
    attributes={"type": "object", "additionalProperties": TEXT},
)
REQUEST = _object(
    ("pickup", "delivery"),
    id=ID,
    load={"type": "number", "minimum": 0},
    pickup=PLACE,
    delivery=PLACE,
)
INSTANCE: Schema = {
    **_object(
        ("requests",),
        format=_words(["n2s-instance"]),
        version={"type": "integer", "enum": [1]},
        name=TEXT,
        variant=_words(Variant),
        metric=_words(Metric),
        rounding=_words(Rounding),
        capacity={"type": "number", "minimum": 0},
        depot=PLACE,
        end=_object(id=ID, x=NUMBER, y=NUMBER, lat=NUMBER, lon=NUMBER),
        open_start=FLAG,
        open_end=FLAG,
        requests=_list(REQUEST, minItems=1),
        matrix=MATRIX,
    ),
    "title": "Instance",
    "description": "A depot and requests, by coordinates or with a distance matrix (docs/json.md).",
    "example": {
        "depot": {"x": 0, "y": 0},
        "requests": [
            {"pickup": {"x": 3, "y": 4}, "delivery": {"x": 3, "y": 0}},
            {"pickup": {"x": 6, "y": 8}, "delivery": {"x": 0, "y": 4}},
        ],
    },
}

POSITION = _list(NUMBER, minItems=2, maxItems=2)
TASK = _object(
    ("id",),
    id=ID,
    location=POSITION,
    location_index=COUNT,
    description=TEXT,
    setup=NUMBER,
    service=NUMBER,
)
VEHICLE = _object(
    id=ID,
    description=TEXT,
    profile=TEXT,
    start=POSITION,
    start_index=COUNT,
    end=POSITION,
    end_index=COUNT,
    capacity=_list(NUMBER, maxItems=1),
)
VROOM: Schema = {
    **_object(
        ("vehicles", "shipments"),
        vehicles=_list(VEHICLE, minItems=1, maxItems=1),
        shipments=_list(
            _object(
                ("pickup", "delivery"),
                amount=_list(NUMBER, maxItems=1),
                pickup=TASK,
                delivery=TASK,
            ),
            minItems=1,
        ),
        matrices={
            "type": "object",
            "additionalProperties": _object(distances=MATRIX, costs=MATRIX, durations=MATRIX),
        },
    ),
    "title": "VROOM",
    "description": "VROOM's body with one vehicle and shipments; locations are [lon, lat].",
}
EITHER: Schema = {"anyOf": [INSTANCE, VROOM]}

SEARCH: Schema = {
    **_object(
        ("instance",),
        instance=EITHER,
        variant=_words(Variant),
        seconds={"type": "number", "exclusiveMinimum": 0},
        steps=COUNT,
        target=NUMBER,
        method=_words(OFFERED),
        checkpoint=TEXT,
        seed=COUNT,
        initial=_list(ID),
    ),
    "title": "Search",
    "description": "An instance with the options beside it.",
}
JUDGEMENT: Schema = {
    **_object(
        ("instance", "route"),
        instance=EITHER,
        variant=_words(Variant),
        route=_list(ID),
        record=ANYTHING,
    ),
    "title": "Route",
}
FILES: Schema = {
    **_object(("files",), files=_list(_object(("name", "text"), name=TEXT, text=TEXT), minItems=1)),
    "title": "Files",
    "description": "Text files that belong together, the instance first: a .mtc and its .tsp.",
}

OR_NULL: Schema = {"type": ["string", "integer", "null"]}
STOP: Schema = {
    "type": "object",
    "required": ["position", "id", "kind", "request", "leg", "cumulative", "load"],
    "properties": {
        "position": COUNT,
        "id": OR_NULL,
        "kind": _words(["start", "pickup", "delivery", "end", "depot"]),
        "request": OR_NULL,
        "leg": NUMBER,
        "cumulative": NUMBER,
        "load": NUMBER,
        "stack": _list(ID),
        "depth": COUNT,
        "top": OR_NULL,
    },
}
SOLUTION: Schema = {
    "title": "Solution",
    "type": "object",
    "required": ["format", "cost", "feasible", "route", "stops", "violations", "record"],
    "properties": {
        "format": _words(["n2s-solution"]),
        "version": COUNT,
        "instance": TEXT,
        "variant": _words(Variant),
        "cost": NUMBER,
        "feasible": FLAG,
        "rounding": _words(Rounding),
        "route": _list(ID),
        "stops": _list(STOP),
        "violations": _list(ANYTHING),
        "record": ANYTHING,
    },
}
JOB: Schema = {
    "title": "Job",
    "type": "object",
    "required": ["id", "state", "before", "best", "seconds", "error", "solution"],
    "properties": {
        "id": TEXT,
        "state": _words(["queued", "running", "done", "failed", "cancelled"]),
        "before": {"type": ["integer", "null"], "description": "Jobs that come first."},
        "best": {"type": ["number", "null"]},
        "seconds": {"type": ["number", "null"]},
        "error": {"type": ["string", "null"]},
        "solution": {"anyOf": [SOLUTION, {"type": "null"}]},
    },
}
ERROR: Schema = {
    "title": "Error",
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "One sentence."}},
}


def body(*alternatives: Schema, files: bool = False) -> dict[str, Any]:
    """The description of a request's body; with ``files`` also a file of any format as it is."""
    schema: Schema = {"anyOf": list(alternatives)} if alternatives else {}
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if files:
        content["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
    return {"requestBody": {"required": True, "content": content}}


def answers(
    schema: Schema,
    *problems: int,
    status: int = 200,
    types: Sequence[str] = (),
    links: Sequence[str] = (),
) -> dict[Any, Any]:
    """The description of a request's answers: JSON, files of other ``types``, problems.

    ``links`` are operations on what was made, to which its id leads.
    """
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    content |= {other: {} for other in types}
    found: dict[Any, Any] = {status: {"description": "It worked.", "content": content}}
    if links:
        leading = {"id": "$response.body#/id"}
        found[status]["links"] = {
            name: {"operationId": name, "parameters": leading} for name in links
        }
    for number in (401, *problems):
        described = {"application/json": {"schema": ERROR}}
        found[number] = {"description": PROBLEMS[number], "content": described}
    return found


PROBLEMS = {
    400: "The client went away.",
    401: "A token is needed.",
    404: "There is no such job (any longer).",
    408: "The body did not come in time.",
    413: "The body is too large.",
    422: "Something in the request is wrong; the sentence names it.",
    429: "Too many are waiting; Retry-After says when to come back.",
    500: "The worker failed; the sentence says why.",
    503: "The service is going down or overloaded.",
}

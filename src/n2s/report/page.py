"""A route as one HTML page to step through: no network, no server, one file to pass on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources

from n2s.formats.stops import attributes, full_stacks
from n2s.problem import Evaluation
from n2s.report.chart import chart
from n2s.report.history import Point, checked
from n2s.report.palette import palette

PLACEHOLDER = "%DATA%"

# JSON in a page ends where the page's parser sees a tag, whatever JSON thinks of it.
ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def route_page(evaluation: Evaluation, history: Sequence[Point] = (), title: str = "") -> str:
    """An evaluated route as a page that needs nothing but a browser.

    Parameters
    ----------
    evaluation
        The route; also an infeasible or incomplete one, whose violations are listed.
    history
        (step, seconds, best cost so far) of the search, for a curve.
    title
        What to call the page; default the instance's name.

    Returns
    -------
    str
        HTML in plain ASCII. Ids, attributes and the title reach the page only as JSON text, so
        nothing in them can become part of it.
    """
    template = resources.files("n2s.report").joinpath("page.html").read_text(encoding="utf-8")
    data = json.dumps(_data(evaluation, history, title), separators=(",", ":"), allow_nan=False)
    return template.replace(PLACEHOLDER, data.translate(ESCAPES), 1)


def _data(evaluation: Evaluation, history: Sequence[Point], title: str) -> dict[str, object]:
    """What the page shows. Ids are texts: a browser would round a long number."""
    instance = evaluation.instance
    drawing = chart(evaluation)
    stacked = instance.variant.ordered and full_stacks(instance)
    stops = [
        {
            "position": stop.position,
            "id": _text(stop.id),
            "kind": stop.kind,
            "request": _text(stop.request),
            "leg": stop.leg,
            "cumulative": stop.cumulative,
            "load": stop.load,
            "depth": stop.depth,
            "top": _text(stop.top),
            "point": point,
            "attributes": dict(attributes(evaluation, stop)),
        }
        for stop, point in zip(evaluation.stops, drawing.points, strict=True)
    ]
    violations = [
        {
            "rule": violation.rule,
            "request": _text(violation.request),
            "positions": violation.positions,
            "message": violation.message,
        }
        for violation in evaluation.violations
    ]
    return {
        "title": title or instance.name or "Route",
        "instance": instance.name,
        "variant": instance.variant.value,
        "ordered": instance.variant.ordered,
        "cost": evaluation.cost,
        "capacity": instance.capacity,
        "requests": [str(request) for request in instance.requests],
        "colours": palette(instance),
        "aspect": drawing.aspect,
        "geographic": drawing.geographic,
        "stops": stops,
        "stacks": [list(map(str, stack)) for stack in evaluation.stacks()] if stacked else None,
        "violations": violations,
        "history": checked(history),
    }


def _text(user_id: object) -> str | None:
    return None if user_id is None else str(user_id)

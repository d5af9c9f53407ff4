"""Small routes of every shape that a report has to show."""

from __future__ import annotations

import numpy as np

from n2s.problem import Evaluation, Instance, Metric, Variant, evaluate

POINTS = np.array([[4.0, 52.0], [4.1, 52.1], [4.3, 52.4], [4.2, 52.2], [4.5, 52.3]])
NESTED = [1, 2, 4, 3]  # pickups 1 and 2, then their deliveries: 2 first
HOSTILE = "</script><script>document.title='stolen'</script><b>&amp; $x \ud800\u2028"

HISTORY = [(0, 0.0, 9.5), (10, 0.25, 7.0), (40, 1.5, 6.25)]


def planar() -> Evaluation:
    return evaluate(Instance(coordinates=POINTS, variant=Variant.LIFO, name="plane"), NESTED)


def geographic() -> Evaluation:
    return evaluate(Instance(coordinates=POINTS, metric=Metric.GREAT_CIRCLE), NESTED)


def single() -> Evaluation:
    return evaluate(Instance(coordinates=POINTS[:3]), [1, 2])


def opened() -> Evaluation:
    instance = Instance(coordinates=POINTS, open_start=True, open_end=True, variant=Variant.LIFO)
    return evaluate(instance, NESTED)


def nowhere() -> Evaluation:
    """Open at both ends and without a stop."""
    instance = Instance(coordinates=POINTS, open_start=True, open_end=True, variant=Variant.LIFO)
    return evaluate(instance, [])


def ended() -> Evaluation:
    return evaluate(Instance(coordinates=POINTS, end=np.array([9.0, 50.0]), end_id="home"), NESTED)


def matrix_only() -> Evaluation:
    matrix = np.arange(25.0).reshape(5, 5)
    return evaluate(Instance(matrix=matrix, variant=Variant.LIFO), NESTED)


def broken() -> Evaluation:
    """Out of order, too heavy, through the depot and without the delivery of request 2."""
    instance = Instance(coordinates=POINTS, variant=Variant.LIFO, capacity=1.0)
    return evaluate(instance, [1, 2, 0, 3, 1])


def hostile() -> Evaluation:
    instance = Instance(
        coordinates=POINTS,
        variant=Variant.LIFO,
        name=HOSTILE,
        ids=(HOSTILE, "<img src=x onerror=alert(1)>", "b", "__proto__", 2**60 + 1),
        requests=("<i>one</i>", "__proto__"),
        attributes=({}, {HOSTILE: HOSTILE}, {"constructor": "x"}, {}, {}),
    )
    return evaluate(instance, ["<img src=x onerror=alert(1)>", "b", 2**60 + 1, "__proto__"])


EVERY = {
    route.__name__: route
    for route in (planar, geographic, single, opened, nowhere, ended, matrix_only, broken, hostile)
}

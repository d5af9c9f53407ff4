"""What a given route is worth: exact cost, named violations and a row per stop.

This is the judge of every route that leaves the package. It is plain Python over the instance's own
distances and shares nothing with the kernels that find routes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from n2s.errors import InputError
from n2s.problem.instance import Id, Instance


@dataclass(frozen=True)
class Violation:
    """One broken rule: which rule, which request, at which positions of the route."""

    rule: str
    """``visit``, ``depot``, ``precedence``, ``capacity`` or the variant's name."""
    request: Id | None
    positions: tuple[int, ...]
    message: str


@dataclass(frozen=True)
class Stop:
    """One row of the route as a driver reads it; load and stack are those on leaving."""

    position: int
    id: Id | None
    kind: str
    """``start``, ``pickup``, ``delivery`` or ``end``."""
    request: Id | None
    leg: float
    cumulative: float
    load: float
    stack: tuple[Id, ...]
    """Requests on board, top last; kept for variants whose rule depends on the order."""


@dataclass(frozen=True)
class Evaluation:
    """The verdict on one route of one instance."""

    instance: Instance
    nodes: tuple[int, ...]
    """The route as nodes, the depot first, the way back understood."""
    cost: float
    violations: tuple[Violation, ...]
    stops: tuple[Stop, ...]

    @property
    def feasible(self) -> bool:
        """Whether no rule is broken."""
        return not self.violations

    @property
    def route(self) -> list[Id]:
        """The stops in order by the user's ids, with start and end where the route has them."""
        return [stop.id for stop in self.stops if stop.id is not None]


def evaluate(instance: Instance, route: Sequence[Id]) -> Evaluation:
    """Judge a route given by the user's ids, with or without the depot at its ends.

    Raises
    ------
    InputError
        If the route names a stop that the instance does not have. Everything else that can be wrong
        with a route is a :class:`Violation` in the result.
    """
    return evaluate_nodes(instance, to_nodes(instance, route))


def evaluate_nodes(instance: Instance, nodes: Sequence[int]) -> Evaluation:
    """Judge a route given as nodes in tour order, the depot first."""
    nodes = tuple(int(node) for node in nodes)
    path = np.array([*nodes, 0], dtype=np.int64)
    legs = instance.legs(path[:-1], path[1:])
    cumulative = np.cumsum(legs)
    return Evaluation(
        instance=instance,
        nodes=nodes,
        cost=float(cumulative[-1]),
        violations=tuple(_violations(instance, nodes)),
        stops=tuple(_stops(instance, nodes, legs.tolist(), cumulative.tolist())),
    )


def to_nodes(instance: Instance, route: Sequence[Id]) -> tuple[int, ...]:
    """Nodes of a route of user ids, starting with the depot, without the way back."""
    nodes: list[int] = []
    for position, token in enumerate(route):
        node = instance.find(token)
        if node is None and str(token) == str(instance.end_id) and position == len(route) - 1:
            node = 0
        if node is None:
            named = f" of {instance.name}" if instance.name else ""
            raise InputError(f"stop {token!r} (position {position}) is not a node{named}")
        nodes.append(node)
    if len(nodes) > 1 and nodes[-1] == 0:
        nodes.pop()
    if not nodes or nodes[0] != 0:
        nodes.insert(0, 0)
    return tuple(nodes)


def _violations(instance: Instance, nodes: Sequence[int]) -> list[Violation]:
    found: list[Violation] = []
    n, variant, capacity = instance.n, instance.variant, instance.capacity
    first: dict[int, int] = {}
    for position, node in enumerate(nodes):
        first.setdefault(node, position)

    def report(rule: str, request: int | None, positions: tuple[int, ...], message: str) -> None:
        name = None if request is None else instance.request_id(request)
        found.append(Violation(rule, name, positions, message))

    loaded: list[int] = []
    load = 0.0
    for position, node in enumerate(nodes):
        request = instance.request_of(node)
        if request is None:
            if position > 0:
                report("depot", None, (position,), f"the depot is visited again at {position}")
            continue
        name = f"request {instance.request_id(request)!r}"
        if first[node] != position:
            report(
                "visit",
                request,
                (first[node], position),
                f"the {instance.kind(node)} of {name} is visited at {first[node]} and at {position}",
            )
            continue
        weight = float(instance.weights[request - 1])
        if node <= n:
            loaded.append(request)
            load += weight
            if capacity is not None and load > capacity + 1e-9 * max(1.0, capacity):
                report(
                    "capacity",
                    request,
                    (position,),
                    f"with {name} at {position} the load is {load:g}, the capacity {capacity:g}",
                )
        elif request not in loaded:
            if request in first:  # otherwise the missing pickup is reported below
                report(
                    "precedence",
                    request,
                    (first[request], position),
                    f"{name} is delivered at {position} before its pickup at {first[request]}",
                )
        else:
            allowed = variant.deliverable(loaded)
            if request not in allowed:
                blocker = allowed[0]
                report(
                    variant.value,
                    request,
                    (first[request], first[blocker], position),
                    f"{name} is delivered at {position} while request "
                    f"{instance.request_id(blocker)!r} (picked up at {first[blocker]}) has to go first",
                )
            loaded.remove(request)
            load -= weight
    for node in range(1, instance.size):
        if node not in first:
            request = instance.request_of(node)
            what = f"the {instance.kind(node)} of request {instance.request_id(request or 0)!r}"
            report("visit", request, (), f"{what} is not visited")
    return found


def _stops(
    instance: Instance, nodes: Sequence[int], legs: Sequence[float], cumulative: Sequence[float]
) -> list[Stop]:
    stops: list[Stop] = []
    if not instance.open_start:
        stops.append(Stop(0, instance.ids[0], "start", None, 0.0, 0.0, 0.0, ()))
    ordered = len(instance.variant.deliverable([1, 2])) == 1
    loaded: list[int] = []
    load = 0.0
    for position, node in enumerate(nodes[1:], start=1):
        request = instance.request_of(node)
        if request is not None:
            weight = float(instance.weights[request - 1])
            if node <= instance.n:
                loaded.append(request)
                load += weight
            elif request in loaded:
                loaded.remove(request)
                load = load - weight if loaded else 0.0
        stops.append(
            Stop(
                position=position,
                id=instance.ids[node],
                kind=instance.kind(node),
                request=None if request is None else instance.request_id(request),
                leg=legs[position - 1],
                cumulative=cumulative[position - 1],
                load=load,
                stack=tuple(instance.request_id(r) for r in loaded) if ordered else (),
            )
        )
    if not instance.open_end:
        end = instance.ids[0] if instance.end_id is None else instance.end_id
        stops.append(Stop(len(nodes), end, "end", None, legs[-1], cumulative[-1], load, ()))
    return stops

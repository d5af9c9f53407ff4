"""What a given route is worth: exact cost, named violations and a row per stop.

This is the judge of every route that leaves the package. It is plain Python over the instance's own
distances and shares nothing with the kernels that find routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from n2s.errors import InputError, quoted
from n2s.problem.instance import Id, Instance

# Loads are added up exactly; this share of the capacity forgives that 0.1 + 0.2 is not 0.3.
TOLERANCE = 1e-12


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
    """One row of the route as a driver reads it; load, depth and top are those on leaving."""

    position: int
    id: Id | None
    kind: str
    """``start``, ``pickup``, ``delivery`` or ``end``."""
    request: Id | None
    leg: float
    cumulative: float
    load: float
    depth: int
    """How many requests are on board."""
    top: Id | None
    """The request loaded last, for variants whose rule depends on the order."""


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

    def stacks(self) -> Iterator[tuple[Id, ...]]:
        """The requests on board on leaving each of ``stops``, top last.

        Made one at a time: together they would take the square of the route in memory. Empty for
        variants whose rule does not depend on the order.
        """
        loaded: list[int] = []
        for stop in self.stops:
            if stop.kind in ("pickup", "delivery"):
                _carry(self.instance, self.nodes[stop.position], loaded)
            ordered = self.instance.variant.ordered
            yield tuple(map(self.instance.request_id, loaded)) if ordered else ()


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
        at_end = position == len(route) - 1 and instance.end_id is not None
        node = 0 if at_end and str(token) == str(instance.end_id) else instance.find(token)
        if node is None:
            named = f" of {quoted(instance.name)[1:-1]}" if instance.name else ""
            raise InputError(f"stop {quoted(token)} (position {position}) is not a node{named}")
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

    weights = [Fraction(weight) for weight in instance.weights.tolist()]
    limit = None if capacity is None else Fraction(capacity) * (1 + Fraction(TOLERANCE))
    loaded: list[int] = []
    load = Fraction(0)
    for position, node in enumerate(nodes):
        request = instance.request_of(node)
        if request is None:
            if position > 0:
                report("depot", None, (position,), f"the depot is visited again at {position}")
            continue
        name = f"request {quoted(instance.request_id(request))}"
        if first[node] != position:
            report(
                "visit",
                request,
                (first[node], position),
                f"the {instance.kind(node)} of {name} is visited at {first[node]} and at {position}",
            )
            continue
        if node <= n:
            loaded.append(request)
            load += weights[request - 1]
            if capacity is not None and limit is not None and load > limit:
                report(
                    "capacity",
                    request,
                    (position,),
                    f"with {name} at {position} the load is {float(load):.12g}, "
                    f"the capacity {capacity:.12g}",
                )
        elif not loaded or (loaded[-1] != request and request not in loaded):
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
                blocking = f"request {quoted(instance.request_id(blocker))}"
                report(
                    variant.value,
                    request,
                    (first[request], first[blocker], position),
                    f"{name} is delivered at {position} while {blocking} "
                    f"(picked up at {first[blocker]}) has to go first",
                )
            _take_off(loaded, request)
            load -= weights[request - 1]
    for node in range(1, instance.size):
        if node not in first:
            request = instance.request_of(node)
            what = (
                f"the {instance.kind(node)} of request {quoted(instance.request_id(request or 0))}"
            )
            report("visit", request, (), f"{what} is not visited")
    return found


def _stops(
    instance: Instance, nodes: Sequence[int], legs: Sequence[float], cumulative: Sequence[float]
) -> list[Stop]:
    stops: list[Stop] = []
    if not instance.open_start:
        stops.append(Stop(0, instance.ids[0], "start", None, 0.0, 0.0, 0.0, 0, None))
    ordered = instance.variant.ordered
    weights = [Fraction(weight) for weight in instance.weights.tolist()]
    loaded: list[int] = []
    load = Fraction(0)
    for position, node in enumerate(nodes[1:], start=1):
        request = instance.request_of(node)
        if request is not None:
            load += _carry(instance, node, loaded) * weights[request - 1]
        stops.append(
            Stop(
                position=position,
                id=instance.ids[node],
                kind=instance.kind(node),
                request=None if request is None else instance.request_id(request),
                leg=legs[position - 1],
                cumulative=cumulative[position - 1],
                load=float(load),
                depth=len(loaded),
                top=instance.request_id(loaded[-1]) if ordered and loaded else None,
            )
        )
    if not instance.open_end:
        end = instance.ids[0] if instance.end_id is None else instance.end_id
        top = stops[-1].top if stops else None
        leg, total, depth = legs[-1], cumulative[-1], len(loaded)
        stops.append(Stop(len(nodes), end, "end", None, leg, total, float(load), depth, top))
    return stops


def _carry(instance: Instance, node: int, loaded: list[int]) -> int:
    """Load or unload at a stop; how many requests that puts on board: 1, -1 or 0."""
    request = instance.request_of(node)
    if request is None:
        return 0
    if node <= instance.n:
        loaded.append(request)
        return 1
    if not loaded or (loaded[-1] != request and request not in loaded):
        return 0
    _take_off(loaded, request)
    return -1


def _take_off(loaded: list[int], request: int) -> None:
    if loaded[-1] == request:  # no search where the order is kept
        loaded.pop()
    else:
        loaded.remove(request)

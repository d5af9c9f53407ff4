"""What child processes do: search, judge, read and write, each as bytes to bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from n2s.errors import InputError, N2SError, quoted
from n2s.formats import registry
from n2s.formats.base import Format, RouteFormat
from n2s.formats.json_solution import as_dict
from n2s.problem import Distribution, Evaluation, Instance, Variant, generate
from n2s.problem.summary import summary
from n2s.search.interrupt import Interrupt
from n2s.search.options import Method
from n2s.serve import asked
from n2s.serve.asked import Limits, Query
from n2s.serve.wire import Message

if TYPE_CHECKING:
    from n2s.search.tick import Tick

F = TypeVar("F", Format, RouteFormat)

NEWS_EVERY = 0.05
"""Seconds between two improvements that are told, at least."""
JUDGING = 20
"""Telling an improvement means judging it, which may take one part in so many of the time."""

BEGUN = Message({"say": "begun"})
"""From here on the time of a task counts."""

TYPES = {
    ".json": "application/json",
    ".geojson": "application/geo+json",
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".npz": "application/octet-stream",
}
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Order:
    """One thing to do."""

    body: bytes
    query: Query
    limits: Limits
    stream: bool
    """Whether improvements are to be told."""
    interrupt: Interrupt
    tell: Callable[[Message], None]


@dataclass(frozen=True)
class Result:
    """Bytes for a client, and what the server itself has to know about them."""

    data: bytes
    about: Mapping[str, Any]


def solve(order: Order) -> Result:
    """Search a route."""
    from n2s.search.solve import solve as search

    wanted = asked.search(order.body, order.query, order.limits)
    if wanted.checkpoint is not None:
        known = _policies(wanted.method)
        if wanted.checkpoint not in known:  # never a file: a client has no say over those
            raise InputError(
                f"there is no checkpoint {quoted(wanted.checkpoint)} (there are {', '.join(known)})"
            )
    neural = Method(wanted.method).neural
    if neural:
        _warm_up_policy(wanted.method, wanted.checkpoint, wanted.instance.variant)
    order.tell(BEGUN)
    solution = search(
        wanted.instance,
        method=wanted.method,
        time_limit=wanted.seconds,
        steps=wanted.steps,
        target=wanted.target,
        seed=wanted.seed,
        checkpoint=wanted.checkpoint,
        initial=wanted.initial,
        threads=None if neural else 1,
        callback=_teller(order, wanted.instance) if order.stream else None,
        interrupt=order.interrupt,
    )
    data = json.dumps(solution.as_dict()).encode()
    return _json(data, seconds=solution.seconds, cost=solution.cost, stopped=solution.stopped)


def _policies(method: str) -> list[str]:
    """The policies that a method can name."""
    if Method(method) is Method.NATIVE:
        from n2s import native

        return list(native.names())
    from n2s.search import library

    return library.names()


@cache
def _warm_up_policy(method: str, checkpoint: str | None, variant: Variant) -> None:
    """Load torch and the policy's kernels, once in a process and before a clock runs."""
    from n2s.search.solve import solve as search

    (tiny,) = generate(3, variant=variant)
    search(tiny, method=method, checkpoint=checkpoint, steps=2, interrupt=Interrupt())


def check(order: Order) -> Result:
    """Whether a search could begin, and how long it would take."""
    wanted = asked.search(order.body, order.query, order.limits)
    return _json(b"{}", seconds=wanted.seconds)


def evaluate(order: Order) -> Result:
    """Judge a route, and write it in the format asked for."""
    evaluation, record = asked.judgement(order.body, order.query, order.limits)
    suffix = f".{order.query.get('to') or 'json'}"
    if suffix == ".json":
        return _json(json.dumps(as_dict(evaluation, record)).encode())
    name = evaluation.instance.name
    if suffix == ".html":
        return _file(_page(evaluation, record), suffix, name)
    chosen = _writer(registry.ROUTE_FORMATS, suffix, "a route")
    return _file(chosen.render(evaluation, record), suffix, name)


def validate(order: Order) -> Result:
    """Say what is in a file, or what is wrong with it."""
    try:
        found = summary(asked.instances(order.body, order.query, order.limits))
        report: dict[str, Any] = {"valid": True, **found}
    except N2SError as error:
        report = {"valid": False, "error": str(error)}
    return _json(json.dumps(report).encode())


def convert(order: Order) -> Result:
    """Write a file's instances in another format."""
    found = asked.instances(order.body, order.query, order.limits)
    suffix = f".{order.query.get('to') or 'json'}"
    writers = [known for known in registry.FORMATS if known.render is not None]
    chosen = _writer(writers, suffix, "an instance")
    data = b"" if chosen.render is None else chosen.render(found)
    return _file(data, suffix, found[0].name)


def example(order: Order) -> Result:
    """Generate an instance."""
    query = order.query
    size = 2 * query["requests"] + 1
    if size > order.limits.nodes:
        raise InputError(
            f"requests is {query['requests']}, which makes {size} nodes, more than the "
            f"{order.limits.nodes} allowed here"
        )
    made = generate(
        query["requests"],
        seed=query["seed"],
        variant=Variant(query["variant"]),
        distribution=Distribution(query["distribution"]),
    )
    writer = _writer(registry.FORMATS, ".json", "an instance")
    return _json(b"" if writer.render is None else writer.render(made))


def models(order: Order) -> Result:
    """List the policies; this loads torch."""
    from n2s.search import library

    return _json(json.dumps(library.described()).encode())


WORK: Mapping[str, Callable[[Order], Result]] = {
    work.__name__: work for work in (solve, check, evaluate, validate, convert, example, models)
}


def warm_up() -> None:
    """Load (or, once on a machine, compile) the kernels of the native search, before a clock runs."""
    from n2s.search.solve import solve as search

    for variant in Variant:
        for requests in (4, 200):  # short tours and long ones have kernels of their own
            (instance,) = generate(requests, variant=variant)
            search(instance, time_limit=0.05, threads=1, interrupt=Interrupt())


# --- parts ---------------------------------------------------------------------------------------


def _teller(order: Order, instance: Instance) -> Callable[[Tick], None]:
    """Tells improvements, judged like every route that leaves the package, but not too many."""
    from n2s.search.result import verified

    best, due = float("inf"), 0.0

    def watch(tick: Tick) -> None:
        nonlocal best, due
        now = time.monotonic()
        if tick.tour is None or tick.best >= best or now < due:
            return
        best = tick.best
        evaluation = verified(instance, tick.tour.tolist(), tick.best)
        head = {"say": "news", "step": tick.step, "seconds": tick.seconds, "best": evaluation.cost}
        order.tell(Message(head, json.dumps(evaluation.route).encode()))
        after = time.monotonic()
        due = after + max(NEWS_EVERY, JUDGING * (after - now))

    return watch


def _page(evaluation: Evaluation, record: Mapping[str, object]) -> bytes:
    from n2s.report.page import route_page

    history = record.get("history", [])
    if not isinstance(history, list):
        raise InputError("record.history must be a list")
    return route_page(evaluation, history, evaluation.instance.name).encode()


def _writer(formats: Sequence[F], suffix: str, what: str) -> F:
    for known in formats:
        if suffix in known.suffixes:
            return known
    possible = sorted({each[1:] for known in formats for each in known.suffixes})
    raise InputError(
        f"{what} cannot be written as {quoted(suffix[1:])}, only as {', '.join(possible)}"
    )


def _json(data: bytes, **about: object) -> Result:
    return Result(data, {"type": TYPES[".json"], **about})


def _file(data: bytes, suffix: str, name: str) -> Result:
    """A file to download, under a name that is safe in a header and on a disk."""
    plain = "".join(c for c in name if c.isascii() and (c.isalnum() or c in "-_")) or "n2s"
    return Result(data, {"type": TYPES.get(suffix, TEXT), "file": f"{plain[:60]}{suffix}"})

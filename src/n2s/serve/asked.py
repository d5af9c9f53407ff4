"""What a client sent, read: an instance in any format that is no pickle, and what to do with it.

Runs in child processes only. Nothing here touches the disk: names that clients give are for suffixes
and messages, and a policy is one of those the package knows by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from n2s.errors import InputError, UnsupportedError
from n2s.formats import pkl, registry, strict_json
from n2s.formats.base import Source
from n2s.formats.strict_json import Fields
from n2s.problem import Evaluation, Id, Instance, Variant, evaluate
from n2s.search.options import Method, Options, member
from n2s.serve.schema import OFFERED

BODY = "body"
"""What messages call data that came without a name."""
DEFAULT_SECONDS = 5.0
LARGEST_SEED = 2**63 - 1

Query = Mapping[str, Any]
"""The parameters in the address, of the right types."""


@dataclass(frozen=True)
class Limits:
    """What the server allows."""

    nodes: int
    seconds: float


@dataclass(frozen=True)
class Search:
    """A search as a client asks for it."""

    instance: Instance
    seconds: float
    method: str = Method.AUTO.value
    steps: int | None = None
    target: float | None = None
    seed: int = 1
    checkpoint: str | None = None
    """A name; whether the package knows it, only a process that has loaded the policies can say."""
    initial: list[Id] | None = None


def search(data: bytes, query: Query, limits: Limits) -> Search:
    """The search that a body and a query ask for together.

    The body is an instance file as it is, with all options in the query; or an object whose
    ``instance`` is one as JSON, with the options beside it.
    """
    source, fields = _envelope(data, query)
    options = _Options(fields, query)
    found = Search(
        instance=_within(_instance(source, fields, query, options.text("variant")), limits),
        seconds=_seconds(options, limits),
        method=member(Method, options.text("method") or Method.AUTO, "method").value,
        steps=options.count("steps"),
        target=options.number("target"),
        seed=options.count("seed", 1) or 0,
        checkpoint=options.text("checkpoint"),
        initial=None if fields is None else fields.identities("initial"),
    )
    _finish(fields)
    if found.seed > LARGEST_SEED:
        raise InputError(f"the seed is {found.seed}, more than {LARGEST_SEED}", source.name)
    if found.method not in OFFERED:
        raise UnsupportedError(f"the method {found.method} is not offered here")
    # What does not fit together is told before it waits in a queue.
    Options(Method(found.method), seed=found.seed, checkpoint=found.checkpoint)
    if found.initial is not None:
        evaluation = evaluate(found.instance, found.initial)
        if not evaluation.feasible:
            raise InputError(f"the initial route is infeasible: {evaluation.violations[0].message}")
    return found


def judgement(data: bytes, query: Query, limits: Limits) -> tuple[Evaluation, Mapping[str, object]]:
    """A route to judge, judged, and the record that came with it."""
    source, fields = _envelope(data, query)
    if fields is None:
        raise source.error("instance is missing: an instance and a route are needed")
    options = _Options(fields, query)
    instance = _within(_instance(source, fields, query, options.text("variant")), limits)
    route = fields.identities("route")
    if route is None:
        raise fields.wrong("route", "is missing")
    record = fields.take("record")
    if record is not None and not isinstance(record, dict):
        raise fields.wrong("record", "must be an object")
    _finish(fields)
    return evaluate(instance, route), record or {}


def instances(data: bytes, query: Query, limits: Limits) -> list[Instance]:
    """All instances in a file, or the one asked for."""
    found = _parsed(_source(data, query.get("name")))
    if query.get("index") is not None:
        found = [_pick(found, query["index"])]
    for instance in found:
        _within(instance, limits)
    variant = query.get("variant")
    return found if variant is None else [replace(one, variant=Variant(variant)) for one in found]


# --- parts ---------------------------------------------------------------------------------------


class _Options:
    """Options of a search: in the body where it is an envelope, else in the query; not in both."""

    def __init__(self, fields: Fields | None, query: Query) -> None:
        self._fields = fields
        self._query = query

    def text(self, key: str) -> str | None:
        """A word."""
        found: str | None = self._one(key, self._fields and self._fields.text(key))
        return found

    def number(self, key: str) -> float | None:
        """A number."""
        found: float | None = self._one(key, self._fields and self._fields.number(key))
        return found

    def count(self, key: str, default: int | None = None) -> int | None:
        """A whole number from 0 on."""
        found: int | None = self._one(key, self._fields and self._fields.index(key))
        return default if found is None else found

    def _one(self, key: str, given: Any) -> Any:
        asked = self._query.get(key)
        if given is not None and asked is not None:
            raise InputError(f"{key} is in the body and in the address: say it once")
        return asked if given is None else given


def _envelope(data: bytes, query: Query) -> tuple[Source, Fields | None]:
    """The source, and its members if it is an object with an instance inside."""
    source = _source(data, query.get("name"))
    value = strict_json.peek(source)
    if isinstance(value, dict) and "instance" in value:
        return source, Fields(source, value)
    return source, None


def _instance(source: Source, fields: Fields | None, query: Query, variant: str | None) -> Instance:
    if fields is not None:
        inner = fields.take("instance")
        if not isinstance(inner, dict):
            raise fields.wrong("instance", "must be an object")
        source = Source("instance", json.dumps(inner).encode())
    instance = _pick(_parsed(source), query.get("index"))
    if variant is None:
        return instance
    return replace(instance, variant=member(Variant, variant, "variant"))


def _source(data: bytes, name: str | None) -> Source:
    """Bytes under the last part of the name that the client gave them."""
    plain = PureWindowsPath(PurePosixPath(name or BODY).name).name or BODY
    source = Source(plain, data)
    value = strict_json.peek(source)
    if not (isinstance(value, dict) and set(value) == {"files"}):
        return source
    # Several files that belong together: the first is the instance.
    files = []
    for entry in Fields(source, value).each("files"):
        own, text = entry.text("name"), entry.text("text")
        entry.refuse_others()
        if own is None or text is None:
            raise entry.wrong("name" if own is None else "text", "is missing")
        files.append(Source(PureWindowsPath(PurePosixPath(own).name).name or BODY, text.encode()))
    if not files:
        raise source.error("files is empty")
    return replace(files[0], beside=tuple(files[1:]))


def _parsed(source: Source) -> list[Instance]:
    if pkl.FORMAT.recognises(source) or source.name.lower().endswith(pkl.FORMAT.suffixes):
        raise UnsupportedError(
            "pickles are not taken from clients: n2s convert makes .npz of them", source.name
        )
    return registry.parse(source)


def _pick(found: list[Instance], index: int | None) -> Instance:
    if index is None:
        if len(found) > 1:
            raise InputError(f"the file holds {len(found)} instances: say which by index")
        index = 0
    if not 0 <= index < len(found):
        raise InputError(f"there is no instance {index} among {len(found)}")
    return found[index]


def _within(instance: Instance, limits: Limits) -> Instance:
    if instance.size > limits.nodes:
        raise UnsupportedError(
            f"the instance has {instance.size} nodes, more than the {limits.nodes} allowed here"
        )
    return instance


def _seconds(options: _Options, limits: Limits) -> float:
    seconds = options.number("seconds")
    if seconds is None:
        return min(DEFAULT_SECONDS, limits.seconds)
    if not seconds > 0:
        raise InputError(f"seconds must be positive, not {seconds:g}")
    if seconds > limits.seconds:
        raise UnsupportedError(
            f"seconds is {seconds:g}, more than the {limits.seconds:g} allowed here"
        )
    return seconds


def _finish(fields: Fields | None) -> None:
    if fields is not None:
        fields.refuse_others()

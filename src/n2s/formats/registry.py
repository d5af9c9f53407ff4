"""Read and write by suffix and content: the rim where formats meet the disk."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from n2s.errors import InputError, located
from n2s.formats import (
    carrabs,
    csv_route,
    csv_stops,
    geojson,
    grubhub,
    json_instance,
    json_solution,
    lkh,
    npz,
    pdt,
    pkl,
    sol,
    tour,
    tsppdlib,
    vroom,
)
from n2s.formats.base import Format, RouteFormat, Source
from n2s.problem import Evaluation, Id, Instance

F = TypeVar("F", Format, RouteFormat)

FORMATS: tuple[Format, ...] = (
    json_instance.FORMAT,
    vroom.FORMAT,
    tsppdlib.JSON_FORMAT,
    *csv_stops.FORMATS,
    npz.FORMAT,
    pkl.FORMAT,
    *lkh.FORMATS,
    tsppdlib.TSP_FORMAT,
    carrabs.FORMAT,
    grubhub.FORMAT,
    pdt.FORMAT,
)
ROUTE_FORMATS: tuple[RouteFormat, ...] = (
    json_solution.FORMAT,
    csv_route.FORMAT,
    tour.FORMAT,
    sol.FORMAT,
    geojson.FORMAT,
)


def read(path: str | Path) -> Instance:
    """Read the instance in a file of any known format."""
    instances = read_many(path)
    if len(instances) != 1:
        raise InputError(f"the file holds {len(instances)} instances, not one", str(path))
    return instances[0]


def read_many(path: str | Path) -> list[Instance]:
    """Read all instances in a file of any known format."""
    return parse(_load(path))


def parse(source: Source) -> list[Instance]:
    """Instances from bytes: the suffix of the name proposes formats, the content decides."""
    if not source.data.strip():
        raise source.error("the file is empty")
    suffix = Path(source.name).suffix.lower()
    proposed = [known for known in FORMATS if suffix in known.suffixes]
    others = [known for known in FORMATS if suffix not in known.suffixes]
    for known in [*proposed, *others]:
        if known.recognises(source):
            break
    else:
        if not proposed:
            raise source.error(f"this is none of the known formats ({_names(FORMATS)})")
        known = proposed[0]  # its parser knows best what is missing
    with located(source.name):
        instances = known.parse(source)
    if not instances:
        raise source.error("the file holds no instance")
    return instances


def write(instances: Instance | Sequence[Instance], path: str | Path) -> None:
    """Write one or several instances; the suffix says in which format."""
    if isinstance(instances, Instance):
        instances = [instances]
    writers = [known for known in FORMATS if known.render is not None]
    chosen = _by_suffix(writers, path, "an instance")
    if chosen.render is not None:
        with located(str(path)):
            store(path, chosen.render(instances))


def read_route(path: str | Path, instance: Instance) -> list[Id]:
    """Read a route of ``instance`` as a list of the user's ids."""
    source = _load(path)
    if not source.data.strip():
        raise source.error("the file is empty")
    suffix = Path(source.name).suffix.lower()
    readers = [known for known in ROUTE_FORMATS if known.parse is not None]
    readers.sort(key=lambda known: suffix not in known.suffixes)
    for known in readers:
        if known.parse is not None and known.recognises(source):
            with located(source.name):
                return known.parse(source, instance)
    raise source.error(f"this is no route in a known format ({_names(readers)})")


def write_route(evaluation: Evaluation, path: str | Path, record: Mapping[str, object]) -> None:
    """Write a route with its cost and stops; the suffix says in which format."""
    chosen = _by_suffix(ROUTE_FORMATS, path, "a route")
    with located(str(path)):
        store(path, chosen.render(evaluation, record))


def store(path: str | Path, data: bytes) -> None:
    """Put ``data`` at ``path`` whole or not at all: written aside, then renamed.

    A link stays one and its target is replaced; an old file's permissions are kept.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode(target, str(path))
        # A short name: the target's own may already be as long as names can be.
        descriptor, aside = tempfile.mkstemp(prefix=".n2s-", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())  # or a crash could leave the new name with no content
            os.chmod(aside, mode)
            os.replace(aside, target)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from error


def probe(path: str | Path) -> None:
    """Refuse a place that :func:`store` could not write to, before work is done for it."""
    target = Path(os.path.realpath(path))
    try:
        _mode(target, str(path))
        descriptor, aside = tempfile.mkstemp(prefix=".n2s-", dir=target.parent)
        os.close(descriptor)
        Path(aside).unlink()
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(path)) from error


def _mode(target: Path, name: str) -> int:
    """The permissions the new file shall have."""
    try:
        old = target.stat().st_mode
    except FileNotFoundError:
        # mkstemp makes private files; a result should be as readable as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(old):
        raise InputError("cannot be written: it exists and is not a regular file", name)
    return stat.S_IMODE(old) & 0o777


def _load(path: str | Path) -> Source:
    path = Path(path)
    try:
        return Source(str(path), path.read_bytes(), path.parent)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error


def _by_suffix(formats: Sequence[F], path: str | Path, what: str) -> F:
    suffix = Path(path).suffix.lower()
    for known in formats:
        if suffix in known.suffixes:
            return known
    possible = ", ".join(sorted({s for known in formats for s in known.suffixes}))
    given = f"{suffix!r}" if suffix else "a file without suffix"
    raise InputError(f"{what} cannot be written as {given}, only as {possible}", str(path))


def _names(formats: Sequence[Format] | Sequence[RouteFormat]) -> str:
    return ", ".join(dict.fromkeys(known.name for known in formats))

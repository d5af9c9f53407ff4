"""What is in a file, in a few lines, as ``n2s validate`` and the service say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from n2s.problem.instance import Instance

LISTED = 5  # of the names in a set


def summary(instances: Sequence[Instance]) -> dict[str, Any]:
    """What is in a set: of every property all that occurs, not just what the first has."""
    sizes = [instance.size for instance in instances]
    report: dict[str, Any] = {
        "instances": len(instances),
        "name": _listed(instance.name for instance in instances),
        "variant": _listed(instance.variant.value for instance in instances),
        "nodes": _range(sizes),
        "requests": _range([size // 2 for size in sizes]),
        "distances": _listed(map(_distances, instances)),
        "start": _listed(map(_start, instances)),
        "end": _listed(map(_end, instances)),
    }
    loads = [float(i.weights.sum()) for i in instances if i.loads is not None]
    capacities = [i.capacity for i in instances if i.capacity is not None]
    for key, values in (("total load", loads), ("capacity", capacities)):
        if values:
            report[key] = _range(values)
            if len(values) < len(instances):
                report[key] = f"{report[key]} ({len(values)} of {len(instances)} instances)"
    return report


def _listed(values: Iterable[str]) -> str:
    found = list(dict.fromkeys(values))
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return ", ".join(found[:LISTED]) + more


def _range(values: Sequence[float]) -> float | str:
    low, high = min(values), max(values)
    return low if low == high else f"{low}..{high}"


def _start(instance: Instance) -> str:
    return "at any stop" if instance.open_start else str(instance.ids[0])


def _distances(instance: Instance) -> str:
    if instance.matrix is not None:
        return "symmetric matrix" if instance.symmetric else "asymmetric matrix"
    rounding = "" if instance.rounding == "none" else f", rounded {instance.rounding}"
    return f"{instance.metric}{rounding}"


def _end(instance: Instance) -> str:
    if instance.open_end:
        return "at any stop"
    return str(instance.ids[0] if instance.end_id is None else instance.end_id)

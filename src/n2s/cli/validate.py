"""``n2s validate``: does it read, and what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from n2s import formats
from n2s.cli.options import JsonOption, VariantOption, with_variant
from n2s.errors import N2SError, printable
from n2s.problem import Instance, Variant

BAD_INPUT = 2
LISTED = 5  # of the names in a set


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Instance files.")],
    variant: VariantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check instance files and say what they hold."""
    reports = [_checked(path, variant) for path in files]
    if as_json:
        typer.echo(json.dumps(reports[0] if len(reports) == 1 else reports))
    for report in reports:
        if not report["valid"]:
            typer.echo(f"n2s: {report['error']}", err=True)
        elif not as_json:
            typer.echo(printable(f"{report['file']}: valid"))
            for key, value in report.items():
                if key not in ("file", "valid"):
                    typer.echo(printable(f"  {key}: {value}"))
    if not all(report["valid"] for report in reports):
        raise typer.Exit(BAD_INPUT)


def _checked(path: Path, variant: Variant | None) -> dict[str, Any]:
    """What is in a file, or what is wrong with it: one bad file does not hide the others."""
    try:
        return _report(path, with_variant(formats.read_many(path), variant))
    except N2SError as error:
        return {"file": str(path), "valid": False, "error": str(error)}


def _report(path: Path, instances: list[Instance]) -> dict[str, Any]:
    """What is in a set: of every property all that occurs, not just what the first has."""
    sizes = [instance.size for instance in instances]
    report: dict[str, Any] = {
        "file": str(path),
        "valid": True,
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

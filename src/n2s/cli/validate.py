"""``n2s validate``: does it read, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from n2s import formats
from n2s.cli.options import JsonOption, VariantOption, with_variant
from n2s.problem import Instance


def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Instance files.")],
    variant: VariantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check instance files and say what they hold."""
    reports = [_report(path, with_variant(formats.read_many(path), variant)) for path in files]
    if as_json:
        typer.echo(json.dumps(reports[0] if len(reports) == 1 else reports))
        return
    for report in reports:
        typer.echo(f"{report['file']}: valid")
        for key, value in report.items():
            if key not in ("file", "valid"):
                typer.echo(f"  {key}: {value}")


def _report(path: Path, instances: list[Instance]) -> dict[str, Any]:
    sizes = sorted({instance.size for instance in instances})
    first = instances[0]
    report: dict[str, Any] = {
        "file": str(path),
        "valid": True,
        "instances": len(instances),
        "name": first.name,
        "variant": first.variant.value,
        "nodes": sizes[0] if len(sizes) == 1 else f"{sizes[0]}..{sizes[-1]}",
        "requests": sizes[0] // 2 if len(sizes) == 1 else f"{sizes[0] // 2}..{sizes[-1] // 2}",
        "distances": _distances(first),
        "start": "at any stop" if first.open_start else str(first.ids[0]),
        "end": _end(first),
    }
    if first.loads is not None:
        report["total load"] = float(first.weights.sum())
    if first.capacity is not None:
        report["capacity"] = first.capacity
    return report


def _distances(instance: Instance) -> str:
    if instance.matrix is not None:
        return "symmetric matrix" if instance.symmetric else "asymmetric matrix"
    rounding = "" if instance.rounding == "none" else f", rounded {instance.rounding}"
    return f"{instance.metric}{rounding}"


def _end(instance: Instance) -> str:
    if instance.open_end:
        return "at any stop"
    return str(instance.ids[0] if instance.end_id is None else instance.end_id)

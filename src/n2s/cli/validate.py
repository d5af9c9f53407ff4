"""``n2s validate``: does it read, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from n2s import formats
from n2s.cli.options import JsonOption, VariantOption, with_variant
from n2s.errors import N2SError
from n2s.problem import Instance, Variant

BAD_INPUT = 2


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
            typer.echo(f"{report['file']}: valid")
            for key, value in report.items():
                if key not in ("file", "valid"):
                    typer.echo(f"  {key}: {value}")
    if not all(report["valid"] for report in reports):
        raise typer.Exit(BAD_INPUT)


def _checked(path: Path, variant: Variant | None) -> dict[str, Any]:
    """What is in a file, or what is wrong with it: one bad file does not hide the others."""
    try:
        return _report(path, with_variant(formats.read_many(path), variant))
    except N2SError as error:
        return {"file": str(path), "valid": False, "error": str(error)}


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

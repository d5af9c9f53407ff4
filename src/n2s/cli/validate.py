"""``n2s validate``: does it read, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from n2s import formats
from n2s.cli.options import JsonOption, VariantOption, with_variant
from n2s.errors import N2SError, printable
from n2s.problem import Variant
from n2s.problem.summary import summary

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
            typer.echo(printable(f"{report['file']}: valid"))
            for key, value in report.items():
                if key not in ("file", "valid"):
                    typer.echo(printable(f"  {key}: {value}"))
    if not all(report["valid"] for report in reports):
        raise typer.Exit(BAD_INPUT)


def _checked(path: Path, variant: Variant | None) -> dict[str, Any]:
    """What is in a file, or what is wrong with it: one bad file does not hide the others."""
    try:
        found = summary(with_variant(formats.read_many(path), variant))
        return {"file": str(path), "valid": True, **found}
    except N2SError as error:
        return {"file": str(path), "valid": False, "error": str(error)}

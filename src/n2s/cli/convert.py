"""``n2s convert``: an instance file into another format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from n2s import formats
from n2s.cli.options import InstanceFile, JsonOption, VariantOption, with_variant
from n2s.errors import InputError


def convert(
    file: InstanceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The suffix says which format.")],
    variant: VariantOption = None,
    index: Annotated[
        int | None, typer.Option(help="Take only this instance of a set, counted from 0.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Convert an instance file into another format."""
    instances = with_variant(formats.read_many(file), variant)
    if index is not None:
        if not 0 <= index < len(instances):
            raise InputError(f"there is no instance {index} among {len(instances)}", str(file))
        instances = [instances[index]]
    formats.write(instances, out)
    if as_json:
        typer.echo(json.dumps({"file": str(out), "count": len(instances)}))
    else:
        what = "instance" if len(instances) == 1 else "instances"
        typer.echo(f"{out}: {len(instances)} {what}")

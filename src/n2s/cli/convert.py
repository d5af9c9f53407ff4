"""``n2s convert``: an instance file into another format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from n2s import formats
from n2s.cli.options import (
    IndexOption,
    InstanceFile,
    JsonOption,
    VariantOption,
    pick,
    with_variant,
)
from n2s.errors import InputError, printable


def convert(
    file: InstanceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The suffix says which format.")],
    variant: VariantOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Convert an instance file into another format."""
    if out.exists() and out.samefile(file):
        raise InputError("the result would replace the file it is made from", str(out))
    instances = with_variant(formats.read_many(file), variant)
    if index is not None:
        instances = [pick(instances, index, file)]
    formats.write(instances, out)
    if as_json:
        typer.echo(json.dumps({"file": str(out), "count": len(instances)}))
    else:
        what = "instance" if len(instances) == 1 else "instances"
        typer.echo(f"{printable(str(out))}: {len(instances)} {what}")

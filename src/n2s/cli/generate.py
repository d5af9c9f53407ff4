"""``n2s generate``: random instances into a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from n2s import formats, problem
from n2s.cli.options import JsonOption
from n2s.errors import printable
from n2s.problem import Distribution, Variant


def generate(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Where to; .npz and .json hold many instances.")
    ],
    requests: Annotated[int, typer.Option(help="Requests n; the instance has 2n + 1 nodes.")],
    count: Annotated[int, typer.Option(help="How many instances.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same instances.")] = 0,
    variant: Annotated[Variant, typer.Option(help="Loading rule.")] = Variant.PDTSP,
    distribution: Annotated[
        Distribution, typer.Option(help="Where the nodes lie in the unit square.")
    ] = Distribution.UNIFORM,
    as_json: JsonOption = False,
) -> None:
    """Generate random instances."""
    instances = problem.generate(requests, count, seed, variant, distribution)
    formats.write(instances, out)
    if as_json:
        summary = {"file": str(out), "count": count, "nodes": instances[0].size, "variant": variant}
        typer.echo(json.dumps(summary))
    else:
        what = "instance" if count == 1 else "instances"
        typer.echo(f"{printable(str(out))}: {count} {variant} {what} of {instances[0].size} nodes")

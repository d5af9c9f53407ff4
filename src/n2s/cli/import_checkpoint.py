"""``n2s import-checkpoint``: weights of the authors' released code into a checkpoint of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from n2s.cli.options import JsonOption
from n2s.problem import Variant


def import_checkpoint(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .pt file of the released code.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Where to: .safetensors.")],
    variant: Annotated[Variant, typer.Option(help="The problem it was trained on.")],
    nodes: Annotated[int, typer.Option(help="The N it was trained on, the depot included.")],
    clip: Annotated[float, typer.Option(help="Its option v_range, C of the paper.")] = 6.0,
    as_json: JsonOption = False,
) -> None:
    """Import a checkpoint of the authors' released code."""
    from n2s.model import save
    from n2s.model.released import import_released

    checkpoint = import_released(file, variant, (nodes,), clip)
    digest = save(checkpoint, out)
    count = checkpoint.policy.count_parameters()
    if as_json:
        typer.echo(json.dumps({"file": str(out), "parameters": count, "sha256": digest}))
    else:
        typer.echo(f"{out}: {variant} policy with {count:,} weights, sha256 {digest[:12]}")

"""``n2s train``: train a policy, or go on with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

INTERRUPTED = 130


def train(
    preset: Annotated[
        Path | None, typer.Argument(help="A preset file (.toml), as in presets/.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the new run; default: runs/ and the preset's name."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", help="A policy to begin with, or a native one: a name or a file."),
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Folder of a run to go on with.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop after so many minutes.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a key: section.key=value.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Train a policy by n-step PPO. Ctrl-C saves the run; --resume goes on with it."""
    from n2s.train.run import train as run

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(line, err=True)

    stopped = run(
        *(preset, out),
        changes=changes or (),
        start=start,
        resume=resume,
        minutes=minutes,
        tell=tell,
    )
    if stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)

"""``n2s plot-training``: the curves of a training run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from n2s.errors import InputError, located
from n2s.formats.registry import probe, store


def plot_training(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Default: RUN/curves.png.")
    ] = None,
) -> None:
    """Draw reward, losses, entropies and validation of a training run."""
    from n2s.report.figure import figure_bytes
    from n2s.report.training import training_figure
    from n2s.search.result import PICTURES
    from n2s.train.metrics import read_metrics

    target = output or run / "curves.png"
    if target.suffix.lower() not in PICTURES:
        raise InputError(f"a picture is one of {', '.join(PICTURES)}", str(target))
    with located(str(run)):
        lines = read_metrics(run)
        probe(target)
        figure = training_figure(lines, title=run.resolve().name)
    store(target, figure_bytes(figure, target.suffix.lower()))
    typer.echo(str(target))

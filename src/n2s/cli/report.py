"""``n2s report``: the tables and figures of a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from n2s.cli.options import list_of
from n2s.formats.registry import store

FIGURES = ("gap-over-time.png", "profile.png")


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of n2s bench.")],
    reference: Annotated[
        list[str] | None,
        typer.Option(help="What to compare with: a method, or who published costs; default lkh."),
    ] = None,
    best_known: Annotated[
        Path | None, typer.Option(help="A file of best routes; default: RUN/best.json.")
    ] = None,
    plot: Annotated[
        bool, typer.Option("--plot", help="Write gap-over-time.png and profile.png into RUN.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the Markdown here, too.")
    ] = None,
) -> None:
    """Print the tables of a benchmark as Markdown."""
    from n2s.bench.folder import report_of, tables_of

    text = report_of(run, list_of(reference), best_known=best_known)
    if output is not None:
        store(output, text.encode())
    if plot:
        from n2s.bench.pictures import over_time, profiles
        from n2s.report.benchmark import gap_figure, profile_figure
        from n2s.report.figure import figure_bytes

        tables = tables_of(run, best_known)
        figures = (gap_figure(over_time(tables)), profile_figure(profiles(tables)))
        for name, figure in zip(FIGURES, figures, strict=True):
            store(run / name, figure_bytes(figure, ".png"))
            typer.echo(str(run / name), err=True)
    typer.echo(text, nl=False)

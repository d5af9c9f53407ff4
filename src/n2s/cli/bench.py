"""``n2s bench``: run a suite and print its tables."""

from __future__ import annotations

import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from n2s.cli.options import list_of
from n2s.errors import InputError
from n2s.problem import Variant

INTERRUPTED = 130


def bench(
    suite: Annotated[
        str,
        typer.Argument(help="uniform, files, paper, ablation, generalization or speed."),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Of benchmark files: files and generalization."),
    ] = None,
    nodes: Annotated[
        list[str] | None, typer.Option(help="Nodes of generated instances: 51, or 21,51,101.")
    ] = None,
    count: Annotated[int | None, typer.Option(help="Instances of each table.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the generated instances.")] = None,
    variant: Annotated[
        list[Variant] | None, typer.Option(help="Loading rule; may be given twice.")
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME:BUDGET@POLICY, the last two optional: auto,lkh:10000,anneal:2s,n2s@random."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Wall clock of every run, start-up counted.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Steps (trials of peers) of every run instead.")
    ] = None,
    seeds: Annotated[list[str] | None, typer.Option(help="Of the runs: 1,2,3 or 1-10.")] = None,
    processes: Annotated[int, typer.Option(help="Runs at a time, each on its own cores.")] = 1,
    cores: Annotated[int, typer.Option(help="Of each run.")] = 1,
    limit: Annotated[
        float | None, typer.Option(help="End a run after so many seconds, as failed.")
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option(help="What to compare with: a method, or who published costs (sol, B2)."),
    ] = None,
    best_known: Annotated[
        Path | None, typer.Option(help="A file of best routes to share with other runs.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Folder of the run; the same again goes on with it."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Benchmark methods on equal footing, put every run on record, print the tables."""
    from n2s.bench.folder import keep_notes, report_of
    from n2s.bench.run import Settings, run
    from n2s.bench.suites import Suite, Wish, plan
    from n2s.search.interrupt import interruptible
    from n2s.search.options import member

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(line, err=True)

    chosen = member(Suite, suite, "suite")
    wish = Wish(
        folder=folder,
        nodes=_numbers(nodes, "--nodes"),
        count=count,
        seed=seed,
        variants=tuple(variant) if variant else None,
        methods=tuple(list_of(methods)) or None,
        seconds=seconds,
        steps=steps,
        seeds=_numbers(seeds, "--seeds"),
    )
    planned = plan(chosen, wish)
    target = out or Path("runs") / f"bench-{chosen}-{datetime.now():%Y%m%d-%H%M%S}"
    settings = Settings(
        target, cores, processes, limit, best_known, shlex.join(["n2s", *sys.argv[1:]])
    )
    for note in planned.notes:
        tell(note)
    tell(f"every run goes to {target}")
    with interruptible() as interrupt:
        outcome = run(planned, settings, tell, interrupt)
    keep_notes(target, planned.notes)
    if outcome.interrupted:
        again = "the same command" if out else f"the same command with --out {target}"
        typer.echo(f"n2s: interrupted; {again} goes on", err=True)
        raise typer.Exit(INTERRUPTED)
    text = report_of(target, list_of(reference), planned.references)
    typer.echo(text, nl=False)


def _numbers(texts: list[str] | None, option: str) -> tuple[int, ...] | None:
    """Whole numbers and ranges of them, in the order given, each once."""
    if not texts:
        return None
    found: list[int] = []
    for part in list_of(texts):
        first, dash, last = part.partition("-")
        try:
            found += range(int(first), int(last) + 1) if dash else [int(first)]
        except ValueError:
            raise InputError(f"{option} takes numbers as 1,2,3 or 1-10, not {part!r}") from None
    if not found:
        raise InputError(f"{option} names no number")
    return tuple(dict.fromkeys(found))

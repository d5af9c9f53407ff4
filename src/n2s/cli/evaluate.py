"""``n2s evaluate``: judge a given route."""

from __future__ import annotations

import json
import sys
from itertools import repeat
from pathlib import Path
from typing import Annotated, Literal

import typer

from n2s import formats, problem
from n2s.cli.options import (
    IndexOption,
    InstanceFile,
    JsonOption,
    VariantOption,
    pick,
    with_variant,
)
from n2s.errors import located, printable
from n2s.formats.json_solution import as_dict
from n2s.formats.stops import full_stacks
from n2s.problem import Evaluation

INFEASIBLE = 1
WIDE = 200


def evaluate(
    file: InstanceFile,
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="A route: .sol, .tour, .json or .csv.")
    ],
    variant: VariantOption = None,
    index: IndexOption = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the route: .json .csv .geojson .tour .sol."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a route: feasibility, cost, violations and a table of its stops."""
    instance = pick(with_variant(formats.read_many(file), variant), index, file)
    with located(str(solution)):
        evaluation = problem.evaluate(instance, formats.read_route(solution, instance))
    for path in output or ():
        formats.write_route(evaluation, path, {})
    if as_json:
        typer.echo(json.dumps(as_dict(evaluation, {})))
    else:
        _print(evaluation)
    if not evaluation.feasible:
        raise typer.Exit(INFEASIBLE)


def _print(evaluation: Evaluation) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    instance = evaluation.instance
    # Into a pipe or file nothing is cut off, however long the ids are.
    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    full = full_stacks(instance)
    stacked = (
        (("stack, top last",) if full else ("depth", "top")) if instance.variant.ordered else ()
    )
    table = Table(title=Text(printable(f"{instance.name} ({instance.variant})")))
    for column in ("position", "id", "kind", "request", "leg", "cumulative", "load"):
        justify: Literal["left", "right"] = "left" if column in ("id", "kind") else "right"
        table.add_column(column, justify=justify, overflow="fold")
    for column in stacked:
        table.add_column(column, overflow="fold")
    piles = evaluation.stacks() if full else repeat(())
    for stop, pile in zip(evaluation.stops, piles, strict=False):
        row = [
            str(stop.position),
            str(stop.id),
            stop.kind,
            "" if stop.request is None else str(stop.request),
            f"{stop.leg:.6g}",
            f"{stop.cumulative:.6g}",
            f"{stop.load:g}",
        ]
        if stacked and full:
            row.append(" ".join(map(str, pile)))
        elif stacked:
            row += [str(stop.depth), "" if stop.top is None else str(stop.top)]
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table)
    for violation in evaluation.violations:
        console.print(Text(printable(f"{violation.rule}: {violation.message}")), style="red")
    verdict = "feasible" if evaluation.feasible else "infeasible"
    console.print(Text(f"{verdict}, cost {evaluation.cost:.10g}"), style="bold")

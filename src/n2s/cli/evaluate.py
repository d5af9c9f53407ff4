"""``n2s evaluate``: judge a given route."""

from __future__ import annotations

import json
import sys
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
from n2s.errors import located
from n2s.formats.json_solution import as_dict
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
    stacked = any(stop.stack for stop in evaluation.stops)
    table = Table(title=Text(f"{instance.name} ({instance.variant})"))
    for column in ("position", "id", "kind", "request", "leg", "cumulative", "load"):
        justify: Literal["left", "right"] = "left" if column in ("id", "kind") else "right"
        table.add_column(column, justify=justify, overflow="fold")
    if stacked:
        table.add_column("stack, top last", overflow="fold")
    for stop in evaluation.stops:
        row = [
            str(stop.position),
            str(stop.id),
            stop.kind,
            "" if stop.request is None else str(stop.request),
            f"{stop.leg:.6g}",
            f"{stop.cumulative:.6g}",
            f"{stop.load:g}",
        ]
        if stacked:
            row.append(" ".join(map(str, stop.stack)))
        table.add_row(*map(Text, row))
    console.print(table)
    for violation in evaluation.violations:
        console.print(Text(f"{violation.rule}: {violation.message}"), style="red")
    verdict = "feasible" if evaluation.feasible else "infeasible"
    console.print(Text(f"{verdict}, cost {evaluation.cost:.10g}"), style="bold")

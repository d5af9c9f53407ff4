"""``n2s evaluate``: judge a given route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from n2s import formats, problem
from n2s.cli.options import InstanceFile, JsonOption, VariantOption, with_variant
from n2s.formats.json_solution import as_dict
from n2s.problem import Evaluation

INFEASIBLE = 1


def evaluate(
    file: InstanceFile,
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="A route: .sol, .tour, .json or .csv.")
    ],
    variant: VariantOption = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the route: .json .csv .geojson .tour .sol."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge a route: feasibility, cost, violations and a table of its stops."""
    instance = with_variant([formats.read(file)], variant)[0]
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
    console = Console()
    stacked = any(stop.stack for stop in evaluation.stops)
    table = Table(title=Text(f"{instance.name} ({instance.variant})"))
    for column in ("position", "id", "kind", "request", "leg", "cumulative", "load"):
        table.add_column(column, justify="right" if column not in ("id", "kind") else "left")
    if stacked:
        table.add_column("stack, top last")
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

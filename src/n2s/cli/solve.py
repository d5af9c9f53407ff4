"""``n2s solve``: search a route and write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from n2s import formats, problem
from n2s.cli.clock import process_start
from n2s.cli.options import (
    IndexOption,
    InstanceFile,
    JsonOption,
    VariantOption,
    pick,
    with_variant,
)
from n2s.cli.progress import watching
from n2s.errors import InputError, N2SError, located, printable
from n2s.formats.registry import probe
from n2s.problem import Id, Instance

if TYPE_CHECKING:
    from n2s.search.result import Solution

INTERRUPTED = 130


def solve(
    file: InstanceFile,
    variant: VariantOption = None,
    index: IndexOption = None,
    method: Annotated[
        str, typer.Option(help="auto, anneal, native, native+n2s, n2s or n2s-a.")
    ] = "auto",
    steps: Annotated[int | None, typer.Option(help="Stop after so many steps.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Stop after so many seconds.")] = None,
    no_improvement: Annotated[
        int | None, typer.Option(help="Stop after so many steps without a better route.")
    ] = None,
    target: Annotated[float | None, typer.Option(help="Stop at this cost.")] = None,
    reference: Annotated[
        float | None, typer.Option(help="Show the gap to this cost while searching.")
    ] = None,
    augments: Annotated[int | None, typer.Option(help="Copies of n2s-a; default N/2.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed and steps, same route.")] = 1,
    checkpoint: Annotated[
        str | None, typer.Option(help="Name (see n2s models) or file of a policy.")
    ] = None,
    initial: Annotated[
        Path | None, typer.Option(help="A route to start from; the result is never worse.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="Without --initial: random (default of n2s, n2s-a) or greedy (of native)."
        ),
    ] = None,
    clip: Annotated[float | None, typer.Option(help="C of the decoders.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="Of auto, anneal and native; default: all cores.")
    ] = None,
    native: Annotated[
        str | None,
        typer.Option(help="Native policy of native+n2s, where --checkpoint is the network."),
    ] = None,
    every: Annotated[
        int | None, typer.Option(help="Steps until native+n2s asks the network again.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Write .json .csv .geojson .tour .sol .html .png .svg .pdf."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Search a short route, verify it, and write it. Ctrl-C ends with the best so far."""
    from n2s.search.interrupt import interruptible

    # From here to the last file, a signal means: stop with the best so far.
    with interruptible() as interrupt:
        from n2s.search import solve as search

        instance = pick(with_variant(formats.read_many(file), variant), index, file)
        for path in output or ():
            _check_output(path)
        route = None if initial is None else _read_initial(initial, instance)
        with watching(quiet or as_json, reference) as watcher:
            solution = search.solve(
                instance,
                method=method,
                time_limit=time_limit,
                steps=steps,
                no_improvement=no_improvement,
                target=target,
                seed=seed,
                augments=augments,
                checkpoint=checkpoint,
                initial=route,
                start=start,
                clip=clip,
                threads=threads,
                native=native,
                every=every,
                callback=watcher,
                started=None if time_limit is None else process_start(),
                interrupt=interrupt,
            )
        failure = _save(solution, output or [])
    if as_json:
        typer.echo(json.dumps(solution.as_dict()))
    else:
        typer.echo(
            f"{instance.name}: cost {solution.cost:.10g} ({_how(solution)}), "
            f"{solution.steps} steps, {solution.seconds:.1f} s, "
            f"stopped by {solution.stopped}"
        )
        if not output or failure is not None:
            typer.echo(" ".join(printable(str(stop)) for stop in solution.route))
    if failure is not None:
        raise failure
    if solution.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _how(solution: Solution) -> str:
    """Method and, where one was used, policy."""
    return ", ".join(filter(None, [solution.method, solution.checkpoint]))


def _check_output(path: Path) -> None:
    from n2s.search.result import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"a route cannot be written so, only as {', '.join(SUFFIXES)}", str(path))
    probe(path)


def _read_initial(path: Path, instance: Instance) -> list[Id]:
    """A route to start from; what is wrong with it is said with the name of its file."""
    route = formats.read_route(path, instance)
    with located(str(path)):
        evaluation = problem.evaluate(instance, route)
        if not evaluation.feasible:
            message = evaluation.violations[0].message
            raise InputError(f"the initial route is infeasible: {message}")
    return route


def _save(solution: Solution, outputs: list[Path]) -> N2SError | None:
    """Write all files that can be written; the first failure is told after them."""
    first = None
    for path in outputs:
        try:
            solution.save(path)
        except N2SError as error:
            first = first or error
    return first

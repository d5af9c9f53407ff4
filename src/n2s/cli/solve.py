"""``n2s solve``: search a route and write it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

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
from n2s.errors import InputError, located

STARTED = time.monotonic()  # a time limit counts from here: loading the libraries is part of it
INTERRUPTED = 130


def solve(
    file: InstanceFile,
    variant: VariantOption = None,
    index: IndexOption = None,
    method: Annotated[str, typer.Option(help="n2s or n2s-a.")] = "n2s-a",
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
    start: Annotated[str, typer.Option(help="random or greedy, without --initial.")] = "random",
    clip: Annotated[float | None, typer.Option(help="C of the decoders.")] = None,
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
    from n2s.search import solve as search
    from n2s.search.result import SUFFIXES

    instance = pick(with_variant(formats.read_many(file), variant), index, file)
    for path in output or ():
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"a route cannot be written so, only as {', '.join(SUFFIXES)}", str(path)
            )
        if not path.absolute().parent.is_dir():
            raise InputError("the folder does not exist", str(path))
    route = None
    if initial is not None:
        with located(str(initial)):
            route = formats.read_route(initial, instance)
            problem.evaluate(instance, route)  # names a stop that the instance does not have

    from n2s.cli.progress import watching

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
            callback=watcher,
            started=STARTED if time_limit is not None else None,
        )
    for path in output or ():
        solution.save(path)
    if as_json:
        typer.echo(json.dumps(solution.as_dict()))
    else:
        typer.echo(
            f"{instance.name}: cost {solution.cost:.10g} ({solution.method}, "
            f"{solution.checkpoint}), {solution.steps} steps, {solution.seconds:.1f} s, "
            f"stopped by {solution.stopped}"
        )
        if not output:
            typer.echo(" ".join(map(str, solution.route)))
    if solution.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)

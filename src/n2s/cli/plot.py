"""``n2s plot``: a picture or page of a given route."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from n2s import formats, problem
from n2s.cli.options import (
    IndexOption,
    InstanceFile,
    VariantOption,
    pick,
    with_variant,
)
from n2s.errors import InputError, located
from n2s.formats.registry import probe, store


def plot(
    file: InstanceFile,
    solution: Annotated[Path, typer.Argument(metavar="SOLUTION", help="A route of the instance.")],
    output: Annotated[
        list[Path], typer.Option("--output", "-o", help="Where to: .png .svg .pdf .html.")
    ],
    variant: VariantOption = None,
    index: IndexOption = None,
) -> None:
    """Draw a route."""
    from n2s.report.figure import figure_bytes, route_figure
    from n2s.report.page import route_page
    from n2s.search.result import PICTURES

    for path in output:
        if path.suffix.lower() not in (".html", *PICTURES):
            raise InputError(f"a picture is one of .html, {', '.join(PICTURES)}", str(path))
        probe(path)
    instance = pick(with_variant(formats.read_many(file), variant), index, file)
    with located(str(solution)):
        evaluation = problem.evaluate(instance, formats.read_route(solution, instance))
    for path in output:
        suffix = path.suffix.lower()
        if suffix == ".html":
            store(path, route_page(evaluation, title=instance.name).encode())
        else:
            store(path, figure_bytes(route_figure(evaluation, title=instance.name), suffix))
        typer.echo(str(path))

"""The ``n2s`` command: its parts, and how errors leave it.

Exit codes: 0 fine, 1 the route is infeasible, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import n2s
from n2s.cli import convert, evaluate, generate, validate
from n2s.errors import N2SError

BAD_INPUT = 2
INTERRUPTED = 130

app = typer.Typer(
    name="n2s",
    help="Pickup-and-delivery routing problems: PDTSP and PDTSP-LIFO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (generate.generate, convert.convert, validate.validate, evaluate.evaluate):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"n2s {n2s.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options that stand before the command."""


def run() -> None:
    """Run the command line; an error is one sentence on standard error."""
    try:
        app()
    except N2SError as error:
        sys.stderr.write(f"n2s: {error}\n")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()

"""The ``n2s`` command: its parts, and how errors leave it.

Exit codes: 0 fine, 1 the route is infeasible (and nothing else), 2 bad input, 74 standard output
could not be written, 130 interrupted, 141 standard output was closed early (``n2s ... | head``).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

import n2s
from n2s.cli import (
    bench,
    convert,
    evaluate,
    evolve,
    generate,
    import_checkpoint,
    models,
    output,
    plot,
    plot_training,
    report,
    serve,
    solve,
    train,
    validate,
)
from n2s.cli.output import OutputError
from n2s.errors import N2SError

BAD_INPUT = 2
OUTPUT_FAILED = 74  # EX_IOERR
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports of a process that SIGPIPE ended

app = typer.Typer(
    name="n2s",
    help="Pickup-and-delivery routing problems: PDTSP and PDTSP-LIFO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    generate.generate,
    convert.convert,
    validate.validate,
    evaluate.evaluate,
    solve.solve,
    plot.plot,
    models.models,
    import_checkpoint.import_checkpoint,
    train.train,
    evolve.evolve,
    plot_training.plot_training,
    bench.bench,
    report.report,
    serve.serve,
):
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
    output.guard()
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # here, where a failure can still be told
    except N2SError as error:
        _leave(str(error), BAD_INPUT)
    except MemoryError:
        _leave("there is not enough memory for this", BAD_INPUT)
    except OutputError as error:
        if error.broken_pipe:
            sys.exit(BROKEN_PIPE)
        _leave(f"the output cannot be written ({error})", OUTPUT_FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _leave(sentence: str, code: int) -> NoReturn:
    with suppress(OutputError):  # nobody is left to tell
        typer.echo(f"n2s: {sentence}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    run()

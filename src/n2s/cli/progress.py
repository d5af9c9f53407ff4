"""Progress of a search: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import typer

if TYPE_CHECKING:
    from n2s.search.tick import Tick

REFRESH = 0.25
"""Seconds between two updates of the table."""
LINES = 5.0
"""Seconds between two plain lines."""


class Watcher(Protocol):
    """What the search calls after every step."""

    def __call__(self, tick: Tick) -> None: ...


def gap(best: float, reference: float | None) -> str:
    """How far above a reference, in percent; empty without one."""
    return "" if not reference else f"{100 * (best / reference - 1):+.2f} %"


@contextmanager
def watching(quiet: bool, reference: float | None) -> Iterator[Watcher | None]:
    """A watcher for the time of a search, or None."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        yield from _live(reference)
    else:
        yield _lines(reference)


def _lines(reference: float | None) -> Watcher:
    last = 0.0

    def watch(tick: Tick) -> None:
        nonlocal last
        if tick.seconds - last >= LINES:
            last = tick.seconds
            beside = f"  {gap(tick.best, reference)}" if reference else ""
            typer.echo(
                f"step {tick.step}  {tick.seconds:.1f} s  best {tick.best:.8g}  "
                f"current {tick.current:.8g}{beside}",
                err=True,
            )

    return watch


def _live(reference: float | None) -> Iterator[Watcher]:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    def table(tick: Tick | None) -> Table:
        shown = Table()
        for column in ("step", "seconds", "best", "current", *(["gap"] if reference else [])):
            shown.add_column(column, justify="right")
        if tick is not None:
            row = [str(tick.step), f"{tick.seconds:.1f}", f"{tick.best:.8g}", f"{tick.current:.8g}"]
            shown.add_row(*row, *([gap(tick.best, reference)] if reference else []))
        return shown

    last = 0.0
    with Live(table(None), console=Console(stderr=True), auto_refresh=False) as live:

        def watch(tick: Tick) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= REFRESH:
                last = now
                live.update(table(tick), refresh=True)

        yield watch

"""A run folder as a report sees it: records, best routes, and what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n2s.bench.best_known import FILE as BEST
from n2s.bench.best_known import BestKnown
from n2s.bench.record import read_records
from n2s.bench.report import Table, markdown, tables
from n2s.errors import InputError, located
from n2s.formats.registry import store

NOTES = "notes.txt"


def tables_of(folder: Path, best_known: Path | None = None) -> list[Table]:
    """The tables of a folder."""
    if best_known is not None and not best_known.exists():
        raise InputError("there is no such file of best routes", str(best_known))
    return tables(read_records(folder), BestKnown(best_known or folder / BEST).read())


def report_of(
    folder: Path,
    references: Sequence[str] = (),
    default: Sequence[str] = (),
    best_known: Path | None = None,
) -> str:
    """The whole report of a folder as Markdown."""
    notes = folder / NOTES
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    with located(str(folder)):
        return markdown(tables_of(folder, best_known), references, default, lines)


def keep_notes(folder: Path, notes: Sequence[str]) -> None:
    """Remember which rows the tables of a folder should have and cannot have yet."""
    if notes or (folder / NOTES).exists():
        store(folder / NOTES, "".join(f"{note}\n" for note in notes).encode())

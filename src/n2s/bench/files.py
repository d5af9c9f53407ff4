"""Benchmark folders: instances of any known format beside what others say about their costs.

``NAME.sol`` beside ``NAME.pdt`` is a route, and is judged. A ``.csv`` with a column ``instance`` (the name
of the file without its suffix), or with ``base``, ``n_nodes`` and ``type`` as in the LIFO set of Carrabs
and others, holds one published cost a column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from n2s import formats
from n2s.bench.case import Case
from n2s.errors import InputError
from n2s.formats.registry import FORMATS
from n2s.problem import Variant, evaluate

SOL = ".sol"
TABLE = ".csv"
INSTANCES = {suffix for known in FORMATS for suffix in known.suffixes}
CARRABS = ("base", "n_nodes", "type")


def folders_of(root: Path) -> list[tuple[str, list[Path]]]:
    """Every folder at or below ``root`` that holds instances, with their files.

    Raises
    ------
    InputError
        If there is none.
    """
    if not root.is_dir():
        raise InputError("there is no such folder", str(root))
    found = []
    for folder in [root, *sorted(path for path in root.rglob("*") if path.is_dir())]:
        files = _instance_files(folder)
        if files:
            title = folder.relative_to(root).as_posix()
            found.append((root.resolve().name if title == "." else title, files))
    if not found:
        raise InputError("there is no instance in this folder", str(root))
    return found


def read_cases(files: list[Path], variant: Variant | None, count: int | None) -> list[Case]:
    """The first ``count`` instances of a folder, with what is known of each."""
    cases: list[Case] = []
    known = {folder: _published(folder) for folder in {path.parent for path in files}}
    for path in files:
        if count is not None and len(cases) >= count:
            break
        instances = formats.read_many(path)
        for index, instance in enumerate(instances):
            ruled = instance if variant is None else replace(instance, variant=variant)
            name = path.stem if len(instances) == 1 else f"{path.stem}[{index}]"
            case = Case(name, ruled)
            # What is known for another loading rule is no reference here.
            if ruled.variant is instance.variant:
                case = replace(case, published=known[path.parent].get(name, {}))
                if len(instances) == 1:
                    case = _with_route(case, path.with_suffix(SOL))
            cases.append(case)
    return cases[:count]


def _instance_files(folder: Path) -> list[Path]:
    """Files with the suffix of an instance, without tables and without what others draw on."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in INSTANCES)
    pairs = any(path.suffix.lower() == ".mtc" for path in files)
    return [
        path
        for path in files
        if path.is_file()
        and not path.name.lower().startswith("readme")
        and not (pairs and path.suffix.lower() == ".tsp")  # the coordinates of the .mtc
        and not (path.suffix.lower() == TABLE and _table(path) is not None)
    ]


def _with_route(case: Case, path: Path) -> Case:
    """The case with the route beside it, if there is one."""
    if not path.exists():
        return case
    verdict = evaluate(case.instance, formats.read_route(path, case.instance))
    if not verdict.feasible:
        raise InputError(f"the route is infeasible: {verdict.violations[0].message}", str(path))
    return replace(case, published={**case.published, "sol": verdict.cost}, route=verdict.nodes)


def _published(folder: Path) -> dict[str, Mapping[str, float]]:
    """Costs by the name of an instance and who stated them, from all tables of a folder."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(folder.glob(f"*{TABLE}")):
        for row in _table(path) or ():
            name = row.pop("instance", "")
            if not name and row.keys() >= set(CARRABS):
                name = "{base}.{n_nodes}.type{type}".format_map(row)
            found.setdefault(name, {}).update(_numbers(row))
    return {name: costs for name, costs in found.items() if costs}


def _table(path: Path) -> list[dict[str, str]] | None:
    """The rows of a table of published costs; None if the file is something else."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.DictReader(io.StringIO(text), restval="")
        columns = set(reader.fieldnames or ())
        if "instance" not in columns and not columns >= set(CARRABS):
            return None
        rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    return [{key: value for key, value in row.items() if isinstance(key, str)} for row in rows]


def _numbers(row: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for name, text in row.items():
        if name in CARRABS:
            continue
        try:
            yield name, float(text)
        except ValueError:
            continue  # a remark, or nothing known

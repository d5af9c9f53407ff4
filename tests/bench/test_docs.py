"""The page of benchmarks: made between its marks, and nowhere else."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKER = runpy.run_path(str(ROOT / "benchmarks" / "make_tables.py"))


def test_only_what_lies_between_the_marks_is_replaced() -> None:
    old = (ROOT / "docs" / "benchmarks.md").read_text()
    new = MAKER["page"](old, "one table\n")
    again = MAKER["page"](new, "one table\n")
    assert new == again
    assert new.count("one table") == 1
    before, _, rest = old.partition(MAKER["BEGIN"])
    assert new.startswith(before)
    assert new.endswith(rest.partition(MAKER["END"])[2])
    with pytest.raises(SystemExit, match="lost the marks"):
        MAKER["page"]("no marks here", "one table\n")


def test_a_section_without_runs_stays() -> None:
    first, second, third, *_ = MAKER["SECTIONS"]
    one = f"## {first.title}\n\nwhy\n\n### uniform: x\n\na table\n"
    two = f"## {second.title}\n\nanother table\n"
    marks = f"# Page\n\n{MAKER['BEGIN']}\n{MAKER['END']}\n\n## {third.title}\n"
    page = MAKER["page"](marks, f"{one}\n{two}")
    assert [MAKER["kept"](page, section) for section in (first, second, third)] == [one, two, ""]


def test_every_section_is_a_bench_that_goes_on(tmp_path: Path) -> None:
    for section in MAKER["SECTIONS"]:
        for tiny in (False, True):
            command = MAKER["bench"](section, tiny, tmp_path)
            assert command[1:2] + command[-2:] == ["bench", "--out", str(tmp_path)]

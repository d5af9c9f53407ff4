"""``n2s bench`` and ``n2s report`` in real processes, with real peers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from cli.test_cli import N2S, run
from n2s.bench.record import FILE, read_records

TINY = ("bench", "uniform", "--nodes", 7, "--seed", 3)


def test_a_bench_prints_a_table_and_a_report_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    methods = ["--methods", "anneal:2000,lkh:50", "--methods", "vroom,ortools"]
    options = ["--variant", "lifo", "--count", 1, "--seconds", 4, "--out", folder]
    printed = run(*TINY, *methods, *options, "-q")
    # Three requests: everybody who can do it finds the optimum.
    for row in ("anneal | 2,000 steps", "lkh | 50 steps", "ortools | 4 s"):
        assert f"| {row} | 1 of 1 | " in printed
    assert printed.count("| 0.00 % | 0.00 % | 1 |") == 3
    assert "| vroom | 4 s | – |" in printed
    assert "vroom cannot do lifo: it knows no order on board" in printed
    assert "gap to lkh:50" in printed
    assert f"--out {folder}" in printed  # the command that made it
    assert run("report", folder, "--plot", "-o", tmp_path / "table.md") == printed
    assert (tmp_path / "table.md").read_text() == printed
    for figure in ("gap-over-time.png", "profile.png"):
        assert (folder / figure).read_bytes().startswith(b"\x89PNG")
    assert "gap to ortools:4s" in run("report", folder, "--reference", "ortools")


def best_costs(folder: Path) -> dict[str, float]:
    entries = json.loads((folder / "best.json").read_text())
    return {key: entry["cost"] for key, entry in entries.items()}


def outcomes(folder: Path) -> dict[tuple[str, str, int], float | None]:
    return {(r.instance, r.method, r.seed): r.cost for r in read_records(folder)}


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs signals")
def test_a_killed_bench_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    options = [*TINY, "--count", 2, "--steps", 30, "--methods", "lkh,pyvrp"]
    quiet = run(*options, "--out", tmp_path / "whole", "-q")
    folder = tmp_path / "killed"
    process = subprocess.Popen(
        [str(part) for part in (N2S, *options, "--out", folder)], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("2/"):
            break
    process.kill()
    process.communicate(timeout=30)
    log = folder / FILE
    before = log.read_text()
    made = before.count("\n")
    assert 2 <= made < 4
    log.write_text(before + before.splitlines()[0][:100])  # and it was just writing
    resumed = run(*options, "--out", folder, "-q")
    assert log.read_text().startswith(before)
    assert len(log.read_text().splitlines()) == 4
    assert outcomes(folder) == outcomes(tmp_path / "whole")

    def costs(text: str) -> list[str]:
        return [line.split("|")[4] for line in text.splitlines() if line.startswith("| ")]

    assert costs(resumed) == costs(quiet)
    assert best_costs(folder) == best_costs(tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_bench_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    options = [*TINY, "--count", 2, "--seconds", 60, "--methods", "vroom:1s,lkh"]
    command = [str(part) for part in (N2S, *options, "--out", tmp_path / "run")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("1/"):
            break
    process.send_signal(number)
    printed, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "the same command goes on" in errors
    assert printed == ""
    assert len(read_records(tmp_path / "run")) == 1


def test_bad_wishes_are_one_sentence(tmp_path: Path) -> None:
    assert "the suite is 'all', not one of uniform, files" in run("bench", "all", code=2)
    assert "say which folder" in run("bench", "files", code=2)
    message = run(*TINY, "--methods", "cplex", code=2)
    assert "there is no method 'cplex', only auto" in message
    assert "takes numbers as 1,2,3 or 1-10" in run(*TINY, "--seeds", "one", code=2)
    assert "cannot be read" in run("report", tmp_path, code=2)
    elsewhere = ("--best-known", tmp_path / "nowhere.json")
    assert "there is no such file of best routes" in run("report", tmp_path, *elsewhere, code=2)

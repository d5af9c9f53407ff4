"""``n2s solve``, ``plot`` and ``models`` in real processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import n2s
from cli.test_cli import EXAMPLES, N2S, run
from n2s.problem import Variant, generate
from n2s.search.result import Solution

CITY = EXAMPLES / "city.csv"


def test_solve_writes_every_format_and_the_same_route_again(tmp_path: Path) -> None:
    suffixes = ["json", "csv", "geojson", "tour", "sol", "html", "png"]
    outputs = [tmp_path / f"route.{suffix}" for suffix in suffixes]
    wanted = [part for path in outputs for part in ("-o", path)]
    printed = run("solve", CITY, "--variant", "lifo", "--steps", 60, "--seed", 3, *wanted, "--json")
    solution = json.loads(printed)
    assert solution["feasible"] is True
    assert solution["record"]["steps"] == 60
    assert solution["record"]["method"] == "native"
    for path in outputs:
        assert path.stat().st_size > 0
        if path.suffix in (".json", ".csv", ".tour", ".sol"):
            verdict = json.loads(run("evaluate", CITY, path, "--variant", "lifo", "--json"))
            assert verdict["cost"] == pytest.approx(solution["cost"])
    again = json.loads(
        run("solve", CITY, "--variant", "lifo", "--steps", 60, "--seed", 3, "--json")
    )
    assert again["route"] == solution["route"]
    instance = n2s.read(CITY)
    lifo = Solution.from_json(
        outputs[0],
        n2s.Instance(
            **{
                name: getattr(instance, name)
                for name in ("coordinates", "metric", "ids", "requests")
            },
            variant=Variant.LIFO,
        ),
    )
    assert lifo.cost == pytest.approx(solution["cost"])
    assert [list(point) for point in lifo.history] == solution["record"]["history"]


def test_a_native_search_in_one_thread_is_the_one_of_the_library() -> None:
    printed = json.loads(run("solve", CITY, "--steps", 2000, "--threads", 1, "--json"))
    found = n2s.solve(n2s.read(CITY), steps=2000, threads=1)
    assert printed["feasible"] is True
    assert printed["route"] == found.route
    assert printed["cost"] == pytest.approx(found.cost)
    record = printed["record"]
    assert (record["method"], record["checkpoint"]) == ("anneal", "")
    assert (record["steps"], record["stopped"]) == (2000, "steps")
    assert [[step, best] for step, _, best in record["history"]] == [
        [point.step, point.best] for point in found.history
    ]


def test_policies_search_where_they_are_named() -> None:
    options = ["--method", "n2s", "--checkpoint", "random", "--start", "greedy", "--steps", 20]
    record = json.loads(run("solve", CITY, *options, "--json"))["record"]
    assert (record["method"], record["steps"]) == ("n2s", 20)
    assert record["checkpoint"] == "random"
    assert "(n2s, random), 20 steps" in run("solve", CITY, *options)
    assert "(anneal), 20 steps" in run("solve", CITY, "--steps", 20)


def test_the_command_does_not_load_torch_for_a_native_search() -> None:
    code = (
        "import sys; from n2s.cli.main import app; "
        f"app(['solve', {str(CITY)!r}, '--steps', '20', '-q'], standalone_mode=False); "
        "print('numba' in sys.modules, 'torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert result.stdout.splitlines()[-1] == "True False"


def test_a_warm_start_from_a_file(tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    run("solve", CITY, "--steps", 40, "-o", first, "-q")
    before = json.loads(first.read_text())["cost"]
    after = json.loads(run("solve", CITY, "--steps", 20, "--initial", first, "--json"))["cost"]
    assert after <= before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_search_writes_its_best_and_exits_with_130(
    tmp_path: Path, number: int
) -> None:
    out = tmp_path / "route.json"
    process = subprocess.Popen(
        [N2S, "solve", CITY, "--time-limit", "120", "-o", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The first line of progress comes when the search runs.
    assert process.stderr is not None
    assert process.stderr.readline().startswith("step ")
    process.send_signal(number)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "stopped by interrupted" in printed
    assert json.loads(out.read_text())["feasible"] is True


def test_signals_again_and_again_still_give_the_best_so_far(tmp_path: Path) -> None:
    out = tmp_path / "route.json"
    process = subprocess.Popen(
        [N2S, "solve", CITY, "--time-limit", "120", "-o", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("step ")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert json.loads(out.read_text())["feasible"] is True


def test_a_signal_while_the_libraries_load_gives_a_first_route(tmp_path: Path) -> None:
    out = tmp_path / "route.json"
    process = subprocess.Popen(
        [N2S, "solve", CITY, "--method", "n2s", "--time-limit", "120", "-q", "-o", out]
    )
    # Loading torch takes longer than this, reading the command less.
    time.sleep(1.2)
    process.send_signal(signal.SIGTERM)
    code = process.wait(timeout=90)
    # The interpreter's own first moments cannot be guarded; from then on there is a route.
    assert code in (130, -signal.SIGTERM)
    assert out.exists() == (code == 130)


def test_an_output_that_fails_late_does_not_lose_the_route(tmp_path: Path) -> None:
    """A map of a bare matrix cannot be written, which only its writer knows."""
    import numpy as np

    matrix, good, bad = tmp_path / "m.json", tmp_path / "r.json", tmp_path / "r.geojson"
    n2s.write(n2s.Instance(matrix=np.random.default_rng(0).random((5, 5))), matrix)
    result = subprocess.run(
        [N2S, "solve", matrix, "--steps", "5", "-q", "-o", bad, "-o", good],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 2
    assert "r.geojson" in result.stderr
    assert good.exists()
    assert "cost " in result.stdout
    assert len(result.stdout.splitlines()) == 2  # the summary and the route


def test_progress_goes_to_standard_error_only() -> None:
    result = subprocess.run(
        [N2S, "solve", CITY, "--steps", "20", "-q"], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0
    assert result.stderr == ""
    assert "cost " in result.stdout


def test_a_time_limit_counts_the_start_of_the_command() -> None:
    run("solve", CITY, "--steps", 1)  # compiles
    begun = time.monotonic()
    printed = run("solve", CITY, "--time-limit", 6, "--json")
    taken = time.monotonic() - begun
    assert json.loads(printed)["record"]["stopped"] == "time"
    assert taken < 6 + 1 + 2  # a second and one step, and the interpreter's own start and end


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "n2s", "--checkpoint", "nobody"], "there is no checkpoint 'nobody'"),
        (
            ["--checkpoint", "random"],
            "checkpoint belongs to the methods n2s, n2s-a, native and native+n2s, not to auto",
        ),
        (["--augments", "3"], "augments belongs to the methods n2s and n2s-a, not to auto"),
        (
            ["--start", "greedy"],
            "start belongs to the methods n2s, n2s-a, native and native+n2s, not to auto",
        ),
        (["--native", "x.json"], "native belongs to the method native+n2s, not to auto"),
        (["--every", "9"], "every belongs to the method native+n2s, not to auto"),
        (["--clip", "6"], "clip belongs to the methods n2s and n2s-a, not to auto"),
        (
            ["--method", "n2s-a", "--threads", "2"],
            "threads belongs to the methods auto, anneal, native and native+n2s",
        ),
        (["--threads", "0"], "number of threads must be at least 1, not 0"),
        (["--method", "magic"], "the method is 'magic'"),
        (["--steps", "-1"], "must not be negative"),
        (["-o", "route.docx"], "route.docx: a route cannot be written so"),
        (["-o", "nowhere/route.json"], "nowhere/route.json: cannot be written"),
        (["-o", "/proc/route.json"], "/proc/route.json: cannot be written"),
        (["-o", "/dev/full.json", "-o", "/"], "cannot be written"),
        (["--index", "3"], "there is no instance 3 among 1"),
    ],
)
def test_impossible_wishes_are_told_before_any_search(arguments: list[str], sentence: str) -> None:
    begun = time.monotonic()
    assert sentence in run("solve", CITY, "--time-limit", 60, *arguments, code=2)
    assert time.monotonic() - begun < 30


def test_a_route_of_another_instance_is_refused(tmp_path: Path) -> None:
    other, route = tmp_path / "other.json", tmp_path / "route.json"
    n2s.write(generate(2, seed=1), other)
    route.write_text("[1, 3, 2, 4]")
    assert "route.json" in run("solve", CITY, "--initial", route, "--steps", 1, code=2)


def test_plot_draws_a_route(tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    run("solve", CITY, "--steps", 5, "-o", route, "-q")
    picture, page = tmp_path / "x.png", tmp_path / "x.html"
    run("plot", CITY, route, "-o", picture, "-o", page)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "<html" in page.read_text()
    assert "a picture is one of" in run("plot", CITY, route, "-o", tmp_path / "x.gif", code=2)


def test_models_lists_what_can_be_named() -> None:
    rows = json.loads(run("models", "--json"))
    assert {"epsilon-greedy", "random"} <= {row["name"] for row in rows}
    assert "epsilon-greedy" in run("models")

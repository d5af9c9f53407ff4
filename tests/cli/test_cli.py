"""The real command in a real process: output, exit codes, files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import n2s

N2S = Path(sys.executable).parent / "n2s"
EXAMPLES = Path(__file__).parents[2] / "examples"

# Depot and two requests on a line: 0 -1- p1 -1- p2 -1- d1 -1- d2, cost there and back 8.
LINE = """id,kind,request,x,y,load
0,depot,,0,0,
p1,pickup,first,1,0,2
p2,pickup,second,2,0,1
d1,delivery,first,3,0,2
d2,delivery,second,4,0,1
"""


def run(*arguments: object, code: int = 0) -> str:
    """Run ``n2s``, expect an exit code, return what it printed."""
    result = subprocess.run(
        [str(N2S), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout if code != 2 else result.stderr


@pytest.fixture
def line(tmp_path: Path) -> Path:
    path = tmp_path / "line.csv"
    path.write_text(LINE)
    return path


def test_generate_writes_the_documented_instances(tmp_path: Path) -> None:
    out = tmp_path / "set.npz"
    printed = run(
        "generate", "--requests", 50, "--count", 3, "--seed", 7, "--variant", "lifo", "--json", out
    )
    summary = json.loads(printed)
    assert summary == {"file": str(out), "count": 3, "nodes": 101, "variant": "lifo"}
    instances = n2s.read_many(out)
    expected = np.random.default_rng(7).random((3, 101, 2))
    assert all((i.coordinates == e).all() for i, e in zip(instances, expected, strict=True))
    assert instances[0].variant is n2s.Variant.LIFO


def test_generate_says_which_formats_hold_many(tmp_path: Path) -> None:
    out = tmp_path / "set.pdtsp"
    message = run("generate", "--requests", 2, "--count", 3, out, code=2)
    assert "one instance, not 3" in message
    assert not out.exists()


def test_validate_tells_what_is_in_a_file(line: Path) -> None:
    report = json.loads(run("validate", line, "--json"))
    assert report["valid"] is True
    assert (report["nodes"], report["requests"], report["variant"]) == (5, 2, "pdtsp")
    assert report["distances"] == "euclidean"
    assert report["total load"] == 3.0
    assert "valid" in run("validate", line, EXAMPLES / "city.csv")


def test_evaluate_prints_cost_and_stops(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    route.write_text('["p1", "p2", "d1", "d2"]')
    verdict = json.loads(run("evaluate", line, route, "--json"))
    assert verdict["feasible"] is True
    assert verdict["cost"] == 8
    assert verdict["route"] == ["0", "p1", "p2", "d1", "d2", "0"]
    assert [stop["load"] for stop in verdict["stops"]] == [0, 2, 3, 1, 0, 0]
    table = run("evaluate", line, route)
    assert "feasible, cost 8" in table


def test_an_infeasible_route_exits_with_1_and_names_the_request(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    route.write_text('["p1", "p2", "d1", "d2"]')
    printed = run("evaluate", line, route, "--variant", "lifo", "--json", code=1)
    violations = json.loads(printed)["violations"]
    assert [(v["rule"], v["request"], v["positions"]) for v in violations] == [
        ("lifo", "first", [1, 2, 3])
    ]
    assert "infeasible" in run("evaluate", line, route, "--variant", "lifo", code=1)


def test_evaluate_writes_the_route_in_every_format(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.csv"
    route.write_text("id\np1\nd1\np2\nd2\n")
    outputs = [tmp_path / f"out.{suffix}" for suffix in ("json", "csv", "geojson", "tour", "sol")]
    run("evaluate", line, route, *(part for out in outputs for part in ("-o", out)))
    for out in outputs:
        assert out.exists()
        if out.suffix != ".geojson":
            # 0 -> 1 -> 3 -> 2 -> 4 -> 0: 1 + 2 + 1 + 2 + 4
            assert json.loads(run("evaluate", line, out, "--json"))["cost"] == 10


def test_convert_keeps_the_instance(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "line.json"
    run("convert", line, out, "--variant", "lifo")
    before, after = n2s.read(line), n2s.read(out)
    assert after.variant is n2s.Variant.LIFO
    assert after.ids == before.ids
    assert after.requests == before.requests
    assert (after.costs == before.costs).all()


def test_convert_takes_one_of_a_set(tmp_path: Path) -> None:
    many, one = tmp_path / "set.npz", tmp_path / "one.json"
    n2s.write(n2s.generate(3, count=4, seed=1), many)
    run("convert", many, one, "--index", 2)
    assert (n2s.read(one).costs == n2s.read_many(many)[2].costs).all()
    assert "no instance 4 among 4" in run("convert", many, one, "--index", 4, code=2)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.csv", "", "the file is empty"),
        ("odd.unknown", "hello", "none of the known formats"),
        ("a.json", '{"requests": [', "a.json:1"),
        ("a.csv", LINE.replace("d2,delivery,second,4,0,1\n", ""), "second"),
        ("a.csv", LINE.replace("3,0,2", "nan,0,2"), "a.csv"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    message = run("validate", path, code=2)
    assert message.startswith("n2s: ")
    assert len(message.strip().splitlines()) == 1
    assert name in message
    assert sentence in message


def test_a_missing_file_and_an_unwritable_one(line: Path, tmp_path: Path) -> None:
    assert "cannot be read (No such file" in run("validate", tmp_path / "none.csv", code=2)
    assert "cannot be written" in run("convert", line, tmp_path / "no" / "x.json", code=2)


def test_a_failed_conversion_leaves_the_old_file_alone(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("precious")
    bad = tmp_path / "bad.csv"
    bad.write_text(LINE.replace("first", "second"))
    run("convert", bad, out, code=2)
    assert out.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "line.csv", "out.json"]


def test_a_stop_of_another_instance_is_bad_input(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    route.write_text('["p1", "x9"]')
    message = run("evaluate", line, route, code=2)
    assert "'x9'" in message
    assert "route.json" in message


def test_one_bad_file_does_not_hide_the_others(line: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("id\n")
    result = subprocess.run(
        [N2S, "validate", line, bad, EXAMPLES / "city.csv", "--json"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert [report["valid"] for report in json.loads(result.stdout)] == [True, False, True]
    assert "bad.csv" in result.stderr


def test_a_set_of_instances_asks_which(tmp_path: Path) -> None:
    many, route = tmp_path / "set.npz", tmp_path / "route.json"
    n2s.write(n2s.generate(1, count=2, seed=1), many)
    route.write_text("[1, 2]")
    assert "holds 2 instances: say --index" in run("evaluate", many, route, code=2)
    cost = json.loads(run("evaluate", many, route, "--index", 1, "--json"))["cost"]
    assert cost == pytest.approx(n2s.evaluate(n2s.read_many(many)[1], [1, 2]).cost)


def test_convert_does_not_replace_its_own_input(line: Path) -> None:
    assert "would replace the file" in run("convert", line, line, code=2)
    assert line.read_text() == LINE


def test_the_suffix_of_lkh_files_says_the_loading_rule(line: Path, tmp_path: Path) -> None:
    out = tmp_path / "line.pdtspl"
    assert "a .pdtspl file holds lifo" in run("convert", line, out, code=2)
    run("convert", line, out, "--variant", "lifo")
    assert "PDTSPL" in out.read_text()


def test_weights_of_the_released_code_become_a_checkpoint(tmp_path: Path) -> None:
    import torch

    from model.test_released import layout
    from n2s.model import load

    source, out = tmp_path / "epoch-195.pt", tmp_path / "policy.safetensors"
    torch.save(layout(), source)
    options = ["--variant", "lifo", "--nodes", "51"]
    report = json.loads(run("import-checkpoint", source, out, *options, "--json"))
    checkpoint = load(out)
    assert report["sha256"] == checkpoint.sha256
    assert report["parameters"] == 757382
    assert (checkpoint.variant.value, checkpoint.sizes) == ("lifo", (51,))
    source.write_bytes(b"junk")
    assert "no checkpoint of weights only" in run(
        "import-checkpoint", source, out, *options, code=2
    )


def test_help_names_every_command() -> None:
    printed = run("--help")
    for command in ("generate", "convert", "validate", "evaluate", "import-checkpoint"):
        assert command in printed
    assert run("--version").strip() == f"n2s {n2s.__version__}"


def piped(command: str, *arguments: object) -> tuple[int, str]:
    """Run a shell pipeline; the exit code of its first command and what was told."""
    script = f"set -o pipefail; {command}"
    words = ["bash", "-c", script, str(N2S), *map(str, arguments)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stderr


def test_a_reader_that_leaves_early_is_no_verdict(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    route.write_text('["p1", "p2", "d1", "d2"]')
    assert piped('"$0" validate "$1" | true', line) == (141, "")
    assert piped('"$0" evaluate "$1" "$2" | true', line, route) == (141, "")
    assert piped('"$0" evaluate "$1" "$2" --variant lifo | true', line, route) == (141, "")
    assert piped('"$0" validate "$1" 2>&1 | true', tmp_path / "none.csv")[0] == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.json"
    route.write_text('["p1", "p2", "d1", "d2"]')
    told = (74, "n2s: the output cannot be written (No space left on device)\n")
    assert piped('"$0" validate "$1" >/dev/full', line) == told
    assert piped('"$0" evaluate "$1" "$2" >/dev/full', line, route) == told
    assert piped('"$0" evaluate "$1" "$2" --json --variant lifo >/dev/full', line, route) == told
    assert piped('"$0" validate "$1" >&-', line) == (0, "")


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path, route = tmp_path / "a.json", tmp_path / "route.json"
    ids = ("a", "\x1b[2J", "\x07")
    instance = n2s.Instance(coordinates=np.zeros((3, 2)), ids=ids, name="\x1b[31mred\nline")
    n2s.write(instance, path)
    route.write_text(json.dumps(ids[1:]))
    printed = run("validate", path) + run("evaluate", path, route)
    assert "\\x1b[2J" in printed
    assert all(text.isprintable() for text in printed.splitlines())


def test_an_absurd_size_is_one_sentence(tmp_path: Path) -> None:
    message = run("generate", "--requests", 10**9, tmp_path / "a.npz", code=2)
    assert "coordinates" in message


def test_too_little_memory_is_one_sentence(tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    limited = 'ulimit -v 4000000; "$0" generate --requests 200000000 "$1"'
    assert piped(limited, out) == (2, "n2s: there is not enough memory for this\n")


def test_validate_tells_of_every_instance_in_a_set(tmp_path: Path) -> None:
    many = tmp_path / "set.json"
    first = n2s.generate(1, seed=1)[0]
    second = n2s.Instance(
        matrix=np.ones((5, 5)), variant=n2s.Variant.LIFO, open_end=True, capacity=9
    )
    n2s.write([first, second], many)
    report = json.loads(run("validate", many, "--json"))
    assert report["variant"] == "pdtsp, lifo"
    assert report["distances"] == "euclidean, asymmetric matrix"
    assert report["end"] == "0, at any stop"
    assert report["nodes"] == "3..5"
    assert report["capacity"] == "9.0 (1 of 2 instances)"


def test_a_route_error_names_file_and_line(line: Path, tmp_path: Path) -> None:
    route = tmp_path / "route.csv"
    route.write_text("id\np1\nx9\n")
    assert "route.csv:3: stop 'x9'" in run("evaluate", line, route, code=2)

"""``n2s train`` and ``n2s plot-training`` in real processes: signals, kills, errors, files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.test_cli import run
from n2s.train.metrics import read_metrics
from train.runs import TINY, assert_same_state, finished_run, preset, state_of, timeless

# Sixty updates, a line and a checkpoint for every one of them.
LONG = (
    TINY.replace("epochs = 2", "epochs = 15")
    .replace("log_every = 3", "log_every = 1\ncheckpoint_minutes = 0")
    .replace("count = 2", "count = 2\nevery = 5")
)
UPDATES = 60


def start(*arguments: object, command: str = "train") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "n2s.cli.main", command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    """Read what a process tells until a line begins so."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(beginning):
            return
    raise AssertionError(f"it never said {beginning!r}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A process that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    process = start(preset(folder, LONG), "--out", folder / "run")
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert printed == ""  # what it tells goes to standard error
    assert "validation after epoch 15: N = 5: " in errors
    assert errors.splitlines()[-1] == f"all epochs are done: {folder / 'run/policy.safetensors'}"
    return folder / "run"


def test_a_killed_process_goes_on_as_if_it_had_not_been(whole: Path, tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    process = start(preset(tmp_path, LONG), "--out", run_folder)
    wait_for(process, "epoch 2 update 7:")
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    _, rest = state_of(run_folder)
    # At most the update in progress is lost, with a checkpoint after every one.
    assert 6 <= rest["position"]["update"] < UPDATES
    process = start("--resume", run_folder, "-q")
    printed, errors = process.communicate(timeout=300)
    assert (process.returncode, printed, errors) == (0, "", "")
    assert_same_state(run_folder, whole)
    assert timeless(run_folder) == timeless(whole)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_a_signal_saves_the_run_and_exits_with_130(number: signal.Signals, tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    text = LONG.replace("checkpoint_minutes = 0", "checkpoint_minutes = 60")
    process = start(preset(tmp_path, text), "--out", run_folder)
    wait_for(process, "epoch 1 update 3:")
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (
        f"stopped by interrupted: n2s train --resume {run_folder} goes on"
    )
    assert "Traceback" not in errors
    _, rest = state_of(run_folder)
    update = rest["position"]["update"]
    assert 3 <= update < UPDATES
    assert [line["update"] for line in read_metrics(run_folder)][-1] == update


def test_an_exploded_run_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    run_folder = tmp_path / "run"
    message = run(
        *("train", preset(tmp_path), "--out", run_folder, "-q", "--set", "ppo.most_kl=1e-12"),
        code=2,
    )
    assert len(message.splitlines()) == 1
    assert message.startswith("n2s: after 0 updates, in epoch 1: the KL is ")
    assert message.rstrip().endswith(f"the last good checkpoint is kept in {run_folder}")
    _, rest = state_of(run_folder)
    assert rest["position"]["update"] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give a preset to begin a run, or a run to resume, one of the two"),
        (["PRESET", "--out", "RUN", "--set", "ppo.epoch=3"], "there is no key 'ppo.epoch' ("),
        (["PRESET", "--out", "RUN", "--set", "epochs"], "a change is written section.key=value"),
        (["missing.toml", "--out", "RUN"], "missing.toml: cannot be read (No such file"),
        (["--resume", "RUN"], "RUN: there is no run to resume: the folder holds no "),
        (["--resume", "RUN", "--set", "ppo.epochs=3"], "a resumed run goes on as it was: no "),
        (["PRESET", "--out", "RUN", "--minutes", "0"], "the minutes must be positive, not 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_wishes_are_one_sentence_each(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    places = {"PRESET": str(preset(tmp_path)), "RUN": str(tmp_path / "RUN")}
    message = run("train", *[places.get(argument, argument) for argument in arguments], code=2)
    assert len(message.splitlines()) == 1
    assert sentence.replace("RUN", places["RUN"]) in message
    assert message.startswith("n2s: ")


def test_curves_of_a_run(tmp_path: Path) -> None:
    folder = finished_run(tmp_path, "run.log_every=1")
    assert run("plot-training", folder).strip() == str(folder / "curves.png")
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    other = tmp_path / "other.svg"
    run("plot-training", folder, "-o", other)
    assert "validation gap in %" in other.read_text()
    message = run("plot-training", folder, "-o", tmp_path / "curves.gif", code=2)
    assert "curves.gif: a picture is one of " in message


def test_drawing_needs_neither_torch_nor_numba(tmp_path: Path) -> None:
    line = {"kind": "validation", "update": 0, "transitions": 0, "gap_5": 0.5}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    code = (
        "import sys; from n2s.cli.plot_training import plot_training; from pathlib import Path; "
        f"plot_training(Path({str(tmp_path)!r}), None); print({{'torch', 'numba'}} & {{*sys.modules}})"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == [str(tmp_path / "curves.png"), "set()"]


def test_curves_of_nothing(tmp_path: Path) -> None:
    message = run("plot-training", tmp_path, code=2)
    path = tmp_path / "metrics.jsonl"
    assert message == f"n2s: {path}: cannot be read (No such file or directory)\n"
    path.write_text("")
    assert (
        run("plot-training", tmp_path, code=2) == f"n2s: {tmp_path}: the run has no metrics yet\n"
    )
    path.write_text(json.dumps({"kind": "train", "update": 1}) + "\n")
    assert f"{path}:1: is no line of metrics" in run("plot-training", tmp_path, code=2)
    assert {file.name for file in tmp_path.iterdir()} == {"metrics.jsonl"}

"""``n2s evolve`` and what is made of its run in real processes: kills, signals, errors, curves."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from cli.test_cli import LINE, run
from cli.test_train import start as start_command
from cli.test_train import wait_for
from evolve.runs import TINY, assert_same_run, preset, state_of
from n2s.native import load
from n2s.native.policy import save, untrained
from n2s.problem import Variant
from n2s.train.metrics import read_metrics

# Forty generations with a look and a checkpoint after every one.
LONG = (
    TINY.replace("generations = 6", "generations = 40\nkind = 'sep-cma'")
    .replace("every = 2", "every = 1")
    .replace("threads = 1", "threads = 1\ncheckpoint_minutes = 1e-9")
)
GENERATIONS = 40


def start(*arguments: object) -> subprocess.Popen[str]:
    return start_command(*arguments, command="evolve")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A process that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    process = start(preset(folder, LONG), "--out", folder / "run")
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert printed == ""  # what it tells goes to standard error
    lines = errors.splitlines()
    assert lines[0] == "finding reference costs of the validation set"
    assert lines[1].startswith("generation 0, 0.0 min: N = 5, 15 steps: +")
    assert lines[-2].startswith("generation 40, ")
    assert lines[-1] == f"all generations are done: {folder / 'run/policy.json'}"
    return folder / "run"


def test_a_killed_process_goes_on_as_if_it_had_not_been(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    process = start(preset(tmp_path, LONG), "--out", folder)
    wait_for(process, "generation 7,")
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    # At most the generation in progress is lost, with a checkpoint after every one.
    assert 6 <= state_of(folder)["generation"] < GENERATIONS
    process = start("--resume", folder, "-q")
    printed, errors = process.communicate(timeout=300)
    assert (process.returncode, printed, errors) == (0, "", "")
    assert_same_run(folder, whole)


def test_a_signal_saves_the_run_and_exits_with_130(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    text = LONG.replace("checkpoint_minutes = 1e-9", "checkpoint_minutes = 60")
    process = start(preset(tmp_path, text), "--out", folder)
    wait_for(process, "generation 3,")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (
        f"stopped by interrupted: n2s evolve --resume {folder} goes on"
    )
    assert "Traceback" not in errors
    generation = state_of(folder)["generation"]
    assert 3 <= generation < GENERATIONS
    assert read_metrics(folder)[-1]["update"] == generation


def test_a_run_from_a_policy_is_drawn_and_solves(tmp_path: Path) -> None:
    save(untrained(Variant.LIFO), tmp_path / "first.json")
    folder = tmp_path / "run"
    run(
        *("evolve", preset(tmp_path), "--out", folder, "--from", tmp_path / "first.json", "-q"),
        *("--set", "strategy.generations=2", "--set", "strategy.kind=gradient"),
    )
    policy = load(folder / "policy.json")
    assert policy.record["generations"] == 2
    assert policy.theta.any()
    assert run("plot-training", folder, "-o", tmp_path / "c.svg").strip() == str(tmp_path / "c.svg")
    drawn = (tmp_path / "c.svg").read_text()
    for text in ("N = 5, 15 steps", "N = 9, 30 steps", "spread of the candidates"):
        assert f"<!-- {text} -->" in drawn
    assert "value loss" not in drawn
    (tmp_path / "line.csv").write_text(LINE)
    printed = run(
        *("solve", tmp_path / "line.csv", "--variant", "lifo", "--method", "native", "--json"),
        *("--checkpoint", folder / "policy.json", "--steps", 50),
    )
    record = json.loads(printed)["record"]
    assert (record["method"], record["steps"]) == ("native", 50)
    assert record["checkpoint"] == f"native {policy.sha256[:12]}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give a preset to begin a run, or a run to resume, one of the two"),
        (["PRESET", "--out", "RUN", "--set", "tasks.size=3"], "there is no key 'tasks.size' ("),
        (["PRESET", "--out", "RUN", "--set", "task.size=3"], "there is no section 'task' ("),
        (["PRESET", "--out", "RUN", "--from", "OTHER"], "the policy to begin with is for pdtsp, "),
        (["PRESET", "--out", "RUN", "--from", "PRESET"], "tiny.toml: is not JSON ("),
        (["--resume", "RUN"], "RUN: there is no run to resume: the folder holds no state.json"),
        (["--resume", "RUN", "--from", "OTHER"], "a resumed run goes on as it was: no --out, "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_wishes_are_one_sentence_each(
    arguments: list[str], sentence: str, tmp_path: Path
) -> None:
    save(untrained(Variant.PDTSP), tmp_path / "other.json")
    places = {
        "PRESET": str(preset(tmp_path)),
        "RUN": str(tmp_path / "RUN"),
        "OTHER": str(tmp_path / "other.json"),
    }
    message = run("evolve", *[places.get(argument, argument) for argument in arguments], code=2)
    assert len(message.splitlines()) == 1
    assert message.startswith("n2s: ")
    assert sentence.replace("RUN", places["RUN"]) in message
    assert not (tmp_path / "RUN").exists()

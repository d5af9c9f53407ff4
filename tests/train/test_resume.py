"""A run that was stopped and resumed is, bit for bit, the run that was not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from n2s.errors import InputError
from n2s.model import load
from n2s.native import find as find_native
from n2s.native import save as save_native
from n2s.problem import Variant
from n2s.train import Trainer, TrainingError
from n2s.train.metrics import read_metrics
from n2s.train.run import begin, train
from train.runs import (
    UPDATES,
    StopAt,
    assert_same_state,
    finished_run,
    preset,
    run_to,
    state_of,
    timeless,
)

COSTS = ["policy.costs=false", "policy.costs=true"]


@pytest.fixture(scope="module", params=COSTS)
def change(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_resumed_run_has_had_its_lessons(tmp_path: Path) -> None:
    """One epoch with a teacher, one without; the teacher's file is gone when the run goes on."""
    teacher = find_native("native-single-pdtsp", Variant.PDTSP)
    save_native(teacher, tmp_path / "her.json")
    changes = [f'lessons.teacher="{tmp_path / "her.json"}"', "lessons.epochs=1"]
    whole = finished_run(tmp_path / "whole", *changes)
    trainer = begin(preset(tmp_path), tmp_path / "run", changes)
    (tmp_path / "her.json").unlink()
    told: dict[int, list[str]] = {}
    for stop in (1, 3, 4, 5):
        lines = told.setdefault(stop, [])
        stopped = trainer.run(interrupt=StopAt(trainer, stop), tell=lines.append)
        assert stopped == "interrupted"
        trainer = Trainer.resume(tmp_path / "run")
    assert trainer.run(tell=told.setdefault(UPDATES, []).append) == "epochs"
    assert_same_state(tmp_path / "run", whole)
    assert timeless(tmp_path / "run") == timeless(whole)
    # A lesson is one pass, PPO makes three.
    tensors, _ = state_of(whole)
    steps = {int(t) for name, t in tensors.items() if name.endswith(".step")}
    assert steps == {4 + 3 * 4}
    record = load(whole / "policy.safetensors").record
    assert record["teacher"] == f"her {teacher.sha256[:12]}"
    # A line of metrics covers three updates, and none covers both kinds.
    trained = [line for line in read_metrics(whole) if line["kind"] == "train"]
    assert [line["update"] for line in trained] == [3, 4, 6]
    assert [line["kl"] > 0 for line in trained] == [False, False, True]
    for stop, name in {3: "cross-entropy", 4: "cross-entropy", UPDATES: "KL"}.items():
        assert sum(name in line for line in told[stop]) == 1, stop


@pytest.fixture(scope="module")
def whole(change: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a stop."""
    return finished_run(tmp_path_factory.mktemp("whole"), change)


@pytest.mark.parametrize(
    "stops",
    [
        [0],  # before the first update
        [1],  # in the middle of an episode and of a line of metrics
        [2],  # between two batches
        [3],  # right behind a line of metrics
        [4],  # behind an epoch
        [7],  # in the last episode
        [8],  # behind everything
        list(range(9)),  # after every update
    ],
    ids=str,
)
def test_a_resumed_run_is_the_uninterrupted_one(
    stops: list[int], change: str, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [change])
    for stop in stops:
        reason = run_to(trainer, stop)
        assert reason == ("interrupted" if stop < UPDATES else "epochs")
        assert trainer.position.update == stop
        trainer = Trainer.resume(run)
    assert trainer.run() == "epochs"
    assert_same_state(run, whole)
    assert timeless(run) == timeless(whole)
    one, other = load(run / "policy.safetensors"), load(whole / "policy.safetensors")
    for name, weight in one.policy.state_dict().items():
        assert torch.equal(weight, other.policy.state_dict()[name]), name


def test_the_state_holds_all_that_a_run_is(whole: Path, change: str) -> None:
    tensors, rest = state_of(whole)
    networks = {name for name in tensors if name.startswith("networks.")}
    moments = {name.rpartition(".")[2] for name in tensors if name.startswith("optimiser.")}
    assert moments == {"step", "exp_avg", "exp_avg_sq"}
    assert sum(name.endswith("exp_avg") for name in tensors) == len(networks)
    assert all(int(t) == 3 * UPDATES for name, t in tensors.items() if name.endswith(".step"))
    transitions = rest["position"]["transitions"]
    looks = [line for line in read_metrics(whole) if line["kind"] == "validation"]
    best = min((math.log(look["cost_5"]) + math.log(look["cost_7"])) / 2 for look in looks)
    assert rest["position"].pop("best_validation") == pytest.approx(best)
    assert rest["position"] == {"epoch": 3, "batch": 0, "update": 8, "transitions": transitions}
    assert rest["config"]["policy"]["costs"] == (change == COSTS[1])
    assert set(rest["processes"][0]) == {"data", "schedule"}
    assert set(rest["best_known"]) == {"5", "7"}
    # Eight updates, a line for three of them: two are still to be averaged.
    assert rest["means"]["count"] == 2


def test_the_policy_file_is_the_state_of_its_weights(whole: Path) -> None:
    tensors, _ = state_of(whole)
    checkpoint = load(whole / "policy.safetensors")
    assert checkpoint.critic is not None
    held = {
        **{f"policy.{name}": w for name, w in checkpoint.policy.state_dict().items()},
        **{f"critic.{name}": w for name, w in checkpoint.critic.state_dict().items()},
    }
    assert {f"networks.{name}" for name in held} == {n for n in tensors if "networks" in n}
    for name, weight in held.items():
        assert torch.equal(weight, tensors[f"networks.{name}"]), name
    record = checkpoint.record
    assert (record["preset"], record["epochs"], record["updates"]) == ("tiny", 2, UPDATES)
    assert checkpoint.sizes == (5, 7)


def test_a_killed_run_forgets_the_lines_behind_its_checkpoint(
    change: str, whole: Path, tmp_path: Path
) -> None:
    """The state of update 4, the metrics of update 8, and a line that the kill cut off."""
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [change])
    run_to(trainer, 4)
    state = (run / "state.safetensors").read_bytes()
    trainer.run()
    assert timeless(run) == timeless(whole)
    (run / "state.safetensors").write_bytes(state)
    with (run / "metrics.jsonl").open("a") as stream:
        stream.write('{"kind": "train", "upda')
    Trainer.resume(run).run()
    assert_same_state(run, whole)
    assert timeless(run) == timeless(whole)


def test_what_a_run_that_died_before_its_first_checkpoint_wrote_is_forgotten(
    change: str, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    line = {"kind": "validation", "update": 0, "transitions": 0, "epoch": 0, "gap_5": 1.0}
    (run / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    begin(preset(tmp_path), run, [change]).run()
    assert timeless(run) == timeless(whole)


def test_a_time_limit_stops_and_says_so(tmp_path: Path) -> None:
    reason = train(preset(tmp_path), tmp_path / "run", minutes=1e-9)
    assert reason == "time"
    told: list[str] = []
    assert train(None, None, resume=tmp_path / "run", tell=told.append) == "epochs"
    assert told[-1] == f"all epochs are done: {tmp_path / 'run' / 'policy.safetensors'}"


# --- what stops a run ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (["ppo.most_kl=1e-12"], r"the KL is \S+, more than 1e-12"),
        (["ppo.policy_rate=1e20"], r"\w+ is not a finite number"),
        # A single pass sees nothing of the weights it leaves behind; the next save does.
        (["ppo.policy_rate=1e20", "ppo.updates=1"], "a number that is not finite"),
        (["ppo.critic_rate=1e20", "ppo.updates=1"], "the critic's values are not finite numbers"),
    ],
)
def test_an_exploded_run_stops_and_keeps_its_last_checkpoint(
    changes: list[str], sentence: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [*changes, "run.checkpoint_minutes=0"])
    run_to(trainer, 0)
    files = [run / "state.safetensors", run / "policy.safetensors"]
    before = [file.read_bytes() for file in files]
    with pytest.raises(TrainingError, match=sentence) as caught:
        trainer.run()
    assert str(caught.value).endswith(f"; the last good checkpoint is kept in {run}")
    assert "\n" not in str(caught.value)
    assert [file.read_bytes() for file in files] == before
    Trainer.resume(run)


# --- what cannot be resumed ---------------------------------------------------------------------


def refused(**wish: object) -> str:
    with pytest.raises(InputError) as caught:
        train(wish.pop("preset", None), wish.pop("out", None), **wish)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_that_holds_a_run(whole: Path, tmp_path: Path) -> None:
    before = (whole / "state.safetensors").read_bytes()
    message = refused(preset=preset(tmp_path), out=whole)
    assert message == f"{whole}: holds a run already: resume it, or choose another folder"
    assert (whole / "state.safetensors").read_bytes() == before


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    message = f"{tmp_path}: there is no run to resume: the folder holds no state.safetensors"
    assert refused(resume=tmp_path) == message


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_state(share: float, whole: Path, tmp_path: Path) -> None:
    data = (whole / "state.safetensors").read_bytes()
    path = tmp_path / "state.safetensors"
    path.write_bytes(data[: int(share * len(data))])
    assert refused(resume=tmp_path).startswith(f"{path}: is not a complete state of a run (")


def test_a_file_of_another_kind(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    path.write_bytes((whole / "policy.safetensors").read_bytes())
    assert refused(resume=tmp_path).startswith(f"{path}: is not a complete state of a run (")


def test_damaged_metrics(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "state.safetensors").write_bytes((whole / "state.safetensors").read_bytes())
    (tmp_path / "metrics.jsonl").write_text("nonsense\n")
    assert refused(resume=tmp_path).startswith(f"{tmp_path / 'metrics.jsonl'}:1: is not JSON (")


def test_a_resumed_run_cannot_be_changed(whole: Path, tmp_path: Path) -> None:
    sentence = "a resumed run goes on as it was: no --out, no --from and no --set"
    assert refused(resume=whole, changes=["ppo.epochs=9"]) == sentence
    assert refused(resume=whole, out=tmp_path) == sentence


def test_wishes_that_contradict_each_other(whole: Path, tmp_path: Path) -> None:
    sentence = "give a preset to begin a run, or a run to resume, one of the two"
    assert refused() == sentence
    assert refused(preset=preset(tmp_path), resume=whole) == sentence
    for minutes in (0.0, -1.0, float("nan")):
        message = refused(preset=preset(tmp_path), out=tmp_path / "run", minutes=minutes)
        assert message == f"the minutes must be positive, not {minutes:g}"
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    path = preset(tmp_path)
    assert refused(preset=path, out=path) == f"{path}: cannot be made (File exists)"

"""An evolution: what it learns from, what it keeps, and that it goes on as if nobody had stopped it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import oracles
from evolve.runs import (
    GENERATIONS,
    TINY,
    assert_same_run,
    finished_run,
    preset,
    run_to,
    state_of,
    timeless,
)
from n2s.errors import InputError
from n2s.evolve import Trainer
from n2s.evolve.config import config_of
from n2s.evolve.run import begin, evolve
from n2s.evolve.state import save_state
from n2s.evolve.tasks import draw_tasks
from n2s.evolve.trainer import fresh, losses_of
from n2s.kernels.native_decisions import PARAMETERS
from n2s.native import NativePolicy, load, save
from n2s.native.parts import Part, only, switched_off
from n2s.native.policy import untrained
from n2s.problem import Variant
from n2s.search.interrupt import Interrupt
from n2s.train.metrics import read_metrics

KINDS = ["cma", "sep-cma", "gradient"]
GRADIENT = "strategy.kind=gradient"


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return f"strategy.kind={request.param}"


@pytest.fixture(scope="module")
def whole(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without a stop."""
    return finished_run(tmp_path_factory.mktemp("whole"), kind)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of the strategy that thinks least."""
    return finished_run(tmp_path_factory.mktemp("quick"), GRADIENT)


# --- what it learns from ------------------------------------------------------------------------


def test_losses_by_hand() -> None:
    """Relative costs in units of their own spread: a hard task counts as much as an easy one."""
    costs = np.array([[9.0, 100.0], [11.0, 300.0]])
    # Relative -0.1 and 0.1, spread 0.1; -0.5 and 0.5, spread 0.5; each a little more than its spread.
    expected = (0.1 / 0.1001 + 0.5 / 0.5001) / 2
    assert losses_of(costs) == pytest.approx([-expected, expected])
    # Where nobody differs nothing is learned, also if everything costs nothing.
    assert losses_of(np.array([[9.0, 5.0, 0.0], [11.0, 5.0, 0.0]])) == pytest.approx(
        [-0.1 / 0.1001 / 3, 0.1 / 0.1001 / 3]
    )
    # A difference of a millionth is drowned by the least spread.
    assert abs(losses_of(np.array([[1.0], [1.000001]]))).max() < 0.01


def test_a_fresh_policy_behaves_as_zeros_do(variant: Variant) -> None:
    theta = fresh(3)
    blocks = oracles.native_blocks(theta)
    random = {"removal/features", "removal/views", "removal/bias", "heat/views", "heat/bias"}
    for name, block in blocks.items():
        assert (block != 0).all() == (name in random), name
        if block.size > 30:
            assert block.std() == pytest.approx(0.5, rel=0.3)
    assert (fresh(3) == theta).all()
    assert (fresh(4) != theta).any()
    config = config_of({"tasks": {"variant": variant.value, "sizes": [11], "steps": [100]}}).tasks
    for task in draw_tasks(config, 0)[:4]:
        assert task.run(NativePolicy(variant, theta)) == task.run(untrained(variant))


def test_a_short_evolution_clearly_improves_the_policy(tmp_path: Path) -> None:
    table = {
        "tasks": {"variant": "lifo", "sizes": [21], "steps": [200], "count": 12},
        "strategy": {"population": 16, "generations": 12, "sigma": 0.3},
        "validation": {"sizes": [21], "count": 40, "steps": [200], "every": 12, "reference": 300},
        "run": {"threads": 1},
    }
    Trainer(config_of(table), tmp_path).run()
    first, last = (line for line in read_metrics(tmp_path) if line["kind"] == "validation")
    assert (first["update"], last["update"]) == (0, 12)
    assert last["gap_21_200"] < 0.6 * first["gap_21_200"]


# --- what it keeps ------------------------------------------------------------------------------


def test_metrics(quick: Path) -> None:
    lines = read_metrics(quick)
    assert [(line["kind"], line["update"]) for line in lines] == [
        ("validation", 0),
        ("train", 1),
        ("train", 2),
        ("validation", 2),
        ("train", 3),
        ("train", 4),
        ("validation", 4),
        ("train", 5),
        ("train", 6),
        ("validation", 6),
    ]
    for line in lines:
        if line["kind"] == "validation":
            gaps = {name for name in line if name.startswith("gap_")}
            assert gaps == {"gap_5_15", "gap_5_30", "gap_9_15", "gap_9_30"}
            assert {"work_gap_5_20", "work_gap_9_20"} <= line.keys()
            # From the same random tours, more steps of so few requests find more.
            assert -0.01 < line["gap_9_30"] < 1
        else:
            assert line["cost_in_edges"] > 0.5
            assert line["spread"] > 0
            assert line["norm"] > 0
    trained = [line for line in lines if line["kind"] == "train"]
    # Two tasks of each budget: 20, 40, and at most 17 steps for 30 units of work; six candidates.
    made = np.diff([0] + [line["transitions"] for line in trained])
    assert (made > 6 * 2 * (20 + 40)).all()
    assert (made <= 6 * 2 * (20 + 40 + 17)).all()


def test_gaps_are_relative_to_the_references(quick: Path) -> None:
    """Searched again here, with the policy of the file."""
    trainer, policy = Trainer.resume(quick), load(quick / "policy.json")
    last = read_metrics(quick)[-1]
    references = state_of(quick)["references"]
    assert set(references) == {"5", "9"}
    for (size, name), tasks in trainer._checks.items():
        costs = [task.run(policy)[0] for task in tasks]
        assert [task.land.size for task in tasks] == [size, size]
        gap = np.mean([c / r - 1 for c, r in zip(costs, references[str(size)], strict=True)])
        assert last[name] == pytest.approx(gap, abs=1e-12)
    for task, cost in zip(trainer._checks[5, "gap_5_15"], references["5"], strict=True):
        tours = oracles.all_tours(2, Variant.LIFO)
        assert cost == pytest.approx(min(oracles.cost(task.land.legs, tour) for tour in tours))


def test_the_policy_file_is_where_the_strategy_stands(whole: Path, kind: str) -> None:
    policy, state = load(whole / "policy.json"), state_of(whole)
    mean = state["strategy"]["mean" if kind.endswith("gradient") else "_mean"]
    assert policy.theta[:216].tolist() == mean
    assert not policy.theta[216:].any()  # neither an outlook nor a bridge was asked for
    assert policy.variant is Variant.LIFO
    assert (policy.record["preset"], policy.record["generations"]) == ("tiny", GENERATIONS)
    assert policy.record["steps"] == state["steps"] == read_metrics(whole)[-1]["transitions"]
    assert config_of(policy.record["config"]) == config_of(state["config"])
    assert (policy.theta != fresh(1))[:216].all()


# --- going on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stops", [[0], [3], [6], list(range(7))], ids=str)
def test_a_resumed_run_is_the_uninterrupted_one(
    stops: list[int], kind: str, whole: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [kind])
    for stop in stops:
        assert run_to(trainer, stop) == ("interrupted" if stop < GENERATIONS else "generations")
        assert trainer.generation == stop
        trainer = Trainer.resume(run)
    assert trainer.run() == "generations"
    assert_same_run(run, whole)


def test_threads_do_not_matter(quick: Path, tmp_path: Path) -> None:
    run = finished_run(tmp_path, GRADIENT, "run.threads=3")
    assert timeless(run) == timeless(quick)
    assert load(run / "policy.json").sha256 == load(quick / "policy.json").sha256


def test_a_killed_run_forgets_the_lines_behind_its_checkpoint(
    kind: str, whole: Path, tmp_path: Path
) -> None:
    """The state of generation 3, the metrics of generation 6, and a line that the kill cut off."""
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [kind])
    run_to(trainer, 3)
    state = (run / "state.json").read_bytes()
    trainer.run()
    (run / "state.json").write_bytes(state)
    with (run / "metrics.jsonl").open("a") as stream:
        stream.write('{"kind": "train", "upda')
    Trainer.resume(run).run()
    assert_same_run(run, whole)


def test_what_a_run_that_died_before_its_first_checkpoint_wrote_is_forgotten(
    quick: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    line = {"kind": "validation", "update": 0, "transitions": 0, "gap_5_15": 1.0}
    (run / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    begin(preset(tmp_path), run, [GRADIENT]).run()
    assert_same_run(run, quick)


def test_a_time_limit_stops_and_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    told: list[str] = []
    assert evolve(preset(tmp_path), run, minutes=1e-9, tell=told.append) == "time"
    assert told == [
        "finding reference costs of the validation set",
        f"stopped by time: n2s evolve --resume {run} goes on",
    ]
    assert state_of(run)["references"] == {}
    assert evolve(None, None, resume=run, tell=told.append) == "generations"
    assert told[3].startswith("generation 0, 0.0 min: N = 5, 15 steps: +")
    assert told[-1] == f"all generations are done: {run / 'policy.json'}"


def test_a_run_begins_with_a_policy(tmp_path: Path) -> None:
    theta = np.random.default_rng(1).normal(0, 0.2, PARAMETERS)
    theta[only((Part.OUTLOOK, Part.BUILD))] = 0.0  # which are not for work
    first = NativePolicy(Variant.LIFO, theta, {"preset": "earlier", "generations": 7})
    save(first, tmp_path / "first.json")
    trainer = begin(preset(tmp_path), tmp_path / "run", start=tmp_path / "first.json")
    assert trainer.policy.theta.tolist() == theta.tolist()
    assert run_to(trainer, 0) == "interrupted"
    assert load(tmp_path / "run" / "policy.json").theta.tolist() == theta.tolist()
    # Where it comes from is part of its record, also behind an interruption.
    assert evolve(None, None, resume=tmp_path / "run") == "generations"
    assert load(tmp_path / "run" / "policy.json").record["from"] == {
        "sha256": first.sha256,
        "training": first.record,
    }


# --- what cannot be done ------------------------------------------------------------------------


def refused(**wish: object) -> str:
    with pytest.raises(InputError) as caught:
        evolve(wish.pop("preset", None), wish.pop("out", None), **wish)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_policy_of_another_variant(tmp_path: Path) -> None:
    save(untrained(Variant.PDTSP), tmp_path / "first.json")
    message = refused(preset=preset(tmp_path), out=tmp_path / "run", start=tmp_path / "first.json")
    assert message == "the policy to begin with is for pdtsp, the tasks are lifo"
    assert not (tmp_path / "run").exists()
    missing = tmp_path / "none.json"
    assert refused(preset=preset(tmp_path), out=tmp_path / "run", start=missing) == (
        f"{missing}: there is no such file, and the package has no native policy of that name (it has "
        "native-build-lifo, native-build-pdtsp, native-lifo, native-outlook-lifo, "
        "native-outlook-pdtsp, native-pdtsp, native-single-lifo, native-single-pdtsp)"
    )
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_a_run(quick: Path, tmp_path: Path) -> None:
    before = (quick / "state.json").read_bytes()
    message = refused(preset=preset(tmp_path), out=quick)
    assert message == f"{quick}: holds a run already: resume it, or choose another folder"
    assert (quick / "state.json").read_bytes() == before


def test_folders_without_a_run(tmp_path: Path) -> None:
    message = f"{tmp_path}: there is no run to resume: the folder holds no state.json"
    assert refused(resume=tmp_path) == message
    path = preset(tmp_path)
    assert refused(preset=path, out=path) == f"{path}: cannot be made (File exists)"


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_state(share: float, quick: Path, tmp_path: Path) -> None:
    data = (quick / "state.json").read_bytes()
    path = tmp_path / "state.json"
    path.write_bytes(data[: int(share * len(data))])
    assert refused(resume=tmp_path).startswith(f"{path}: is not a complete state of a run (")


def test_a_state_of_another_version(quick: Path, tmp_path: Path) -> None:
    content = json.loads((quick / "state.json").read_text())
    path = tmp_path / "state.json"
    path.write_text(json.dumps(content | {"format": 2}))
    assert refused(resume=tmp_path) == f"{path}: was written by another version of the trainer"
    content["state"]["config"]["tasks"]["size"] = 3
    save_state(content["state"], tmp_path)
    assert refused(resume=tmp_path).startswith(f"{tmp_path}: there is no key 'tasks.size' (")


@pytest.mark.parametrize("text", ["[", "[" * 100_000, "{}", "[1]", '{"format": 5, "state": 1}'])
def test_what_is_no_state(text: str, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    assert refused(resume=tmp_path).startswith(f"{path}: is not a complete state of a run (")


@pytest.mark.parametrize(
    "change", [{"generation": "2"}, {"references": {"5": [1.0], "9": [1.0]}}, {"more": 0}]
)
def test_a_state_that_somebody_changed(
    change: dict[str, object], quick: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.json"
    content = json.loads((quick / "state.json").read_text())
    path.write_text(json.dumps(content | {"state": content["state"] | change}))
    assert refused(resume=tmp_path) == f"{path}: is not the state that its hash was made of"


@pytest.mark.parametrize("change", [{"strategy": {}}, {"strategy": None}, {"references": []}])
def test_a_whole_state_of_something_else(
    change: dict[str, object], whole: Path, tmp_path: Path
) -> None:
    """Of another version of the library behind the strategy, say."""
    state = json.loads((whole / "state.json").read_text())["state"]
    save_state(state | change, tmp_path)
    sentence = f"{tmp_path / 'state.json'}: is no state that can be continued here ("
    assert refused(resume=tmp_path).startswith(sentence)
    save_state(state | {"theta": [1.0]}, tmp_path)
    assert "a native policy has" in refused(resume=tmp_path)


class StopWith(Interrupt):
    """Somebody who asks to stop as soon as so many sizes have references."""

    def __init__(self, trainer: Trainer, sizes: int) -> None:
        self.trainer, self.sizes = trainer, sizes

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return len(self.trainer._references) >= self.sizes


@pytest.mark.parametrize("sizes", [0, 1, 2])
def test_references_that_are_there_are_kept(sizes: int, quick: Path, tmp_path: Path) -> None:
    """Of 5 nodes, then of 9; behind the last the run has begun and stands at generation 0."""
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, [GRADIENT])
    assert trainer.run(interrupt=StopWith(trainer, sizes)) == "interrupted"
    assert list(state_of(run)["references"]) == ["5", "9"][:sizes]
    assert (run / "metrics.jsonl").exists() == (sizes == 2)
    assert Trainer.resume(run).run() == "generations"
    assert_same_run(run, quick)


def test_wishes_that_contradict_each_other(tmp_path: Path) -> None:
    sentence = "give a preset to begin a run, or a run to resume, one of the two"
    assert refused() == sentence
    assert refused(preset=preset(tmp_path), resume=tmp_path) == sentence
    sentence = "a resumed run goes on as it was: no --out, no --from and no --set"
    for wish in ({"changes": ["tasks.count=9"]}, {"out": tmp_path}, {"start": tmp_path}):
        assert refused(resume=tmp_path, **wish) == sentence
    for minutes in (0.0, -1.0, float("nan")):
        message = refused(preset=preset(tmp_path), out=tmp_path / "run", minutes=minutes)
        assert message == f"the minutes must be positive, not {minutes:g}"
    assert not (tmp_path / "run").exists()


def test_unknown_keys_and_sections(tmp_path: Path) -> None:
    path = preset(tmp_path, TINY.replace("count = 6", "counts = 6"))
    assert refused(preset=path, out=tmp_path / "run").startswith(
        f"{path}: there is no key 'tasks.counts' (there are variant, "
    )
    path = preset(tmp_path, TINY.replace("[run]", "[runs]"))
    assert refused(preset=path, out=tmp_path / "run") == (
        f"{path}: there is no section 'runs' (there are tasks, strategy, validation, run)"
    )
    assert not (tmp_path / "run").exists()


def test_parts_that_are_left_out_stay_off(tmp_path: Path) -> None:
    changes = ['strategy.without=["several", "blocks", "age"]']
    trainer = begin(preset(tmp_path), tmp_path / "run", changes)
    before = trainer.policy.theta
    trainer.run()
    after = load(tmp_path / "run" / "policy.json").theta
    # Nor is there a bridge without a network, or an outlook or a building that nobody asked for.
    off = (Part.SEVERAL, Part.BLOCKS, Part.AGE, Part.OUTLOOK, Part.BUILD, Part.BRIDGE)
    _, free = switched_off(before, off)
    assert (after[~free] == before[~free]).all()
    assert (after[free] != before[free]).all()
    assert len(trainer.strategy.mean) == free.sum() < len(after)
    # And a resumed run knows which ones they are.
    again = Trainer.resume(tmp_path / "run")
    assert (again.policy.theta == after).all()


def test_an_unknown_part(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"strategy\.without"):
        begin(preset(tmp_path), tmp_path / "run", ['strategy.without=["wings"]'])

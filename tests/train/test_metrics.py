"""The lines of a run, and the same numbers in TensorBoard's files."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from n2s.errors import InputError
from n2s.train import Trainer
from n2s.train.metrics import Means, MetricsLog, read_metrics
from n2s.train.run import begin
from train.runs import preset, run_to

TRAIN = {
    *("kind", "update", "epoch", "transitions", "minutes", "reward", "best_cost", "relative_cost"),
    *("policy_loss", "value_loss", "kl", "clip_fraction", "removal_entropy"),
    *("reinsertion_entropy", "policy_norm", "critic_norm", "value", "advantage", "nodes"),
    *("policy_rate", "transitions_per_second"),
}
VALIDATION = {
    *("kind", "update", "epoch", "transitions", "minutes", "validation_seconds"),
    *("cost_5", "gap_5", "cost_7", "gap_7"),
}


def board(run: Path) -> dict[str, list[tuple[int, float]]]:
    """All scalars of TensorBoard's files, by tag."""
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def scalars(lines: Iterable[dict]) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard should hold of some lines, by tag."""
    result: dict[str, list[tuple[int, float]]] = {}
    for line in lines:
        for name, value in line.items():
            if name not in ("kind", "update"):
                result.setdefault(f"{line['kind']}/{name}", []).append((line["update"], value))
    return result


def assert_same_scalars(run: Path) -> None:
    expected, found = scalars(read_metrics(run)), board(run)
    assert found.keys() == expected.keys()
    for tag, points in expected.items():
        assert [step for step, _ in found[tag]] == [step for step, _ in points], tag
        values = [value for _, value in points]
        assert [value for _, value in found[tag]] == pytest.approx(values, rel=1e-6), tag


def later() -> None:
    """Wait for the next second, by which TensorBoard sorts its files."""
    begun = int(time.time())
    while int(time.time()) == begun:
        time.sleep(0.05)


def test_means_begin_anew_when_taken() -> None:
    means = Means()
    means.add({"a": 1.0, "b": 5.0})
    means.add({"a": 4.0, "b": 5.0})
    assert (means.sums, means.count) == ({"a": 5.0, "b": 10.0}, 2)
    assert means.take() == {"a": 2.5, "b": 5.0}
    assert means.take() == {}
    means.add({"a": 7.0})
    assert Means(means.sums, means.count).take() == {"a": 7.0}


def test_a_runs_lines_and_the_same_numbers_for_tensorboard(tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(preset(tmp_path), run, ["run.log_every=2"]).run()
    lines = read_metrics(run)
    assert [(line["kind"], line["update"]) for line in lines] == [
        *[("validation", 0), ("train", 2), ("train", 4), ("validation", 4), ("train", 6)],
        *[("train", 8), ("validation", 8)],
    ]
    for line in lines:
        assert line.keys() == (TRAIN if line["kind"] == "train" else VALIDATION)
        assert all(math.isfinite(v) for name, v in line.items() if name != "kind")
    assert_same_scalars(run)


def test_every_line_is_the_mean_of_its_updates(tmp_path: Path) -> None:
    """The same run with a line for every update, and with one for every four."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    begin(preset(tmp_path / "a"), tmp_path / "a/run", ["run.log_every=1"]).run()
    begin(preset(tmp_path / "b"), tmp_path / "b/run", ["run.log_every=4"]).run()
    single = [line for line in read_metrics(tmp_path / "a/run") if line["kind"] == "train"]
    means = [line for line in read_metrics(tmp_path / "b/run") if line["kind"] == "train"]
    assert (len(single), len(means)) == (8, 2)
    sums = {"epoch", "transitions", "minutes", "kind", "update", "policy_rate"}
    for index, line in enumerate(means):
        of = single[4 * index : 4 * index + 4]
        for name in TRAIN - sums - {"transitions_per_second"}:
            assert line[name] == pytest.approx(sum(one[name] for one in of) / 4), name
        assert line["transitions"] == of[-1]["transitions"]
        assert line["policy_rate"] == of[-1]["policy_rate"]
        assert line["epoch"] == of[-1]["epoch"]
    # Two sizes, of 4 and 3 instances, 5 steps each.
    assert single[0]["transitions"] == {5: 20, 7: 15}[single[0]["nodes"]]
    assert [line["policy_rate"] for line in means] == pytest.approx([1e-3, 0.985e-3])


def test_tensorboard_forgets_with_the_lines(tmp_path: Path) -> None:
    """State of update 2, metrics of update 8: resumed, both tell of every update once."""
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, ["run.log_every=1"])
    run_to(trainer, 2)
    state = (run / "state.safetensors").read_bytes()
    trainer.run()
    (run / "state.safetensors").write_bytes(state)
    later()
    run_to(Trainer.resume(run), 5)
    train = [line["update"] for line in read_metrics(run) if line["kind"] == "train"]
    assert train == [1, 2, 3, 4, 5]
    assert_same_scalars(run)


def test_a_new_log_of_a_used_folder_begins_with_nothing(tmp_path: Path) -> None:
    values = {"transitions": 0, "gap_5": 0.25}
    log = MetricsLog(tmp_path, -1)
    log.write("validation", 0, values)
    log.close()
    later()
    log = MetricsLog(tmp_path, -1)
    log.write("validation", 0, {**values, "gap_5": 0.5})
    log.close()
    assert [line["gap_5"] for line in read_metrics(tmp_path)] == [0.5]
    assert_same_scalars(tmp_path)


def test_a_line_that_was_cut_off_is_no_line(tmp_path: Path) -> None:
    whole = [{"kind": "train", "update": u, "transitions": 9 * u} for u in (1, 2)]
    text = "".join(json.dumps(line) + "\n" for line in whole)
    (tmp_path / "metrics.jsonl").write_text(text + '{"kind": "tra')
    assert read_metrics(tmp_path) == whole
    (tmp_path / "metrics.jsonl").write_text('{"kind": "tra')
    assert read_metrics(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"kind": 1,}\n', ":1: is not JSON ("),
        (
            b'{"kind": "train", "update": 1, "transitions": 2}\n3\n',
            ":2: is no line of metrics: '3'",
        ),
        (b'{"kind": "train"}\n', """:1: is no line of metrics: '{"kind": "train"}'"""),
        (b'{"kind": "train", "update": "a", "transitions": 1}\n', ":1: is no line of metrics: '"),
        (b"\xff\xfe\n", ": is not UTF-8 text"),
    ],
)
def test_files_that_hold_no_metrics(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    for wish in (lambda: read_metrics(tmp_path), lambda: MetricsLog(tmp_path, 5)):
        with pytest.raises(InputError) as caught:
            wish()
        assert str(caught.value).startswith(f"{path}{sentence}")
    assert path.read_bytes() == content


def test_metrics_that_are_not_there_or_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with pytest.raises(InputError) as caught:
        read_metrics(tmp_path)
    assert str(caught.value) == f"{path}: cannot be read (No such file or directory)"
    (tmp_path / "tensorboard").write_text("in the way")
    with pytest.raises(InputError, match="tensorboard: cannot be written"):
        MetricsLog(tmp_path, -1)
    (tmp_path / "tensorboard").unlink()
    log = MetricsLog(tmp_path, -1)
    path.mkdir()
    with pytest.raises(InputError) as caught:
        log.write("train", 1, {"transitions": 0})
    assert str(caught.value) == f"{path}: cannot be written (Is a directory)"
    log.close()

"""Evolutions of policies that look around: searched only if asked for, and continued exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evolve.runs import TINY, assert_same_run, preset, run_to
from n2s.errors import InputError
from n2s.evolve import Trainer
from n2s.evolve.run import begin
from n2s.native import load
from n2s.native.parts import Part, indices
from n2s.train.metrics import read_metrics

AROUND = (
    TINY.replace("work = [30]\n", "copies = [3, 1]\n")
    .replace("[strategy]\n", "[strategy]\noutlook = true\n")
    .replace("steps = [15, 30]\nwork = [20]\n", "steps = [15, 30]\ncopies = [2, 1]\n")
)
WHERE = indices(Part.OUTLOOK)


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole tiny run."""
    folder = tmp_path_factory.mktemp("around")
    assert begin(preset(folder, AROUND), folder / "run").run() == "generations"
    return folder / "run"


def test_only_who_is_asked_learns_to_look_around(around: Path, tmp_path: Path) -> None:
    assert load(around / "policy.json").theta[WHERE].all()
    run = tmp_path / "run"
    begin(preset(tmp_path, AROUND), run, ["strategy.outlook=false"]).run()
    assert not load(run / "policy.json").theta[WHERE].any()


def test_weights_that_are_not_searched_stay(around: Path, tmp_path: Path) -> None:
    """A run that begins with a policy that looks around, and learns something else."""
    run = tmp_path / "run"
    changes = ["strategy.outlook=false"]
    begin(preset(tmp_path, AROUND), run, changes, around / "policy.json").run()
    first, last = (load(folder / "policy.json").theta for folder in (around, run))
    assert last[WHERE].tolist() == first[WHERE].tolist()
    assert not np.array_equal(first, last)


def test_a_resumed_run_is_the_uninterrupted_one(around: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert run_to(begin(preset(tmp_path, AROUND), run), 3) == "interrupted"
    assert Trainer.resume(run).run() == "generations"
    assert_same_run(run, around)


def test_gaps_of_copies_have_their_name(around: Path) -> None:
    checks = [line for line in read_metrics(around) if line["kind"] == "validation"]
    gaps = {key for key in checks[0] if key.startswith("gap_")}
    assert gaps == {"gap_5_15x2", "gap_5_30", "gap_9_15x2", "gap_9_30"}


def test_a_policy_that_looks_around_does_not_begin_where_work_counts(
    around: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="the policy to begin with looks around"):
        begin(preset(tmp_path), tmp_path / "run", (), around / "policy.json")
    assert not (tmp_path / "run").exists()

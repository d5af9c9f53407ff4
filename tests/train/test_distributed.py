"""Two real processes on a CPU against one process that learns from the data of both."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from n2s.errors import InputError
from n2s.model import FastPolicy
from n2s.train import Trainer, read_preset
from n2s.train.distributed import World, world
from n2s.train.learner import ActorCritic, Learner
from n2s.train.metrics import read_metrics
from n2s.train.rollout import Rollout
from n2s.train.starts import Budget, draw_points, search_state, start_tours
from train.runs import TINY, assert_same_state, preset, state_of, timeless

CPU = torch.device("cpu")
# Twelve updates. Batches of one size each, drawn alike in both processes; parts smaller than a batch,
# so that gradients are added up before they travel; slow rates, so that Adam does not blow up the
# last bits in which sums of another order differ.
CHANGES = {
    "log_every = 3": "log_every = 1\npart = 15",
    "batches = 2": "batches = 3",
    "policy_rate = 1e-3": "policy_rate = 1e-4",
    "critic_rate = 1e-3": "critic_rate = 1e-4",
}
UPDATES = 12


def shared_preset(folder: Path, normalise: bool = True) -> Path:
    text = TINY
    for old, new in CHANGES.items():
        text = text.replace(old, new)
    return preset(folder, text.replace("[ppo]", f"[ppo]\nnormalise = {str(normalise).lower()}"))


def start(*arguments: object) -> subprocess.Popen[str]:
    """Two processes of the trainer, as torchrun starts them."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.Popen(
        [*launcher, "--nproc-per-node", "2", "-m", "n2s.train", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # or the launcher talks about it
    )


def finish(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def two(folder: Path) -> Path:
    """A run of two processes without a stop."""
    errors = finish(start(shared_preset(folder), "--out", folder / "run"))
    assert errors.count("all epochs are done") == 1  # one of them speaks
    assert "Traceback" not in errors
    return folder / "run"


class Both:
    """The generators of both processes, each for its half of the batch."""

    def __init__(self, seed: int) -> None:
        self.each = [np.random.default_rng([seed, rank]) for rank in (0, 1)]

    def random(self, shape: tuple[int, int]) -> np.ndarray:
        half = shape[0] // 2, shape[1]
        return np.concatenate([generator.random(half) for generator in self.each])


def alone(path: Path) -> tuple[ActorCritic, ActorCritic]:
    """One process that sees both shards as one batch: its networks before and after."""
    config = read_preset(path)
    data, ppo = config.data, config.ppo
    pair = []
    for _ in range(2):
        torch.manual_seed(data.seed)
        pair.append(ActorCritic(config.policy))
    before, networks = pair
    learner = Learner(networks, ppo, 10_000, CPU)
    generators, schedule = Both(data.seed), np.random.default_rng([data.seed, 2**32])
    for epoch in range(1, ppo.epochs + 1):
        learner.set_epoch(epoch)
        for _ in range(ppo.batches):
            index = int(schedule.choice(data.active(epoch)))
            decider, points, tours, budgets = FastPolicy(networks.policy), [], [], []
            for generator in generators.each:
                points.append(draw_points(data, index, generator))
                improvement = int(epoch / config.starts.divisor)
                start = start_tours(
                    *(data.variant, points[-1], config.starts, improvement, ppo.steps),
                    *(decider, generator, CPU),
                )
                tours.append(start[0])
                budgets.append(start[1])
            budget = Budget(
                np.concatenate([b.total for b in budgets]),
                np.concatenate([b.used for b in budgets]),
                np.concatenate([b.given for b in budgets]),
            )
            state = search_state(
                data.variant, np.concatenate(points), np.concatenate(tours), budget
            )
            rollout = Rollout(2 * data.batch[index], data.sizes[index], ppo.n_step, CPU)
            for _ in range(ppo.steps // ppo.n_step):
                rollout.collect(state, FastPolicy(networks.policy), generators)  # type: ignore[arg-type]
                learner.update(rollout)
    return before, networks


def test_two_processes_learn_what_one_learns_from_the_data_of_both(two: Path, folder: Path) -> None:
    before, after = alone(folder / "tiny.toml")
    tensors, rest = state_of(two)
    assert rest["position"]["update"] == UPDATES
    for name, weight in after.state_dict().items():
        found = tensors[f"networks.{name}"]
        # Adam makes steps of one size from gradients of any: what rounding changes in a tiny one grows.
        torch.testing.assert_close(found, weight, atol=5e-6, rtol=0, msg=name)
    # By hundreds of tolerances away from where they began (but a few, which the softmax cancels).
    moved = [
        float((after.state_dict()[name] - weight).abs().max())
        for name, weight in before.state_dict().items()
    ]
    assert sum(step > 1e-3 for step in moved) > 0.9 * len(moved)


def test_one_process_writes(two: Path) -> None:
    names = {path.name for path in two.iterdir()}
    written = {"state.safetensors", "policy.safetensors", "best.safetensors", "metrics.jsonl"}
    assert names == {*written, "tensorboard"}
    assert len(list((two / "tensorboard").iterdir())) == 1
    lines = read_metrics(two)
    assert [(line["kind"], line["update"]) for line in lines] == [
        ("validation", 0),
        *[("train", update) for update in range(1, 7)],
        ("validation", 6),
        *[("train", update) for update in range(7, 13)],
        ("validation", 12),
    ]
    # Two shards of 4 or 3 instances, 5 steps each.
    seen = [line["transitions"] for line in lines if line["kind"] == "train"]
    sizes = [line["nodes"] for line in lines if line["kind"] == "train"]
    assert np.diff([0, *seen]).tolist() == [{5: 40, 7: 30}[size] for size in sizes]


def test_every_process_has_its_own_generator_and_the_same_schedule(two: Path) -> None:
    _, rest = state_of(two)
    first, second = rest["processes"]
    assert first["data"] != second["data"]
    assert first["schedule"] == second["schedule"]


def test_a_stopped_run_of_two_goes_on_bit_for_bit(two: Path, folder: Path, tmp_path: Path) -> None:
    """SIGTERM to the launcher reaches both processes; the same update is the last one of both."""
    run = tmp_path / "run"
    process = start(folder / "tiny.toml", "--out", run)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("epoch 1 update 1:"):
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert process.returncode != 0
    _, rest = state_of(run)
    assert 1 <= rest["position"]["update"] < UPDATES
    with pytest.raises(InputError) as caught:
        Trainer.resume(run)
    assert str(caught.value) == f"{run}: the run has 2 processes and cannot be resumed with 1"
    finish(start("--resume", run))
    assert_same_state(run, two)
    assert timeless(run) == timeless(two)


def test_alone_there_is_nobody_to_ask() -> None:
    with world() as here:
        assert (here.rank, here.size, here.writer) == (0, 1, True)
        assert here.any(True, False) == (True, False)
        assert here.gather("mine") == ["mine"]
        assert here.mean([1.0, 2.5]) == [1.0, 2.5]
    assert not World(rank=1, size=2).writer


SCRIPT = """
import json, sys
from n2s.train.distributed import world
with world() as here:
    rank = here.rank
    told = {
        "any": here.any(rank == 0, rank == 1, False),
        "gather": here.gather(10 * rank),
        "mean": here.mean([float(rank), 4.0]),
        "writer": here.writer,
    }
    open(f"{sys.argv[1]}/{rank}.json", "w").write(json.dumps(told))
"""


def test_what_processes_tell_each_other(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    subprocess.run(
        [*launcher, "--nproc-per-node", "2", script, tmp_path],
        check=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    same = {"any": [True, True, False], "mean": [0.5, 4.0]}
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert first == {**same, "gather": [0, 10], "writer": True}
    assert second == {**same, "gather": [], "writer": False}

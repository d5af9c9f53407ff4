"""Tiny runs for tests, and what is left of a run in its folder."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from n2s.search.interrupt import Interrupt
from n2s.train import TrainConfig, Trainer, config_of
from n2s.train.metrics import read_metrics
from n2s.train.run import begin

# Two updates an episode, four an epoch, eight in all; a line of metrics every three. One thread: on a
# busy machine, threads that wait for each other take longer than the work.
TINY = """
[policy]
width = 16
[data]
sizes = [5, 7]
batch = [4, 3]
[ppo]
epochs = 2
batches = 2
steps = 10
policy_rate = 1e-3
critic_rate = 1e-3
[starts]
random = 0.25
policy = 0.5
annealed = 0.25
divisor = 0.5
[validation]
count = 2
steps = 5
[run]
log_every = 3
threads = 1
"""
UPDATES = 8
TIMES = {"minutes", "validation_seconds", "transitions_per_second"}


def preset(folder: Path, text: str = TINY) -> Path:
    """The tiny preset as a file."""
    path = folder / "tiny.toml"
    path.write_text(text)
    return path


def tiny_config(**sections: dict[str, Any]) -> TrainConfig:
    """The tiny preset with some sections' keys changed."""
    table = tomllib.loads(TINY)
    for name, values in sections.items():
        table.setdefault(name, {}).update(values)
    return config_of(table)


class StopAt(Interrupt):
    """Somebody who asks to stop as soon as a run stands at an update."""

    def __init__(self, trainer: Trainer, update: int) -> None:
        self.trainer, self.update = trainer, update

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return self.trainer.position.update >= self.update


def run_to(trainer: Trainer, update: int) -> str:
    """Train until an update; says why it stopped."""
    return trainer.run(interrupt=StopAt(trainer, update))


def finished_run(folder: Path, *changes: str) -> Path:
    """A whole tiny run; the folder it stands in."""
    folder.mkdir(parents=True, exist_ok=True)
    assert begin(preset(folder), folder / "run", changes).run() == "epochs"
    return folder / "run"


def state_of(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and the rest of the state file, without the times it holds."""
    with safe_open(folder / "state.safetensors", "pt") as file:
        rest = json.loads(file.metadata()["n2s"])
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    del rest["position"]["seconds"]
    rest["means"]["sums"].pop("seconds", None)
    return tensors, rest


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The metrics of a run without the times, which no two runs share."""
    lines = read_metrics(folder)
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def assert_same_state(first: Path, second: Path) -> None:
    """Weights, moments, searches, generators, counters: every bit of it."""
    tensors, rest = state_of(first)
    other_tensors, other_rest = state_of(second)
    assert rest == other_rest
    assert tensors.keys() == other_tensors.keys()
    for name, tensor in tensors.items():
        assert tensor.dtype == other_tensors[name].dtype, name
        assert torch.equal(tensor, other_tensors[name]), name

"""Tiny evolutions for tests, and what is left of one in its folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from n2s.evolve import Trainer
from n2s.evolve.run import begin
from n2s.search.interrupt import Interrupt
from n2s.train.metrics import read_metrics

# Six generations, looked at after every second; one thread, since the work is smaller than a switch.
TINY = """
[tasks]
variant = "lifo"
sizes = [5, 7]
shapes = ["uniform", "clustered", "mixed", "line", "road"]
steps = [20, 40]
work = [30]
count = 6
[strategy]
population = 6
generations = 6
[validation]
sizes = [5, 9]
count = 2
steps = [15, 30]
work = [20]
every = 2
reference = 20
[run]
threads = 1
"""
GENERATIONS = 6
TIMES = {"minutes", "steps_per_second"}


def preset(folder: Path, text: str = TINY) -> Path:
    """The tiny preset as a file."""
    path = folder / "tiny.toml"
    path.write_text(text)
    return path


class StopAt(Interrupt):
    """Somebody who asks to stop as soon as a run stands at a generation."""

    def __init__(self, trainer: Trainer, generation: int) -> None:
        self.trainer, self.generation = trainer, generation

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return self.trainer.generation >= self.generation


def run_to(trainer: Trainer, generation: int) -> str:
    """Evolve until a generation; says why it stopped."""
    return trainer.run(interrupt=StopAt(trainer, generation))


def finished_run(folder: Path, *changes: str) -> Path:
    """A whole tiny run; the folder it stands in."""
    folder.mkdir(parents=True, exist_ok=True)
    assert begin(preset(folder), folder / "run", changes).run() == "generations"
    return folder / "run"


def state_of(folder: Path) -> dict[str, Any]:
    """The state file without the time it holds."""
    state: dict[str, Any] = json.loads((folder / "state.json").read_text())["state"]
    del state["seconds"]
    return state


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The metrics of a run without the times, which no two runs share."""
    lines = read_metrics(folder)
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def assert_same_run(first: Path, second: Path) -> None:
    """Strategy, counters, references, policy, metrics: every bit of them."""
    assert state_of(first) == state_of(second)
    assert timeless(first) == timeless(second)
    policies = [json.loads((folder / "policy.json").read_text()) for folder in (first, second)]
    for policy in policies:
        del policy["training"]["minutes"]
    assert policies[0] == policies[1]

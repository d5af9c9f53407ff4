"""A policy that has trained for less than a minute searches better than one that has not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from n2s.problem import generate
from n2s.search.solve import solve_many
from n2s.train.metrics import read_metrics
from n2s.train.run import begin
from train.runs import run_to

PRESET = Path(__file__).parents[2] / "presets" / "quick-pdtsp-11.toml"
# Half the width, smaller batches, faster rates: 80 updates instead of 3,200.
CHANGES = [
    *("policy.width=32", "data.batch=64", "ppo.epochs=2", "ppo.steps=50", "ppo.policy_rate=1e-3"),
    *("validation.count=50", "validation.steps=100", "run.threads=1"),
]


def searched(policy: Path) -> np.ndarray:
    """Costs of a fixed set after 100 steps."""
    instances = generate(5, count=100, seed=2022)
    solutions = solve_many(instances, method="n2s", steps=100, seed=7, checkpoint=policy)
    return np.array([solution.cost for solution in solutions])


def test_a_minute_of_training_makes_searches_better_by_a_clear_margin(tmp_path: Path) -> None:
    """The better of two runs: costs fall by 15 to 16 %, gaps from 24 % to 2 to 5 %.

    A run may stand still early, at 16 %; which seed does depends on the last bits, so on the machine.
    """
    runs: list[tuple[float, Path]] = []
    for seed in (2, 3):
        run = tmp_path / str(seed)
        trainer = begin(PRESET, run, [*CHANGES, f"data.seed={seed}"])
        run_to(trainer, 0)
        (run / "policy.safetensors").rename(run / "untrained.safetensors")
        assert trainer.run() == "epochs"
        gaps = [line["gap_11"] for line in read_metrics(run) if line["kind"] == "validation"]
        runs.append((gaps[-1] / gaps[0], run))
    left, run = min(runs)
    assert left < 0.5
    untrained, trained = (searched(run / f"{name}.safetensors") for name in ("untrained", "policy"))
    assert trained.mean() < 0.92 * untrained.mean()
    assert (trained < untrained - 1e-9).mean() > 0.6

"""Which way of training learns fastest per minute: short runs that differ from a preset in one choice.

Every run gets one core and the same minutes of it (processor time: other work on the machine does not
count), and its policy is judged by the same search of the same fixed instances. One line of JSON a run,
appended to ``--out`` as runs end; those already there are not run again.

Run: ``python benchmarks/training_choices.py --out choices.jsonl [--minutes 3] [--only base "kappa 1"]``
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import Manager, get_context
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory

from hardware import hardware
from spent import Spent

from n2s.errors import N2SError

LESSONS = ["lessons.teacher=native-single-pdtsp", "lessons.epochs=100000"]
CHOICES: dict[str, list[str]] = {
    "base": [],
    "base, seed 2": ["data.seed=2"],
    "batch 32": ["data.batch=[32]"],
    "batch 64": ["data.batch=[64]"],
    "batch 256": ["data.batch=[256]"],
    "rate 1e-4": ["ppo.policy_rate=1e-4"],
    "rate 1e-3": ["ppo.policy_rate=1e-3"],
    "kappa 1": ["ppo.updates=1"],
    "kappa 5": ["ppo.updates=5"],
    "n 2": ["ppo.n_step=2"],
    "n 10": ["ppo.n_step=10"],
    "width 128": ["policy.width=128"],
    "sizes 11 and 21": [
        *("data.sizes=[11, 21]", "data.since=[1, 1]", "data.batch=[128, 128]"),
        *("validation.sizes=[21]", "ppo.batches=1"),
    ],
    "size 11 first, then both": [
        *("data.sizes=[11, 21]", "data.since=[1, 3]", "data.batch=[128, 128]"),
        *("validation.sizes=[21]", "ppo.batches=1"),
    ],
    "starts random": ["starts.random=1.0", "starts.policy=0.0", "starts.annealed=0.0"],
    "starts by policy": ["starts.random=0.0", "starts.policy=1.0", "starts.annealed=0.0"],
    "starts annealed": ["starts.random=0.0", "starts.policy=0.0", "starts.annealed=1.0"],
    "normalise off": ["ppo.normalise=false"],
    "lessons": LESSONS,
    "lessons, rate 1e-3": [*LESSONS, "ppo.policy_rate=1e-3", "ppo.max_norm=0.5"],
    "costs, heat bath": ["policy.costs=true"],
    "costs, native prior": ["policy.costs=true", "policy.prior=native"],
    "costs, evolved prior": ["policy.costs=true", "policy.prior=native"],
}
"""By name: how a run differs from the preset."""
BEGINNINGS = {"costs, evolved prior": "native-single-pdtsp"}
"""What a run begins with, if not with fresh weights."""
STEPS = (300, 1000)
"""Steps of the searches that judge."""


def judge(
    preset: Path, changes: list[str], minutes: float, cores: Queue[int], start: str | None
) -> dict[str, object]:
    """Train on a core of its own, then search with what came out of it."""
    core = cores.get()
    os.sched_setaffinity(0, {core})
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        return _judge(preset, changes, minutes, start)
    finally:
        cores.put(core)


def _judge(
    preset: Path, changes: list[str], minutes: float, start: str | None
) -> dict[str, object]:
    from dataclasses import replace

    from n2s.model import load
    from n2s.train.config import read_preset
    from n2s.train.run import begin
    from n2s.train.trainer import POLICY_FILE
    from n2s.train.validation import Validator

    config = read_preset(preset, changes)
    with TemporaryDirectory() as folder:
        begin(preset, folder, changes, start=start).run(interrupt=Spent(minutes))
        trained = load(Path(folder) / POLICY_FILE)
        result: dict[str, object] = {
            key: trained.record[key] for key in ("transitions", "updates", "hours")
        }
        known: dict[int, list[float]] = {}
        for steps in STEPS:
            validator = Validator(
                replace(config, validation=replace(config.validation, steps=steps))
            )
            if not known:
                validator.refer()
                known = validator.best_known
            validator.best_known = known
            found = validator.measure(trained.policy)
            known = validator.best_known
            for size in validator.sizes:
                result[f"cost_{size}_after_{steps}"] = round(found[f"cost_{size}"], 4)
                result[f"gap_{size}_after_{steps}"] = round(found[f"gap_{size}"], 5)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", type=Path, default=Path("presets/choices-pdtsp-21.toml"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--only", nargs="+", choices=CHOICES, default=list(CHOICES))
    arguments = parser.parse_args()
    done = set()
    if arguments.out.exists():
        asked = arguments.preset.stem, arguments.minutes
        lines = map(json.loads, arguments.out.read_text().splitlines())
        done = {line["choice"] for line in lines if (line["preset"], line["minutes"]) == asked}
    cores = sorted(os.sched_getaffinity(0))
    with Manager() as manager:
        free: Queue[int] = manager.Queue()
        for core in cores:
            free.put(core)
        # A new process a run: numbers of threads and affinities are for life.
        with ProcessPoolExecutor(
            len(cores), mp_context=get_context("spawn"), max_tasks_per_child=1
        ) as pool:
            runs = {
                pool.submit(
                    judge,
                    arguments.preset,
                    CHOICES[name],
                    arguments.minutes,
                    free,
                    BEGINNINGS.get(name),
                ): name
                for name in arguments.only
                if name not in done
            }
            for run in as_completed(runs):
                name = runs[run]
                try:
                    result = run.result()
                except (
                    N2SError
                ) as error:  # a training that explodes is no reason to lose the others
                    print(f"{name}: {error}", file=sys.stderr)
                    continue
                line = {
                    "choice": name,
                    "preset": arguments.preset.stem,
                    "changes": CHOICES[name],
                    "minutes": arguments.minutes,
                    **result,
                    "hardware": hardware(),
                }
                with arguments.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

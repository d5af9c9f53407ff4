"""What each part of the native policy is worth: evolutions without it, at equal time; JSON lines.

``gradient`` leaves nothing out, but follows the gradient of the ranks instead of adapting a covariance.
Every evolution gets the same minutes of one core (processor time). Its policy is then judged on the same
fixed instances, by steps from random tours and by work from greedy ones (requests put back, which is what
time is spent on); ``percent`` is the mean cost relative to the policy with all parts that the same seed
gave: the mean over the seeds and its standard error, as evolutions differ by chance. Lines already in
``--out`` are not made again.

Run: ``python benchmarks/native_ablation.py --variant lifo --out FILE [--minutes 4] [--only whole
several] [--seeds 1 2 3]``
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hardware import hardware
from spent import Spent

from n2s.evolve.config import Kind, read_preset
from n2s.evolve.run import begin
from n2s.evolve.tasks import task_of
from n2s.native import NativePolicy, load
from n2s.native.parts import Part
from n2s.problem import Variant, generate

WHOLE = "whole"
GRADIENT = "gradient"
NODES = (51, 101)
STEPS, WORK = 3000, 30_000
SEED = 424_242
"""Of the instances that judge."""


def judge(policy: NativePolicy, count: int) -> dict[str, list[float]]:
    """Costs of fixed searches, by what they are."""
    found = {}
    for nodes in NODES:
        instances = generate(nodes // 2, count, SEED + nodes, policy.variant)
        for name, budget in (("steps", {"steps": STEPS}), ("work", {"work": WORK})):
            generator = np.random.default_rng([SEED, nodes])
            tasks = [task_of(instance, generator, **budget) for instance in instances]  # type: ignore[arg-type]
            found[f"{nodes} nodes, {next(iter(budget.values()))} {name}"] = [
                task.run(policy)[0] for task in tasks
            ]
    return found


def ablate(variant: str, without: str, minutes: float, count: int, seed: int) -> dict[str, object]:
    """Evolve without a part, and judge."""
    changes = ["run.threads=1", "validation.every=100000", "validation.count=1"]
    changes += [f"tasks.seed={seed}", "strategy.generations=1000000"]
    changes += ["validation.reference=1", "tasks.sizes=[21, 51, 51, 101]"]
    if without == GRADIENT:
        changes.append(f'strategy.kind="{Kind.GRADIENT}"')
    elif without != WHOLE:
        changes.append(f'strategy.without=["{without}"]')
    with TemporaryDirectory() as folder:
        trainer = begin(f"presets/native-{variant}.toml", folder, changes)
        trainer.run(interrupt=Spent(minutes))
        policy = load(Path(folder) / "policy.json")
    return {"generations": trainer.generation, "costs": judge(policy, count)}


def percent(costs: dict[str, list[float]], whole: dict[str, list[float]]) -> dict[str, float]:
    """By how much searches cost more than those of the whole policy, by what they are."""
    return {what: 100 * float((np.array(costs[what]) / whole[what] - 1).mean()) for what in whole}


def mean_and_error(values: list[float]) -> tuple[float, float | None]:
    """The mean and its standard error, of which a single value says nothing."""
    error = (
        None if len(values) < 2 else round(float(np.std(values, ddof=1) / len(values) ** 0.5), 3)
    )
    return round(float(np.mean(values)), 3), error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", type=Variant, choices=list(Variant), default=Variant.LIFO)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of the evolutions")
    # No run of these has a network, or looks around: there is nothing that could be left out.
    choices = [WHOLE, GRADIENT, *(part for part in Part if part not in (Part.OUTLOOK, Part.BRIDGE))]
    parser.add_argument("--only", nargs="+", choices=choices, default=choices)
    arguments = parser.parse_args()
    # What must be equal for two lines to be comparable, the preset's tasks among it.
    tasks = asdict(read_preset(f"presets/native-{arguments.variant}.toml").tasks)
    del tasks["seed"]
    asked = {
        "variant": str(arguments.variant),
        "minutes": arguments.minutes,
        "count": arguments.count,
        "tasks": tasks,
    }
    asked = json.loads(json.dumps(asked))  # as a line gives it back
    done: dict[tuple[str, int], dict[str, list[float]]] = {}
    if arguments.out.exists():
        lines = map(json.loads, arguments.out.read_text().splitlines())
        done = {
            (line["without"], line["seed"]): line["costs"]
            for line in lines
            if {name: line.get(name) for name in asked} == asked
        }
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        runs = {
            (str(name), seed): pool.submit(
                *(ablate, arguments.variant.value, str(name)),
                *(arguments.minutes, arguments.count, seed),
            )
            for seed in dict.fromkeys(arguments.seeds)
            for name in arguments.only
            if (str(name), seed) not in done
        }
        for (name, seed), run in runs.items():
            result = run.result()
            line = {"without": name, "seed": seed, **asked, **result, "hardware": hardware()}
            with arguments.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            done[name, seed] = result["costs"]  # type: ignore[assignment]
            print(name, seed, result["generations"], flush=True)
    table: dict[str, object] = {}
    for name in dict.fromkeys(name for name, _ in done):
        found = [
            percent(costs, done[WHOLE, seed])
            for (other, seed), costs in done.items()
            if other == name and (WHOLE, seed) in done
        ]
        table[name] = {"seeds": len(found)} | {
            what: mean_and_error([each[what] for each in found]) for what in (found or [{}])[0]
        }
    print(json.dumps({"percent": table, "hardware": hardware()}, indent=1))


if __name__ == "__main__":
    main()

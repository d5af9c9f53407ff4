"""Speed of training: transitions learned from per second; prints one JSON object.

A transition is one step of one tour. An update is what the trainer does between two looks at the clock: a
snapshot of the policy, a rollout of 5 steps and kappa = 3 passes over it. Three things are measured: the
fused path with one thread and two; the same against the plain path (batched tensors, formulas as written),
in turns, at N = 51, D = 64; and two data-parallel processes of one thread against one process of two, in
turns, with the same number of tours. The shortest of several updates counts.

Run: ``python benchmarks/training_speed.py [--nodes 21 51 101] [--repeats 3] [--batch 64]``

Without 51 among the nodes, paths are compared at the first of them; processes are compared up to N = 51.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from hardware import hardware
from policy_speed import interleaved, threads
from torch import distributed, multiprocessing

from n2s.model import Decision, FastPolicy, Observation, Policy, PolicyConfig, plain
from n2s.problem import Variant, random_tours
from n2s.train.config import PPO, Data, Run
from n2s.train.learner import ActorCritic, Learner
from n2s.train.rollout import Rollout
from n2s.train.starts import draw_points, search_state

CPU = torch.device("cpu")
COMPARED = 51
WIDTHS = (64, 128)
BATCH = {21: 128, 51: 64, 101: 32}
"""Tours of an update, as in the presets for CPUs."""


class PlainPolicy:
    """Decides by batched tensors."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        return self.policy.act(observation, uniforms, backend=plain)


class Training:
    """One batch of episodes; every call is an update."""

    def __init__(
        self,
        nodes: int,
        config: PolicyConfig,
        batch: int,
        backend: ModuleType | None = None,
        parallel: bool = False,
        seed: int = 1,
    ) -> None:
        ppo = PPO()
        torch.manual_seed(0)
        self.backend = backend
        self.generator = np.random.default_rng(seed)
        self.learner = Learner(ActorCritic(config), ppo, Run().part, CPU, parallel, backend)
        data = Data(sizes=(nodes,), batch=(batch,))
        points = draw_points(data, 0, self.generator)
        tours = random_tours(nodes // 2, Variant.PDTSP, batch, self.generator)
        self.state = search_state(Variant.PDTSP, points, tours)
        self.rollout = Rollout(batch, nodes, ppo.n_step, CPU)
        self.transitions = batch * ppo.n_step

    def __call__(self) -> None:
        policy = self.learner.networks.policy
        decider = FastPolicy(policy) if self.backend is None else PlainPolicy(policy)
        self.rollout.collect(self.state, decider, self.generator)
        self.learner.update(self.rollout)


def fused_speed(nodes: int, width: int, batch: int, repeats: int) -> dict[str, float]:
    """Transitions per second of the fused path, one thread and two."""
    training = Training(nodes, PolicyConfig(width=width), batch)
    result = {}
    for count, name in ((1, "1_thread"), (2, "2_threads")):
        threads(count)
        seconds = interleaved({name: training}, repeats)[name]
        result[name] = round(training.transitions / seconds, 1)
    return result


def compared_speed(nodes: int, batch: int, costs: bool, repeats: int) -> dict[str, float]:
    """Transitions per second of both paths in turns, D = 64, one thread and two."""
    config = PolicyConfig(width=64, costs=costs)
    jobs = {
        "plain": Training(nodes, config, batch, plain),
        "fused": Training(nodes, config, batch),
    }
    result = {}
    for count, suffix in ((1, ""), (2, "_2_threads")):
        threads(count)
        seconds = interleaved(dict(jobs), repeats)
        result |= {
            f"{name}{suffix}": round(jobs[name].transitions / spent, 1)
            for name, spent in seconds.items()
        }
        result[f"ratio{suffix}"] = round(seconds["plain"] / seconds["fused"], 2)
    return result


def process_speed(nodes: int, batch: int, repeats: int) -> dict[str, float]:
    """Transitions per second of two processes of one thread and of one of two, D = 64."""
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(_process, (nodes, batch, repeats, folder), nprocs=2)
        result: dict[str, float] = json.loads((Path(folder) / "result").read_text())
    return result


def _process(rank: int, nodes: int, batch: int, repeats: int, folder: str) -> None:
    """One of the two; while the first one trains alone with two threads, the second one waits."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    config = PolicyConfig(width=64)
    half = Training(nodes, config, batch // 2, parallel=True, seed=rank)
    whole = Training(nodes, config, batch // 2 * 2)
    best = {"2_processes": float("inf"), "1_process_2_threads": float("inf")}
    for turn in range(repeats + 1):  # the first is for warming up
        for name in best:
            together = name == "2_processes"
            threads(1 if together else 2)
            distributed.barrier()
            start = time.perf_counter()
            if together:
                half()
            elif rank == 0:
                whole()
            distributed.barrier()
            if turn:
                best[name] = min(best[name], time.perf_counter() - start)
    if rank == 0:
        speed = {name: round(whole.transitions / seconds, 1) for name, seconds in best.items()}
        speed["ratio"] = round(best["1_process_2_threads"] / best["2_processes"], 2)
        (Path(folder) / "result").write_text(json.dumps(speed))
    distributed.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=list(BATCH))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--batch", type=int, help="Tours of an update, even; default: as in the CPU presets."
    )
    arguments = parser.parse_args()
    nodes, repeats = arguments.nodes, arguments.repeats
    batch = {size: arguments.batch or BATCH.get(size, 64) for size in nodes}
    compared = COMPARED if COMPARED in nodes else nodes[0]
    report: dict[str, object] = {
        "hardware": hardware(),
        "tours_of_an_update": {str(size): batch[size] for size in nodes},
        "transitions_per_second": {
            str(size): {
                f"D_{width}": fused_speed(size, width, batch[size], repeats) for width in WIDTHS
            }
            for size in nodes
        },
        "plain_and_fused": {
            "nodes": compared,
            "width": 64,
            **{
                f"costs_{str(costs).lower()}": compared_speed(
                    compared, batch[compared], costs, repeats
                )
                for costs in (False, True)
            },
        },
        "processes_and_threads": {
            "width": 64,
            **{
                str(size): process_speed(size, batch[size], repeats)
                for size in nodes
                if size <= COMPARED
            },
        },
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

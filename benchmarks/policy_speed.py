"""Speed of the policy: tours stepped per second, and training updates; prints one JSON object.

The plain path (batched tensors, formulas as written) and the fast path run in turns, D = 128, A = n
copies in one batch; the shortest of several runs counts for each.

Run: ``python benchmarks/policy_speed.py [--nodes 21 51 101] [--repeats 5]``
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable

import numba
import numpy as np
import torch
from hardware import hardware

from n2s.model import FastPolicy, History, Observation, Policy, PolicyConfig, fused, plain
from n2s.problem import Variant, generate, random_tours


def observe(n: int, copies: int, variant: Variant) -> Observation:
    """``copies`` searches of one uniform instance, a few steps old."""
    rng = np.random.default_rng(n)
    instance = generate(n, seed=n, variant=variant)[0]
    history = History(copies, n, n)
    for _ in range(5):
        history.push(rng.integers(1, n + 1, copies))
    points = torch.from_numpy(np.array(instance.coordinates)).float()
    return Observation(
        variant=variant.code,
        points=points.expand(copies, -1, -1).contiguous(),
        tours=random_tours(n, variant, copies, rng),
        frequency=history.frequency,
        recent=history.recent,
        best=torch.ones(copies),
        costs=instance.costs[None],
    )


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Shortest seconds of each job, run in turns so that all meet the same neighbours."""
    best = dict.fromkeys(jobs, float("inf"))
    for job in jobs.values():
        job()
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def threads(count: int) -> None:
    torch.set_num_threads(count)
    numba.set_num_threads(count)


def search_speed(nodes: int, variant: Variant, repeats: int) -> dict[str, float]:
    """Tours stepped per second by each path, one thread and two."""
    n = nodes // 2
    torch.manual_seed(0)
    policy = Policy()
    snapshot = FastPolicy(policy)
    observation = observe(n, n, variant)
    uniforms = torch.rand(n, 2, dtype=torch.float64)
    result = {}
    for count, suffix in ((1, ""), (2, "_2_threads")):
        threads(count)
        seconds = interleaved(
            {
                "plain": lambda: policy.act(observation, uniforms, backend=plain),
                "fast": lambda: snapshot.act(observation, uniforms),
            },
            repeats,
        )
        result |= {f"{name}{suffix}": round(n / s, 1) for name, s in seconds.items()}
    result["ratio"] = round(result["fast"] / result["plain"], 2)
    return result


def training_speed(
    nodes: int, variant: Variant, repeats: int, batch: int = 128
) -> dict[str, float]:
    """Forward and backward passes of ``batch`` transitions per second, D = 64."""
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(width=64))
    observation = observe(nodes // 2, batch, variant)
    decision = policy.act(observation, torch.rand(batch, 2, dtype=torch.float64))

    def update(backend: object) -> None:
        policy.zero_grad()
        policy.log_prob(observation, decision, backend=backend).log_prob.sum().backward()  # type: ignore[arg-type]

    result = {}
    for count, suffix in ((1, ""), (2, "_2_threads")):
        threads(count)
        jobs = {"plain": lambda: update(plain), "fused": lambda: update(fused)}
        seconds = interleaved(jobs, repeats)
        result |= {f"{name}{suffix}": round(1 / s, 2) for name, s in seconds.items()}
    result["ratio"] = round(result["fused"] / result["plain"], 2)
    return result


def megabytes_of_a_search() -> float:
    """Growth of the process by stepping 50 copies of 101 nodes, kernels compiled before."""
    threads(2)
    snapshot = FastPolicy(Policy())
    snapshot.act(observe(2, 2, Variant.PDTSP), torch.rand(2, 2, dtype=torch.float64))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    observation = observe(50, 50, Variant.PDTSP)
    for _ in range(3):
        snapshot.act(observation, torch.rand(50, 2, dtype=torch.float64))
    return round((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[21, 51, 101])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    memory = megabytes_of_a_search()
    report: dict[str, object] = {
        "hardware": hardware(),
        "width": 128,
        "megabytes_50_copies_of_101_nodes": memory,
        "tours_per_second": {
            variant.value: {
                str(nodes): search_speed(nodes, variant, arguments.repeats)
                for nodes in arguments.nodes
            }
            for variant in Variant
        },
        "training": {
            "updates_per_second": "forward and backward pass of 128 transitions, D = 64",
            **{variant.value: {"51": training_speed(51, variant, 5)} for variant in Variant},
        },
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

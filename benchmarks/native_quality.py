"""How good the native policy is: steps from a random tour, and seconds; prints one JSON object.

Uniform instances that no training has seen, one thread. Gaps are to the best cost that any run here found
for an instance, a long annealed search among them: that of the most seconds or, for instances beyond
``--long``, which do not get those, one of 3,000 n steps. The process is warm: kernels are loaded
before the first clock starts, so seconds are those of the search.

With ``--bridge CHECKPOINT`` a network's scores are further terms (``native+n2s``), with the weights that
``--policy`` gives them; the passes of the network are part of its seconds.

Run: ``python benchmarks/native_quality.py --variant lifo [--nodes 21 51 101 201] [--count 100]``
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from hardware import hardware

import n2s
from n2s.problem import Instance, Variant, generate

POLICIES = ("native", "native+n2s")
BRIDGE: dict[str, object] = {}
"""The network of native+n2s, and the native policy that weighs its scores."""


def solve(instance: Instance, method: str, seed: int, **budget: float) -> tuple[float, float, int]:
    """(cost, seconds, steps) of one search with one thread."""
    more = {"start": "random"} if "steps" in budget and method in POLICIES else {}
    if method == "native+n2s":
        more |= BRIDGE
    elif method == "native" and "native" in BRIDGE:
        more["checkpoint"] = BRIDGE["native"]
    found = n2s.solve(instance, method=method, seed=seed, threads=1, **budget, **more)  # type: ignore[arg-type]
    return found.cost, found.seconds, found.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", type=Variant, choices=list(Variant), default=Variant.PDTSP)
    parser.add_argument("--nodes", type=int, nargs="+", default=[21, 51, 101, 201])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--steps", type=int, nargs="*", default=[1000, 3000])
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 5.0])
    parser.add_argument("--long", type=int, default=100, help="instances that get the most seconds")
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--bridge", help="a network (.safetensors): adds native+n2s")
    parser.add_argument("--policy", help="the native policy (.json) of native and native+n2s")
    arguments = parser.parse_args()
    methods = ["native", "anneal"]
    if arguments.policy:
        BRIDGE["native"] = arguments.policy
    if arguments.bridge:
        methods.insert(1, "native+n2s")
        BRIDGE["checkpoint"] = load_network(arguments.bridge, arguments.variant)
    result: dict[str, object] = {
        "hardware": hardware(),
        "variant": arguments.variant,
        "count": arguments.count,
        "seed": arguments.seed,
    }
    began = time.monotonic()
    fewest = min(arguments.seconds, default=0.0)
    for nodes in arguments.nodes:
        instances = generate(nodes // 2, arguments.count, arguments.seed + nodes, arguments.variant)
        budgets: list[tuple[str, str, dict[str, float]]] = [
            (f"{method}, {steps} steps", method, {"steps": steps})
            for steps in arguments.steps
            for method in methods
            if method in POLICIES
        ]
        for seconds in arguments.seconds:
            for method in methods:
                budgets.append((f"{method}, {seconds:g} s", method, {"time_limit": seconds}))
        for method in methods:
            solve(instances[0], method, 0, steps=200)
            solve(instances[0], method, 0, time_limit=0.3)
        runs: dict[str, list[tuple[float, float, int]]] = {name: [] for name, _, _ in budgets}
        for index, instance in enumerate(instances):
            for name, method, budget in budgets:
                if index < arguments.long or budget.get("time_limit", 0) <= fewest:
                    runs[name].append(solve(instance, method, index, **budget))
            if index % 10 == 9:
                print(f"{time.monotonic() - began:7.1f} s  {nodes}: {index + 1}", file=sys.stderr)
        # Where nobody had more seconds than the least, a long annealed search says what is known.
        lacking = arguments.long if len(set(arguments.seconds)) > 1 else 0
        best = np.array(
            [
                min(
                    [run[index][0] for run in runs.values() if index < len(run)]
                    + ([] if index < lacking else [reference(instance)])
                )
                for index, instance in enumerate(instances)
            ]
        )
        result[str(nodes)] = {name: summary(run, best) for name, run in runs.items() if run}
    print(json.dumps(result, indent=1))


def load_network(name: str, variant: Variant) -> object:
    """The network, loaded before any clock starts; it gets one core, too."""
    import numba
    import torch

    from n2s.search.bridging import network

    torch.set_num_threads(1)
    numba.set_num_threads(1)
    return network(name, variant, 0)


def reference(instance: Instance) -> float:
    """What the annealed search finds in its default number of steps."""
    return solve(instance, "anneal", 0, steps=3000 * instance.n)[0]


def summary(run: list[tuple[float, float, int]], best: np.ndarray) -> dict[str, float]:
    """Gaps in percent, and what a step takes."""
    costs, seconds, steps = (np.array(column) for column in zip(*run, strict=True))
    gaps = 100 * (costs / best[: len(costs)] - 1)
    return {
        "instances": len(run),
        "mean_percent": round(float(gaps.mean()), 4),
        "standard_error": round(float(gaps.std() / len(gaps) ** 0.5), 4),
        "worst_percent": round(float(gaps.max()), 3),
        "best": round(float((gaps < 1e-6).mean()), 3),
        "seconds": round(float(seconds.mean()), 3),
        "microseconds_per_step": round(float(1e6 * seconds.sum() / steps.sum()), 2),
    }


if __name__ == "__main__":
    main()

"""How a step of the native policy grows with the tour, and what long tours cost; prints one JSON object.

Growth: processor time a step of one chain, in calls of as many steps as the search makes, from a greedy
tour to a cold one, on the linked tours that are used from 400 nodes on and, up to ``--dense`` nodes, on
those that look at every gap. The growth exponent is the slope of log time over log nodes from 1,001 on.
Quality: uniform instances, the same seconds for ``native`` and ``anneal``, one thread, a warm process.

Run: ``taskset -c 1 python benchmarks/native_scaling.py [--variant lifo] [--seconds 10] [--count 3]``
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

import numpy as np
from hardware import hardware

import n2s
from n2s.local import Landscape, Outset, ShortTours
from n2s.local.evolve import CHUNK
from n2s.local.landscape import LongTours
from n2s.native import LinkedNativeChain, NativeChain, NativePolicy, find
from n2s.problem import Instance, Variant, generate

PARTS = 5
"""Calls a chain; the same work is timed again, and the least time counts."""


def step_times(
    land: Landscape, kind: type[NativeChain | LinkedNativeChain], policy: NativePolicy, repeat: int
) -> float:
    """Microseconds of the processor a step: of chains that do the same, the fastest."""
    start = land.start(np.random.default_rng(1))
    outset = Outset(start, 1, land.edge(start), False, 1000.0 * land.n, True)
    kind(land, outset, policy).advance(2, 0.0, 0.1)
    least = math.inf
    for _ in range(repeat):
        chain = kind(land, outset, policy)
        began = time.process_time()
        for part in range(PARTS):
            chain.advance(CHUNK, part / PARTS, (part + 1) / PARTS)
        least = min(least, time.process_time() - began)
    return 1e6 * least / (PARTS * CHUNK)


def exponent(times: dict[int, float]) -> float | None:
    """Slope of log time over log nodes."""
    nodes = [size for size in times if size >= 1001]
    if len(nodes) < 2:
        return None
    slope = np.polyfit(np.log(nodes), np.log([times[size] for size in nodes]), 1)[0]
    return round(float(slope), 3)


def growth(policy: NativePolicy, sizes: list[int], dense: int, seed: int, repeat: int) -> dict:
    """Microseconds a step by nodes, and the growth exponents."""
    variant = policy.variant
    linked, short = {}, {}
    for nodes in sizes:
        instance = generate(nodes // 2, 1, seed + nodes, variant)[0]
        linked[nodes] = round(step_times(LongTours(instance), LinkedNativeChain, policy, repeat), 2)
        if nodes <= dense:
            short[nodes] = round(step_times(ShortTours(instance), NativeChain, policy, repeat), 2)
        print(f"{variant} {nodes}: {linked[nodes]} {short.get(nodes)}", file=sys.stderr)
    return {
        "linked_microseconds_per_step": linked,
        "dense_microseconds_per_step": short,
        "linked_exponent_from_1001": exponent(linked),
        "dense_exponent_from_1001": exponent(short),
    }


def solve(instance: Instance, method: str, seed: int, **budget: float) -> tuple[float, int]:
    """(cost, steps) of one search with one thread."""
    found = n2s.solve(instance, method=method, seed=seed, threads=1, **budget)  # type: ignore[arg-type]
    return found.cost, found.steps


def quality(variant: Variant, nodes: int, count: int, seed: int, seconds: float) -> dict:
    """Costs of both methods, and by how many percent native is longer."""
    instances = generate(nodes // 2, count, seed + nodes, variant)
    runs: dict[str, list[tuple[float, int]]] = {"native": [], "anneal": []}
    for method in runs:
        solve(instances[0], method, 0, steps=20)
        solve(instances[0], method, 0, time_limit=0.5)
    for index, instance in enumerate(instances):
        for method, found in runs.items():
            found.append(solve(instance, method, index, time_limit=seconds))
        print(f"{variant} {nodes}: {[found[-1] for found in runs.values()]}", file=sys.stderr)
    native, anneal = (np.array([cost for cost, _ in runs[m]]) for m in ("native", "anneal"))
    more = 100 * (native / anneal - 1)
    return {
        "seconds": seconds,
        "native_costs": native.round(4).tolist(),
        "anneal_costs": anneal.round(4).tolist(),
        "native_steps": [steps for _, steps in runs["native"]],
        "anneal_steps": [steps for _, steps in runs["anneal"]],
        "native_longer_percent": more.round(3).tolist(),
        "mean_percent": round(float(more.mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", type=Variant, choices=list(Variant), nargs="+")
    parser.add_argument(
        "--nodes", type=int, nargs="*", default=[101, 201, 501, 1001, 2001, 5001, 10001]
    )
    parser.add_argument("--policy", help="whose steps are timed (default: the shipped one)")
    parser.add_argument("--dense", type=int, default=2001, help="most nodes that look at every gap")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quality", type=int, nargs="*", default=[1001, 5001])
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=20261116)
    arguments = parser.parse_args()
    result: dict[str, object] = {"hardware": hardware(), "seed": arguments.seed}
    for variant in arguments.variant or list(Variant):
        result[variant.value] = {
            "growth": growth(
                *(find(arguments.policy, variant), arguments.nodes, arguments.dense),
                *(arguments.seed, arguments.repeat),
            ),
            "quality": {
                str(nodes): quality(
                    variant, nodes, arguments.count, arguments.seed, arguments.seconds
                )
                for nodes in arguments.quality
            },
        }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

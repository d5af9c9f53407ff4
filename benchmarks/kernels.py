"""Speed of the kernels and of instance files, one thread; prints one JSON object.

Run: ``python benchmarks/kernels.py [--nodes 101] [--batch 1000]``
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from hardware import hardware

from n2s import formats, kernels
from n2s.problem import Variant, generate, random_tours

REPEATS = 7


def best_seconds(job: Callable[[], object]) -> float:
    """Shortest of several runs, after one that compiles: the least disturbed by neighbours."""
    job()
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def kernel_microseconds(nodes: int, batch: int) -> dict[str, dict[str, float]]:
    """Microseconds a tour for every kernel and variant."""
    n = nodes // 2
    rng = np.random.default_rng(1)
    costs = np.stack([instance.costs for instance in generate(n, count=8, seed=1)])
    batch -= batch % len(costs)
    requests = rng.integers(1, n + 1, batch)
    temperatures = np.full(batch, 0.25 / np.sqrt(nodes))
    uniforms = rng.random((batch, 2))
    result: dict[str, dict[str, float]] = {}
    for variant in Variant:
        tours = random_tours(n, variant, batch, rng)
        rests = kernels.remove_requests(tours, requests)
        code = variant.code
        j, k, _ = kernels.best_reinsertion(code, costs, rests, requests)
        jobs: dict[str, Callable[[], object]] = {
            "apply_moves": lambda: kernels.apply_moves(tours, requests, j, k),
            "positions": lambda: kernels.positions(tours),
            "tour_costs": lambda: kernels.tour_costs(costs, tours),
            "stack_tops": lambda: kernels.stack_tops(tours),
            "removal_gains": lambda: kernels.removal_gains(costs, tours),
            "feasible_mask": lambda: kernels.feasible_mask(code, rests),
            "feasible_pairs": lambda: kernels.feasible_pairs(code, rests),
            "best_reinsertion": lambda: kernels.best_reinsertion(code, costs, rests, requests),
            "heat_bath_reinsertion": lambda: kernels.heat_bath_reinsertion(
                code, costs, rests, requests, temperatures, uniforms
            ),
        }
        result[variant.value] = {
            name: round(best_seconds(job) / batch * 1e6, 3) for name, job in jobs.items()
        }
    return result


def file_seconds(nodes: int, count: int) -> dict[str, float]:
    """Seconds to write and to read ``count`` generated instances as .npz."""
    instances = generate(nodes // 2, count=count, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.npz"
        write = best_seconds(lambda: formats.write(instances, path))
        read = best_seconds(lambda: formats.read_many(path))
    return {"write": round(write, 3), "read": round(read, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=101)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--count", type=int, default=10_000)
    arguments = parser.parse_args()
    numba.set_num_threads(1)
    print(
        json.dumps(
            {
                "hardware": hardware(),
                "threads": 1,
                "nodes": arguments.nodes,
                "microseconds_per_tour": kernel_microseconds(arguments.nodes, arguments.batch),
                "npz_seconds": {
                    "instances": arguments.count,
                    **file_seconds(arguments.nodes, arguments.count),
                },
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()

"""What the search loop costs on top of the bare policy step; prints one JSON object.

Both run in turns on the same state: ``FastPolicy.act`` alone, and a whole step of the loop (observe, draw
numbers, act, apply, remember).

Run: ``python benchmarks/search_overhead.py [--nodes 51 101] [--steps 6]``
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from hardware import hardware

from n2s.model import FastPolicy, Policy
from n2s.problem import Variant, generate, random_tours
from n2s.search.interrupt import Interrupt
from n2s.search.loop import run
from n2s.search.state import SearchState
from n2s.search.stop import Steps

ROUNDS = 25  # short ones, the shortest counts: neighbours on a shared machine come and go


def overhead(nodes: int, variant: Variant, steps: int) -> dict[str, float]:
    """Milliseconds of a bare step and of a step of the loop, N2S-A with n copies, D = 128."""
    n = nodes // 2
    instance = generate(n, seed=1, variant=variant)[0]
    rng = np.random.default_rng(1)
    torch.manual_seed(0)
    policy = FastPolicy(Policy())
    points = np.repeat(np.array(instance.coordinates)[None], n, 0)
    tours = random_tours(n, variant, n, rng)
    state = SearchState(variant, points, instance.costs[None], np.ones(1), tours, window=n)
    bare = loop = float("inf")
    for _ in range(ROUNDS):
        run(state, policy, Steps(state.step + 1), [rng], time.monotonic(), Interrupt())
        observation = state.observe()
        uniforms = torch.from_numpy(rng.random((n, 2)))
        begun = time.perf_counter()
        for _ in range(steps):
            policy.act(observation, uniforms)
        bare = min(bare, (time.perf_counter() - begun) / steps)
        begun = time.perf_counter()
        run(state, policy, Steps(state.step + steps), [rng], time.monotonic(), Interrupt())
        loop = min(loop, (time.perf_counter() - begun) / steps)
    return {
        "bare_ms": round(bare * 1e3, 3),
        "loop_ms": round(loop * 1e3, 3),
        "overhead_percent": round(100 * (loop / bare - 1), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[51, 101])
    parser.add_argument("--steps", type=int, default=6)
    arguments = parser.parse_args()
    print(
        json.dumps(
            {
                "hardware": hardware(),
                **{
                    variant.value: {
                        str(nodes): overhead(nodes, variant, arguments.steps)
                        for nodes in arguments.nodes
                    }
                    for variant in Variant
                },
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()

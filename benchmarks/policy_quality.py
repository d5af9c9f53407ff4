"""How good a trained network is: N2S and N2S-A by steps, as in the paper's tables; prints one JSON object.

Uniform instances that no training has seen, searched from random tours. Gaps are to the best cost known:
the default solver's with its own seconds, LKH-3 where asked for, or anything these runs found. References
are kept in a file, so that several policies are measured against the same ones.

Run: ``python benchmarks/policy_quality.py --variant lifo --checkpoint FILE --references FILE [--nodes 21 51
101] [--count 100] [--n2s 3000] [--augmented 1000 --copied 10] [--lkh 10]``
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from hardware import hardware

import n2s
from n2s import peers
from n2s.formats.registry import store
from n2s.model import Policy, load
from n2s.problem import Instance, Variant, generate
from n2s.search.library import NamedPolicy, find

TRIALS = 10_000
"""Of LKH-3, as the paper's tables have it."""


class References:
    """The best costs known, by instance, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, dict[str, float]] = (
            json.loads(path.read_text()) if path.exists() else {}
        )

    def of(self, key: str, name: str, make) -> float:  # type: ignore[no-untyped-def]
        """What a method found for an instance, run if nobody has."""
        entry = self.known.setdefault(key, {})
        if name not in entry:
            entry[name] = make()
            self.save()
        return entry[name]

    def lower(self, key: str, cost: float) -> float:
        """The best cost known, which ``cost`` may be."""
        entry = self.known[key]
        entry["found"] = min(cost, *entry.values())
        return entry["found"]

    def save(self) -> None:
        store(self.path, json.dumps(self.known, indent=0).encode())


def untrained(named: NamedPolicy, checkpoint: Path | str) -> NamedPolicy:
    """The same network with fresh weights."""
    torch.manual_seed(0)
    policy = Policy(named.policy.config)
    return NamedPolicy("untrained", policy, named.variants, named.sizes, "", f"not {checkpoint}")


def lkh(instance: Instance) -> float:
    """The cost that LKH-3 finds."""
    return peers.solve(instance, "lkh", trials=TRIALS, limit=600.0).cost


def summary(costs: np.ndarray, best: np.ndarray, seconds: float) -> dict[str, float]:
    gaps = 100 * (costs / best[: len(costs)] - 1)
    return {
        "instances": len(costs),
        "mean_cost": round(float(costs.mean()), 4),
        "mean_percent": round(float(gaps.mean()), 4),
        "standard_error": round(float(gaps.std() / len(gaps) ** 0.5), 4),
        "worst_percent": round(float(gaps.max()), 3),
        "seconds_an_instance": round(seconds / len(costs), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", type=Variant, choices=list(Variant), default=Variant.PDTSP)
    parser.add_argument("--checkpoint", required=True, help="a name or a file")
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--nodes", type=int, nargs="+", default=[21, 51, 101])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--n2s", type=int, default=3000, help="steps of N2S")
    parser.add_argument("--augmented", type=int, default=1000, help="steps of N2S-A")
    parser.add_argument("--copied", type=int, default=100, help="instances that N2S-A gets")
    parser.add_argument("--untrained", action="store_true", help="fresh weights beside it")
    parser.add_argument("--lkh", type=int, default=0, help="instances that LKH-3 gets")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the default solver")
    parser.add_argument("--seed", type=int, default=20261117)
    arguments = parser.parse_args()
    references = References(arguments.references)
    result: dict[str, object] = {
        "hardware": hardware(),
        "variant": arguments.variant,
        "checkpoint": arguments.checkpoint,
        "seed": arguments.seed,
    }
    if Path(arguments.checkpoint).exists():
        result["record"] = {
            k: v for k, v in load(arguments.checkpoint).record.items() if k != "config"
        }
    began = time.monotonic()
    for nodes in arguments.nodes:
        instances = generate(nodes // 2, arguments.count, arguments.seed + nodes, arguments.variant)
        keys = [f"{arguments.variant} {nodes} {arguments.seed} {i}" for i in range(len(instances))]
        for key, instance in zip(keys, instances, strict=True):
            references.of(
                *(key, f"auto {arguments.seconds:g} s"),
                lambda instance=instance: (
                    n2s.solve(instance, time_limit=arguments.seconds, threads=1).cost
                ),
            )
        rivals = np.array(
            [
                references.of(key, f"lkh {TRIALS}", lambda instance=instance: lkh(instance))
                for key, instance in list(zip(keys, instances, strict=True))[: arguments.lkh]
            ]
        )
        print(f"{time.monotonic() - began:7.1f} s  {nodes}: references", file=sys.stderr)
        trained = find(arguments.checkpoint, arguments.variant, nodes)
        policies = {"trained": trained}
        if arguments.untrained:
            policies["untrained"] = untrained(trained, arguments.checkpoint)
        runs: dict[str, tuple[np.ndarray, float]] = {}
        for name, policy in policies.items():
            for method, steps, count in (
                ("n2s", arguments.n2s, len(instances)),
                ("n2s-a", arguments.augmented, min(arguments.copied, len(instances))),
            ):
                if not steps or not count:
                    continue
                start = time.monotonic()
                solutions = n2s.solve_many(
                    instances[:count], method=method, steps=steps, checkpoint=policy
                )
                costs = np.array([solution.cost for solution in solutions])
                runs[f"{name}, {method}, {steps} steps"] = costs, time.monotonic() - start
                print(
                    f"{time.monotonic() - began:7.1f} s  {nodes}: {name} {method}", file=sys.stderr
                )
        for costs, _ in runs.values():
            for key, cost in zip(keys, costs.tolist(), strict=False):
                references.lower(key, cost)
        references.save()
        best = np.array([references.lower(key, np.inf) for key in keys])
        if len(rivals):
            runs[f"lkh, {TRIALS} trials"] = rivals, 0.0
        report = {name: summary(costs, best, spent) for name, (costs, spent) in runs.items()}
        if len(rivals):
            for name, (costs, _) in runs.items():
                both = min(len(rivals), len(costs))
                gap = 100 * (costs[:both] / rivals[:both] - 1).mean()
                report[name]["percent_to_lkh"] = round(float(gap), 4)
                report[name]["instances_with_lkh"] = both
        result[str(nodes)] = report
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

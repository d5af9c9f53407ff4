"""What each part of the native search is worth: every part off, equal time; prints one JSON object.

All settings run on the same uniform instances with the same seconds and one thread each, in turns, after
the kernels are compiled; gaps are to the best cost that any of them found.

Run: ``python benchmarks/solver_ablation.py [--nodes 101] [--count 20] [--seconds 1] [--variant lifo]``
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np
from hardware import hardware

from n2s.local import Landscape, Settings, Watch, landscape_of, search
from n2s.local.plan import settings_of
from n2s.problem import Variant, generate


def without(settings: Settings, variant: Variant) -> dict[str, Settings]:
    """The settings, and those with one part off."""
    strings, stretch, similar = settings.kinds
    parts = {
        "all": settings,
        "no strings": replace(settings, kinds=(0.0, stretch, similar)),
        "no stretches": replace(settings, kinds=(strings, 0.0, similar)),
        "no similar requests": replace(settings, kinds=(strings, stretch, 0.0)),
        "random order only": replace(settings, orders=1),
        "at most 8 requests": replace(settings, ruin=8),
        "at most 24 requests": replace(settings, ruin=24),
        "one long annealing": replace(settings, population=1),
        "no crossover": replace(settings, crossover=False),
        "first tours from warm": replace(settings, hot=settings.warm),
    }
    if variant is Variant.LIFO:
        parts["no block moves"] = replace(settings, blocks=0)
    return parts


def cost(land: Landscape, settings: Settings, seconds: float, seed: int) -> float:
    """Of the tour found within a time limit."""
    deadline = time.monotonic() + seconds
    watch = Watch(lambda done, best: time.monotonic() >= deadline, deadline=deadline)
    found, _, _ = search(land, watch, np.random.default_rng(seed), settings=settings)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=101)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--variant", type=Variant, choices=list(Variant), default=Variant.PDTSP)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    instances = generate(arguments.nodes // 2, arguments.count, arguments.seed, arguments.variant)
    lands = [landscape_of(instance) for instance in instances]
    parts = without(settings_of(arguments.variant), arguments.variant)
    search(
        lands[0], Watch(lambda done, best: False, steps=500), np.random.default_rng(0)
    )  # compiles
    cost(lands[0], parts["all"], 0.5, 0)  # against the clock, more is called
    costs = np.array(
        [
            [
                cost(land, settings, arguments.seconds, arguments.seed + index)
                for settings in parts.values()
            ]
            for index, land in enumerate(lands)
        ]
    )
    best = costs.min(1)
    gaps = 100 * (costs / best[:, None] - 1)
    result = {
        name: {
            "gap_percent": round(float(gaps[:, at].mean()), 3),
            "standard_error": round(float(gaps[:, at].std() / len(gaps) ** 0.5), 3),
            "worst_percent": round(float(gaps[:, at].max()), 2),
        }
        for at, name in enumerate(parts)
    }
    setting = {
        "nodes": arguments.nodes,
        "count": arguments.count,
        "seconds": arguments.seconds,
        "variant": arguments.variant.value,
    }
    print(json.dumps({"hardware": hardware(), **setting, "parts": result}, indent=1))


if __name__ == "__main__":
    main()

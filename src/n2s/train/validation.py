"""How good the policy is: the search's own code on a fixed set, against the best known costs."""

from __future__ import annotations

import copy

import numpy as np

from n2s import kernels
from n2s.model import Policy
from n2s.problem import Instance, generate, random_tours
from n2s.search.interrupt import Interrupt
from n2s.search.library import NamedPolicy
from n2s.search.options import Method
from n2s.search.solve import solve_many
from n2s.train.config import TrainConfig
from n2s.train.starts import annealed

REFERENCE_RUNS = 4
REFERENCE_SWEEPS = 500
"""Best of so many annealing runs of so many steps for each request: where best known costs begin."""


class Validator:
    """Fixed instances of every size, and the best cost that any search of the run has found for each."""

    def __init__(self, config: TrainConfig) -> None:
        self.settings = config.validation
        self.variant = config.data.variant
        self.distribution = config.data.distribution
        self.sizes = self.settings.sizes or config.data.sizes
        self.best_known: dict[int, list[float]] = {}

    def _instances(self, size: int) -> list[Instance]:
        settings = self.settings
        return generate(
            size // 2, settings.count, settings.seed + size, self.variant, self.distribution
        )

    def refer(self) -> None:
        """Find costs to compare with, by native annealing."""
        for size in self.sizes:
            generator = np.random.default_rng(self.settings.seed)
            costs = np.stack([instance.costs for instance in self._instances(size)])
            count = len(costs) * REFERENCE_RUNS
            tours = random_tours(size // 2, self.variant, count, generator)
            steps = np.full(count, REFERENCE_SWEEPS * (size // 2))
            found = annealed(self.variant, costs, tours, steps, generator)
            best = kernels.tour_costs(costs, found).reshape(len(costs), -1).min(1)
            self.best_known[size] = best.tolist()

    def measure(self, policy: Policy) -> dict[str, float]:
        """Mean cost and mean gap to the best known of every size after a search with ``policy``."""
        result = {}
        if next(policy.parameters()).device.type != "cpu":
            policy = copy.deepcopy(policy).cpu()  # where the search's points are
        for size in self.sizes:
            named = NamedPolicy("in training", policy, (self.variant,), (size,), "", "")
            solutions = solve_many(
                self._instances(size),
                method=Method.N2S,
                steps=self.settings.steps,
                seed=self.settings.seed,
                checkpoint=named,
                interrupt=Interrupt(),  # a wish to stop is the run's, and does not cut this short
            )
            found = np.array([solution.cost for solution in solutions])
            best = np.minimum(found, self.best_known[size])
            self.best_known[size] = best.tolist()
            result[f"cost_{size}"] = float(found.mean())
            result[f"gap_{size}"] = float((found / best - 1).mean())
        return result

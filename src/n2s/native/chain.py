"""A chain whose steps a native policy decides."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace

import numpy as np

from n2s.errors import InputError
from n2s.kernels.linked_native import run_linked_native
from n2s.kernels.native_chain import run_native
from n2s.kernels.native_decisions import builds, looks_around, rebuilt_share, rounds_of
from n2s.kernels.random import next_uniform
from n2s.kernels.unsettle import unsettle
from n2s.local import Chain, ChainMaker, Landscape, Outset, Settings, ShortTours
from n2s.local.plan import settings_of
from n2s.native.policy import NativePolicy
from n2s.native.price import in_singles
from n2s.problem import Variant
from n2s.problem.distance import FloatArray

WARM = 0.5
"""The progress at which a chain begins that gets a good tour."""
NEARLY = 1e-9
"""Of a step: what rounding may have left of it."""
LONG_AGO = 10
"""Before how many rounds over all requests each was taken out last, as far as a new chain knows."""


class PolicyChain(Chain):
    """The policy's memory beside the tour: when and how often requests were taken out."""

    def __init__(self, land: Landscape, outset: Outset, policy: NativePolicy) -> None:
        super().__init__(land, outset)
        self.theta = policy.theta
        self.scale = outset.scale
        self.timed = outset.timed
        self.first = WARM if outset.warm else 0.0
        self.build = bool(builds(policy.theta)) and not outset.warm
        self.budget = max(1.0, outset.steps / land.n)
        self.rounds, self.share, self.extra = 1, 1.0, 0.0
        if self.build and not outset.timed:
            # By the clock nobody knows how many steps there will be.
            self.rounds = int(rounds_of(policy.theta, self.budget))
            if self.rounds > 1:
                self.share = float(rebuilt_share(policy.theta))
                # The first round builds the whole tour and is longer by this part of the budget.
                self.extra = (1.0 - self.share) / self.budget
        self.whole = self.budget
        self.budget *= self._span(0)[1]
        self.round = 0
        # Of the round that is under way; the same arrays as the chain's as long as it is the first.
        self.round_costs, self.round_best = self.costs, self.best_tour
        self.times = np.full(land.n, -LONG_AGO * land.n)
        self.traces = np.zeros(land.n, np.float32)
        self.counters = np.zeros(3, np.int64)

    def _span(self, number: int) -> tuple[float, float]:
        """(begin, length) of a round as shares of the budget."""
        each = (1.0 - self.extra) / self.rounds
        return (self.extra + number * each, each) if number else (0.0, self.extra + each)

    @abstractmethod
    def _run(self, steps: int, progress: float, pace: float, toil: float) -> None:
        """Steps of the kernel, from a progress that grows by ``pace`` a step and ``toil`` a request."""

    def advance(self, steps: int, begin: float, end: float) -> None:
        """Steps of the policy."""
        left = 1.0 - self.first
        pace = (end - begin) / steps
        done = 0
        each = (1.0 - self.extra) / self.rounds
        while done < steps:
            # Where this step stands, and how many there are until the next round begins.
            share = begin + pace * done
            number = min(max(0, int((share - self.extra) / each + NEARLY)), self.rounds - 1)
            first, length = self._span(number)
            count = steps - done
            if number < self.rounds - 1 and pace > 0.0:
                ahead = (first + length - share) / pace
                count = min(count, max(1, math.ceil(ahead - NEARLY)))
            if number > self.round:
                self._begin_round(number, length)
            progress = max(0.0, (share - first) / length)
            self._run(count, self.first + left * progress, left * pace / length, 0.0)
            done += count
            if self.round_costs is not self.costs:
                self.costs[0] = self.round_costs[0]
                if self.round_costs[1] < self.costs[1]:
                    self.costs[1] = self.round_costs[1]
                    self.best_tour[:] = self.round_best

    def _begin_round(self, number: int, length: float) -> None:
        """Forget all but the tour and the best one, and which requests will be built anew."""
        n = self.land.n
        self.round = number
        self.budget = self.whole * length
        self.times[:] = -LONG_AGO * n
        self.traces[:] = 0.0
        self.counters[:] = 0
        if self.share < 1.0:
            draws = np.array([[next_uniform(self.state) for _ in range(n + 2)]])
            edges = np.full(1, self.scale)
            anew = unsettle(self.land.legs[None], self.share, edges, draws)[0]
            # What stays was put there long ago.
            self.counters[0] = LONG_AGO * n
            self.times[~anew] = 0
        self.round_costs = np.full(2, self.costs[0])
        self.round_best = self.tour.copy()

    def best_after_work(self, budget: float, step: float, request: float) -> tuple[float, int]:
        """(best cost, steps) once steps and requests, each at its price, have used up a budget."""
        left = 1.0 - self.first
        self._run(int(budget / step) + 1, self.first, left * step / budget, left * request / budget)
        return self.best, int(self.counters[0])


class NativeChain(PolicyChain):
    """Every request and every gap is looked at."""

    def __init__(self, land: Landscape, outset: Outset, policy: NativePolicy) -> None:
        if not isinstance(land, ShortTours):
            raise InputError(
                f"the native policy keeps a matrix, which {land.size} nodes do not allow"
            )
        super().__init__(land, outset, policy)
        self.short = land
        self.reach: FloatArray = land.reach
        self.bias = np.zeros(land.n, np.float32)

    def _run(self, steps: int, progress: float, pace: float, toil: float) -> None:
        self._steps(steps, progress, pace, toil)

    def _steps(self, steps: int, progress: float, pace: float, toil: float) -> float:
        """Steps from some progress on; the progress behind them."""
        land = self.short
        behind: float = run_native(
            land.variant.code,
            land.legs,
            self.reach,
            land.reach,
            land.near,
            land.alike,
            self.theta,
            self.bias,
            self.scale,
            self.tour,
            self.round_best,
            self.round_costs,
            self.times,
            self.traces,
            self.counters,
            self.state,
            steps,
            progress,
            pace,
            toil,
            self.budget,
            self.timed,
            self.build,
        )
        return behind


class LinkedNativeChain(PolicyChain):
    """A sample of the requests and the gaps beside near stops are looked at."""

    def __init__(self, land: Landscape, outset: Outset, policy: NativePolicy) -> None:
        if looks_around(policy.theta) or builds(policy.theta):
            raise InputError(
                f"the native policy looks at what every request could save elsewhere, or builds a tour "
                f"first, which {land.size} nodes do not allow; native-{policy.variant} does neither"
            )
        super().__init__(land, outset, policy)
        self.stamps = np.zeros(land.n, np.int64)

    def _run(self, steps: int, progress: float, pace: float, toil: float) -> None:
        land = self.land
        run_linked_native(
            land.variant.code,
            land.legs,
            land.near,
            land.alike,
            self.theta,
            self.scale,
            self.tour,
            self.best_tour,
            self.costs,
            self.times,
            self.traces,
            self.stamps,
            self.counters,
            self.state,
            steps,
            progress,
            pace,
            toil,
            self.budget,
            self.timed,
        )


def native_chains(policy: NativePolicy) -> ChainMaker:
    """Chains of a policy, as the landscape's tours are long or short."""

    def make(land: Landscape, outset: Outset) -> PolicyChain:
        kind = NativeChain if isinstance(land, ShortTours) else LinkedNativeChain
        return kind(land, in_singles(outset, policy, land.n), policy)

    return make


def native_settings(variant: Variant) -> Settings:
    """How the population is run: as for annealed chains, but small budgets go into one chain each."""
    return replace(settings_of(variant), alone=1.0)

"""A task: an instance, a tour to begin with or several, a budget. Its loss is what the best tour costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from n2s.evolve.config import Tasks, budgets_of
from n2s.evolve.problems import draw_instance
from n2s.local import Landscape, Outset, landscape_of
from n2s.local.chain import annealed
from n2s.local.plan import settings_of
from n2s.native import NativeChain, NativePolicy
from n2s.native.bridge import Bridge, BridgedChain
from n2s.native.price import step_price
from n2s.problem import Instance, random_tour
from n2s.problem.instance import IntArray

GOOD = 30
"""Annealed iterations for each request behind the start of a warm task."""
WARM_SHARE = 0.4
"""Of the tasks in which time counts."""

BridgeOf = Callable[[Instance, Landscape], Bridge]


@dataclass(frozen=True)
class Task:
    """One search, or copies of it of which the best counts."""

    land: Landscape
    start: IntArray
    scale: float
    seed: int
    steps: int = 0
    """The budget in steps, or 0."""
    work: int = 0
    """The budget in requests put back, or 0: then time counts."""
    warm: bool = False
    """Whether the start is a good tour."""
    bridge: Bridge | None = None
    """To the network whose scores are weighed, if there is one; what it takes is not counted as work."""
    others: tuple[tuple[IntArray, int], ...] = ()
    """Further tours to begin with, and their seeds: of the other copies."""

    def run(self, policy: NativePolicy) -> tuple[float, int]:
        """(cost of the best tour, steps made)."""
        searches = ((self.start, self.seed), *self.others)
        runs = [self._search(policy, start, seed) for start, seed in searches]
        return min(cost for cost, _ in runs), sum(steps for _, steps in runs)

    def _search(self, policy: NativePolicy, start: IntArray, seed: int) -> tuple[float, int]:
        """(cost of the best tour, steps made) of one search."""
        step = step_price(self.land.variant)
        expected = self.steps or self.work / (step + 1.0)
        outset = Outset(start, seed, self.scale, self.warm, expected, self.work > 0)
        if self.bridge is None:
            chain = NativeChain(self.land, outset, policy)
        else:
            chain = BridgedChain(self.land, outset, policy, self.bridge)
        if self.steps:
            chain.advance(self.steps, 0.0, 1.0)
            return chain.best, self.steps
        return chain.best_after_work(self.work, step, 1.0)


def scale_of(land: Landscape, generator: np.random.Generator) -> float:
    """The mean edge of a greedy tour, as the search takes it."""
    return land.edge(land.start(generator))


def task_of(
    instance: Instance,
    generator: np.random.Generator,
    steps: int = 0,
    work: int = 0,
    warm: bool = False,
    bridge_of: BridgeOf | None = None,
    copies: int = 1,
) -> Task:
    """Search an instance from a random tour if steps count, from a greedy or a good one if time does.

    Where steps count, there may be ``copies`` of the search, each from a tour of its own.
    """
    land = landscape_of(instance, dense=True)
    scale = scale_of(land, generator)
    start = random_tour(instance.n, instance.variant, generator) if steps else land.start(generator)
    seed = int(generator.integers(2**63))
    if warm:
        make = annealed(settings_of(instance.variant))
        chain = make(land, Outset(start, seed, scale, False, GOOD * land.n))
        chain.advance(GOOD * land.n, 0.0, 1.0)
        start = chain.best_tour
    bridge = None if bridge_of is None else bridge_of(instance, land)
    more = tuple(
        (random_tour(instance.n, instance.variant, generator), int(generator.integers(2**63)))
        for _ in range(copies - 1)
    )
    return Task(land, start, scale, seed, steps, work, warm, bridge, more)


def draw_tasks(config: Tasks, generation: int, bridge_of: BridgeOf | None = None) -> list[Task]:
    """The tasks of a generation: sizes, shapes and budgets each drawn evenly."""
    generator = np.random.default_rng([config.seed, generation])
    budgets = [(steps, 0, copies) for steps, copies in budgets_of(config.steps, config.copies)]
    budgets += [(0, work, 1) for work in config.work]
    tasks = []
    for index in range(config.count):
        steps, work, copies = budgets[(index + generation) % len(budgets)]
        size = config.sizes[int(generator.integers(len(config.sizes)))]
        shape = config.shapes[int(generator.integers(len(config.shapes)))]
        instance = draw_instance(shape, size, config.variant, generator)
        warm = work > 0 and bool(generator.random() < WARM_SHARE)
        tasks.append(task_of(instance, generator, steps, work, warm, bridge_of, copies))
    return tasks

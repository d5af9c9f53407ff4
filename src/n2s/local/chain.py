"""A chain: one tour that is changed step by step, and the best one it has come by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from n2s.local.landscape import Landscape
from n2s.local.plan import Settings
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray


@dataclass(frozen=True)
class Outset:
    """Where a chain begins."""

    tour: IntArray
    seed: int
    scale: float
    """A typical edge of the instance: temperatures are measured in it."""
    warm: bool
    """Whether the tour is a good one already, not to be melted down."""
    steps: float
    """How many the chain may expect to make."""
    timed: bool = False
    """Whether time is what counts, not steps."""


class Chain(ABC):
    """What all chains have; the current cost and the best one are ``costs`` (2,)."""

    def __init__(self, land: Landscape, outset: Outset) -> None:
        self.land = land
        self.tour = outset.tour.copy()
        self.best_tour = outset.tour.copy()
        cost = land.cost(self.tour)
        self.costs: FloatArray = np.array([cost, cost])
        self.state = np.array([outset.seed], np.uint64)

    @property
    def best(self) -> float:
        """Cost of the best tour."""
        return float(self.costs[1])

    @abstractmethod
    def advance(self, steps: int, begin: float, end: float) -> None:
        """Make some steps, while the chain's progress goes from ``begin`` to ``end`` (1 is its end)."""


ChainMaker = Callable[[Landscape, Outset], Chain]


class AnnealedChain(Chain):
    """Ruin and recreate while the temperature falls geometrically."""

    def __init__(self, land: Landscape, outset: Outset, settings: Settings) -> None:
        super().__init__(land, outset)
        self.settings = settings
        self.hot = outset.scale * (settings.warm if outset.warm else settings.hot)
        self.cold = outset.scale * settings.cold

    def advance(self, steps: int, begin: float, end: float) -> None:
        """Iterations of the landscape's own engine."""
        fall = self.cold / self.hot
        self.land.anneal(
            self.tour,
            self.best_tour,
            self.costs,
            self.state,
            steps,
            self.hot * fall**begin,
            fall ** ((end - begin) / steps),
            self.settings,
        )


def annealed(settings: Settings) -> ChainMaker:
    """Chains of the annealed search."""
    return lambda land, outset: AnnealedChain(land, outset, settings)

"""An instance as the native search sees it: costs, neighbours, and the engine that fits its size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from n2s.kernels.chain import run_chain, start_tour
from n2s.kernels.crossover import graft_block, reorder_stretch
from n2s.kernels.legs import nearest_stops, plane, route_cost, similar_requests
from n2s.kernels.linked_chain import run_linked_chain
from n2s.kernels.linked_start import start_long_tour
from n2s.local.plan import Settings
from n2s.local.reach import reach_of
from n2s.problem import Instance, Variant
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

NEIGHBOURS = 40
LONG = 400
"""Nodes from which on the tour is a linked list."""
LONG_RUIN = 16
"""Most requests taken out of a long tour at a time."""
LONG_NEIGHBOURS = 20
"""Places that a long tour is searched at."""
HUGE = 1e6
"""Typical arcs in an arc that stands for "never": sums of changes that hold one have lost their digits."""
MOST_MATRIX = 4000
"""Nodes beyond which no N x N matrix is kept."""


class Landscape(ABC):
    """What chains of one instance share; nothing in it changes."""

    def __init__(self, variant: Variant, legs: Any, n: int, neighbours: int) -> None:
        self.variant = variant
        self.legs = legs
        """An (N, N) matrix, or a plane on which arcs are measured."""
        self.n = n
        self.size = 2 * n + 1
        self.near: IntArray = nearest_stops(legs, neighbours)
        self.alike: IntArray = similar_requests(legs, n, neighbours)

    def cost(self, tour: IntArray) -> float:
        """Of a tour."""
        return float(route_cost(self.legs, tour))

    def edge(self, tour: IntArray) -> float:
        """The mean arc of a tour: what temperatures are measured in; never 0."""
        return self.cost(tour) / self.size or 1.0

    def child(self, a: IntArray, b: IntArray, generator: np.random.Generator) -> IntArray:
        """A tour that has something of both."""
        if self.variant is Variant.PDTSP:
            length = int(generator.integers(self.size // 4, 3 * self.size // 4 + 1))
            first = int(generator.integers(1, self.size - length + 1))
            return np.asarray(reorder_stretch(a, b, first, first + length))
        request = int(generator.integers(1, self.n + 1))
        return np.asarray(graft_block(self.legs, a, b, request))

    @abstractmethod
    def start(self, generator: np.random.Generator) -> IntArray:
        """A first tour: requests in random order, each at its cheapest place."""

    @abstractmethod
    def anneal(
        self,
        tour: IntArray,
        best_tour: IntArray,
        costs: FloatArray,
        state: Any,
        iterations: int,
        temperature: float,
        cooling: float,
        settings: Settings,
    ) -> None:
        """Some iterations of ruin and recreate on ``tour``, in place (``kernels.chain``)."""


class ShortTours(Landscape):
    """Every gap is looked at."""

    def __init__(self, instance: Instance) -> None:
        costs = np.ascontiguousarray(instance.costs)
        super().__init__(instance.variant, costs, instance.n, NEIGHBOURS)
        self.reach = costs if bool((costs == costs.T).all()) else reach_of(costs)
        self.careful = instance.matrix is not None and forbids(costs)

    def edge(self, tour: IntArray) -> float:
        """The mean arc of a tour, or of all arcs without those that mean "never"."""
        if not self.careful:
            return super().edge(tour)
        allowed = self.legs[self.legs <= HUGE * usual(self.legs)]
        return float(allowed.mean())

    def start(self, generator: np.random.Generator) -> IntArray:
        """A first tour: requests in random order, each at its cheapest place."""
        order = generator.permutation(self.n) + 1
        return np.asarray(start_tour(self.variant.code, self.legs, self.reach, order))

    def anneal(
        self,
        tour: IntArray,
        best_tour: IntArray,
        costs: FloatArray,
        state: Any,
        iterations: int,
        temperature: float,
        cooling: float,
        settings: Settings,
    ) -> None:
        """Some iterations of ruin and recreate on ``tour``, in place (``kernels.chain``)."""
        run_chain(
            self.variant.code,
            self.legs,
            self.reach,
            self.near,
            self.alike,
            np.empty(0),
            tour,
            best_tour,
            costs,
            state,
            iterations,
            temperature,
            cooling,
            min(self.n, settings.ruin),
            np.cumsum(settings.kinds) / np.sum(settings.kinds),
            settings.orders,
            settings.blocks if self.variant is Variant.LIFO else 0,
            self.careful,
        )


class LongTours(Landscape):
    """Only gaps beside near neighbours are looked at; a matrix is kept up to a limit."""

    def __init__(self, instance: Instance) -> None:
        kept = instance.matrix is not None or instance.size <= MOST_MATRIX
        legs = np.ascontiguousarray(instance.costs) if kept else plane(instance)
        super().__init__(instance.variant, legs, instance.n, LONG_NEIGHBOURS)

    def start(self, generator: np.random.Generator) -> IntArray:
        """A first tour: requests in random order, each at its cheapest place."""
        order = generator.permutation(self.n) + 1
        return np.asarray(start_long_tour(self.variant.code, self.legs, order))

    def anneal(
        self,
        tour: IntArray,
        best_tour: IntArray,
        costs: FloatArray,
        state: Any,
        iterations: int,
        temperature: float,
        cooling: float,
        settings: Settings,
    ) -> None:
        """Some iterations of ruin and recreate on ``tour``, in place (``kernels.linked_chain``)."""
        run_linked_chain(
            self.variant.code,
            self.legs,
            self.near,
            self.alike,
            np.empty(0),
            tour,
            best_tour,
            costs,
            state,
            iterations,
            temperature,
            cooling,
            min(self.n, settings.ruin, LONG_RUIN),
        )


def usual(costs: FloatArray) -> float:
    """An arc as others are: most stops may be at one place, and more than half of the arcs mean "never"."""
    paid = costs[costs > 0]
    return float(np.quantile(paid, 0.25)) if len(paid) else 0.0


def forbids(costs: FloatArray) -> bool:
    """Whether some arcs of a matrix mean "never"."""
    return bool(costs.max() > HUGE * usual(costs))


def landscape_of(instance: Instance, dense: bool = False) -> Landscape:
    """The landscape of an instance.

    Who asks for a ``dense`` one gets it as long as a matrix can be kept, and so does a matrix that forbids
    arcs: linked lists add costs up change by change.
    """
    if instance.matrix is not None and instance.size <= MOST_MATRIX:
        dense = dense or forbids(instance.matrix)
    if instance.size < LONG or (dense and instance.size <= MOST_MATRIX):
        return ShortTours(instance)
    return LongTours(instance)

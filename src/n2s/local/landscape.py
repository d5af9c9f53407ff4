"""An instance as the native search sees it: costs by row, neighbours, and the engine that fits its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from n2s.kernels.chain import run_chain, start_tour
from n2s.kernels.crossover import graft_block, reorder_stretch
from n2s.kernels.tours import tour_cost
from n2s.local.guide import Guide
from n2s.problem import Instance, Variant
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

NEIGHBOURS = 40


@dataclass(frozen=True)
class Landscape:
    """What chains of one instance share; nothing in it changes."""

    variant: Variant
    costs: FloatArray
    """(N, N)."""
    reach: FloatArray
    """(N, N) transposed, with a guide's terms."""
    near: IntArray
    alike: IntArray
    cumulative: FloatArray

    @property
    def size(self) -> int:
        """N."""
        return len(self.near)

    @property
    def n(self) -> int:
        """The number of requests."""
        return self.size // 2

    def cost(self, tour: IntArray) -> float:
        """Of a tour."""
        return float(tour_cost(self.costs, tour))

    def start(self, generator: np.random.Generator) -> IntArray:
        """A first tour: requests in random order, each at its cheapest place."""
        order = generator.permutation(self.n) + 1
        return np.asarray(start_tour(self.variant.code, self.costs, self.reach, order))

    def child(self, a: IntArray, b: IntArray, generator: np.random.Generator) -> IntArray:
        """A tour that has something of both."""
        size = self.size
        if self.variant is Variant.PDTSP:
            length = int(generator.integers(size // 4, 3 * size // 4 + 1))
            first = int(generator.integers(1, size - length + 1))
            return np.asarray(reorder_stretch(a, b, first, first + length))
        request = int(generator.integers(1, self.n + 1))
        return np.asarray(graft_block(self.costs, a, b, request))

    def anneal(
        self,
        tour: IntArray,
        best_tour: IntArray,
        costs: FloatArray,
        state: Any,
        iterations: int,
        temperature: float,
        cooling: float,
        largest: int,
    ) -> None:
        """Some iterations of ruin and recreate on ``tour``, in place (``kernels.chain``)."""
        run_chain(
            self.variant.code,
            self.costs,
            self.reach,
            self.near,
            self.alike,
            self.cumulative,
            tour,
            best_tour,
            costs,
            state,
            iterations,
            temperature,
            cooling,
            largest,
        )


def landscape(instance: Instance, guide: Guide | None = None) -> Landscape:
    """The landscape of an instance."""
    guide = guide or Guide()
    costs = np.ascontiguousarray(instance.costs)
    symmetric = guide.plain and bool((costs == costs.T).all())
    return Landscape(
        instance.variant,
        costs,
        costs if symmetric else guide.reach(costs),
        _near(costs),
        _alike(costs),
        guide.cumulative(instance.n),
    )


def _near(costs: FloatArray) -> IntArray:
    """(N, K) the nearest stops of every node, the depot never among them."""
    closeness = costs + costs.T
    np.fill_diagonal(closeness, np.inf)
    closeness[:, 0] = np.inf
    return _smallest(closeness, min(NEIGHBOURS, len(costs) - 2))


def _alike(costs: FloatArray) -> IntArray:
    """(n + 1, L) the requests whose pickups and deliveries lie near a request's own."""
    n = len(costs) // 2
    both = costs + costs.T
    apart = np.full((n + 1, n + 1), np.inf)
    apart[1:, 1:] = both[1 : n + 1, 1 : n + 1] + both[n + 1 :, n + 1 :]
    np.fill_diagonal(apart, np.inf)
    return _smallest(apart, min(NEIGHBOURS, n - 1))


def _smallest(values: FloatArray, count: int) -> IntArray:
    """(R, count) columns of the smallest values of every row, in order."""
    return np.ascontiguousarray(np.argsort(values, axis=1, kind="stable")[:, :count])

"""A batch of searches: tours, costs, history; and the one place where a move is applied."""

from __future__ import annotations

import numpy as np
import torch

from n2s import kernels
from n2s.model import Decision, History, Observation, Progress
from n2s.problem import Variant
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

CHANGING = (
    *("tours", "current", "best", "best_tours", "round_best", "improved_at"),
    *("used", "total", "given"),
)

SMALLEST = 1e-9
"""Of a typical edge: where all stops are at one place, nothing can be measured in edges."""


class SearchState:
    """B tours of I instances of the same size: every instance owns B / I consecutive tours.

    Parameters
    ----------
    points
        (B, N, 2) what the network sees, in the unit square.
    costs
        (I, N, N) the instances' own exact costs.
    scales
        (I,) factor from costs to distances between the points.
    tours
        (B, N) feasible tours to start from.
    window
        K, the number of removals the history remembers.
    total
        (B,) steps that each search's budget allows, as far as known; ``used`` is the share behind it.
    """

    def __init__(
        self,
        variant: Variant,
        points: FloatArray,
        costs: FloatArray,
        scales: FloatArray,
        tours: IntArray,
        window: int,
        total: FloatArray | None = None,
    ) -> None:
        batch, size = tours.shape
        copies = batch // len(costs)
        self.variant = variant
        self.costs = costs
        self.tours = tours
        self.step = 0
        self.current: FloatArray = kernels.tour_costs(costs, tours)
        self.best = self.current.copy()
        self.best_tours = tours.copy()
        self.round_best = self.current.copy()
        """The best costs of the round that is under way, which is all that policies see of the past."""
        self.given = np.zeros((batch, size // 2), bool)
        """Requests that were settled when the round began: in a tour that is worth something, all."""
        self.improved_at = np.zeros(batch, np.int64)
        self.first = 0.0
        """The share of the schedule that is skipped: good tours need no melting."""
        self.used = np.zeros(batch)
        self.total = np.maximum(np.full(batch, size) if total is None else total, 1.0)
        self._points = torch.from_numpy(np.ascontiguousarray(points, dtype=np.float32))
        self._scales = np.repeat(scales, copies)
        self._scaled = costs * scales[:, None, None]
        self._edges = np.repeat(_typical_edges(variant, self._scaled), copies)
        self._window = window
        self._history = History(batch, size // 2, window)

    def memory(self) -> dict[str, np.ndarray]:
        """Everything that steps change, by name: what a checkpoint of the search must hold."""
        kept = {name: getattr(self, name) for name in CHANGING}
        return {**kept, "step": np.array(self.step), **self._history.memory()}

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Go back to where :meth:`memory` was taken."""
        for name in CHANGING:
            setattr(self, name, memory[name].copy())
        self.step = int(memory["step"])
        self._history.recall(memory)

    def begin_round(self, share: float, draws: FloatArray) -> None:
        """Forget all but the tours and the best ones: what follows is a search of its own.

        About a ``share`` of the requests are to be built anew: around one of them, by uniform ``draws``
        (B, n + 2), which a share of 1 needs none of.
        """
        batch, size = self.tours.shape
        self.given[:] = False
        if share < 1.0:
            self.given = ~kernels.unsettle(self._scaled, share, self._edges, draws)
        self.round_best = self.current.copy()
        self.improved_at[:] = self.step
        self._history = History(batch, size // 2, self._window)

    def observe(self) -> Observation:
        """What the policy sees now."""
        above = (self.current - self.round_best) * self._scales
        return Observation(
            variant=self.variant.code,
            points=self._points,
            tours=self.tours,
            frequency=self._history.frequency,
            recent=self._history.recent,
            best=torch.from_numpy((self.round_best * self._scales).astype(np.float32)),
            costs=self._scaled,
            progress=Progress(
                age=self._history.age,
                trace=self._history.trace,
                above=torch.from_numpy(above),
                stalled=torch.from_numpy((self.step - self.improved_at).astype(np.float64)),
                edge=torch.from_numpy(self._edges),
                used=torch.from_numpy(np.minimum(self.used, 1.0)),
                total=torch.from_numpy(self.total.copy()),
                settled=torch.from_numpy(self._history.removed | self.given),
            ),
        )

    def apply(self, decision: Decision) -> FloatArray:
        """Make the moves, every one accepted; returns the rewards (B,): drops of the best costs."""
        self.tours = kernels.apply_moves(self.tours, decision.requests, decision.j, decision.k)
        self.current = kernels.tour_costs(self.costs, self.tours)
        self._history.push(decision.requests)
        self.step += 1
        self.used = self.used + 1.0 / self.total
        better = self.current < self.best - 1e-12 * np.abs(self.best)
        reward = np.where(better, self.best - self.current, 0.0)
        self.best = np.where(better, self.current, self.best)
        self.best_tours[better] = self.tours[better]
        better = self.current < self.round_best - 1e-12 * np.abs(self.round_best)
        self.round_best = np.where(better, self.current, self.round_best)
        self.improved_at[better] = self.step
        return reward


def _typical_edges(variant: Variant, costs: FloatArray) -> FloatArray:
    """(I,) mean edges of greedy tours: the local spacing of the nodes, whatever their extent."""
    instances, size, _ = costs.shape
    # The same order for all: an instance's search must not depend on its companions.
    orders = np.tile(np.random.default_rng(0).permutation(size // 2) + 1, (instances, 1))
    tours = kernels.greedy_tours(variant.code, costs, orders)
    edges: FloatArray = kernels.tour_costs(costs, tours) / size
    return np.maximum(edges, SMALLEST)

"""Strategies: ask for candidates, tell how they did. Exactly continued from what they say of themselves."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from cmaes import CMA, SepCMA

from n2s.evolve.config import Kind, Strategy
from n2s.problem.distance import FloatArray

Memory = dict[str, Any]
"""Numbers and (nested) lists of them, as JSON holds them."""


class Evolution(Protocol):
    """What a trainer needs of a strategy."""

    @property
    def mean(self) -> FloatArray:
        """Where it stands."""

    @property
    def spread(self) -> float:
        """How far from there candidates are."""

    def ask(self, seed: int) -> FloatArray:
        """(population, P) candidates of a generation."""

    def tell(self, candidates: FloatArray, losses: FloatArray) -> None:
        """Learn from the candidates; less is better."""

    def memory(self) -> Memory:
        """Everything it knows."""

    def recall(self, memory: Memory) -> None:
        """Go on from what :meth:`memory` said."""


class CovarianceMatrix:
    """CMA-ES. Its random numbers are seeded anew in every generation: nothing else has to be kept."""

    def __init__(self, config: Strategy, start: FloatArray) -> None:
        kind = CMA if config.kind is Kind.CMA else SepCMA
        self._strategy = kind(
            mean=start, sigma=config.sigma, population_size=config.population, seed=0
        )
        # Made without values; nothing here reads it, but two equal states should be equal.
        self._strategy._funhist_values[:] = 0.0

    @property
    def mean(self) -> FloatArray:
        """Where it stands."""
        return np.asarray(self._strategy._mean)

    @property
    def spread(self) -> float:
        """How far from there candidates are."""
        return float(self._strategy._sigma)

    def ask(self, seed: int) -> FloatArray:
        """Candidates of a generation."""
        self._strategy.reseed_rng(seed)
        return np.array([self._strategy.ask() for _ in range(self._strategy.population_size)])

    def tell(self, candidates: FloatArray, losses: FloatArray) -> None:
        """Learn from the candidates."""
        self._strategy.tell(list(zip(candidates, losses.tolist(), strict=True)))
        if isinstance(self._strategy, CMA):
            # Its memory holds one half of the matrix, which rounding has made unlike the other.
            self._strategy._C = (self._strategy._C + self._strategy._C.T) / 2

    def memory(self) -> Memory:
        """Everything it knows."""
        state = self._strategy.__getstate__()
        return {name: _plain(value) for name, value in state.items()}

    def recall(self, memory: Memory) -> None:
        """Go on from what :meth:`memory` said."""
        if memory.keys() != self.memory().keys():
            raise ValueError("the strategy remembers other things")
        state = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in memory.items()
        }
        self._strategy.__setstate__(state)


class RankGradient:
    """The gradient of the expected rank, from antithetic pairs; Adam follows it."""

    def __init__(self, config: Strategy, start: FloatArray) -> None:
        self._population, self._sigma, self._rate = config.population, config.sigma, config.rate
        self._mean = start.copy()
        self._first, self._second = np.zeros_like(start), np.zeros_like(start)
        self._generation = 0

    @property
    def mean(self) -> FloatArray:
        """Where it stands."""
        return self._mean

    @property
    def spread(self) -> float:
        """How far from there candidates are."""
        return self._sigma

    def ask(self, seed: int) -> FloatArray:
        """Candidates of a generation: each second one opposite to the one before."""
        noise = np.random.default_rng(seed).normal(size=(self._population // 2, len(self._mean)))
        return self._mean + self._sigma * np.stack([noise, -noise], 1).reshape(-1, len(self._mean))

    def tell(self, candidates: FloatArray, losses: FloatArray) -> None:
        """Learn from the candidates."""
        ranks = losses.argsort().argsort() / (len(losses) - 1) - 0.5
        noise = (candidates - self._mean) / self._sigma
        gradient = (ranks[:, None] * noise).mean(0) * 2 / self._sigma
        self._generation += 1
        self._first = 0.9 * self._first + 0.1 * gradient
        self._second = 0.99 * self._second + 0.01 * gradient**2
        step = self._first / (1 - 0.9**self._generation)
        size = np.sqrt(self._second / (1 - 0.99**self._generation)) + 1e-8
        self._mean = self._mean - self._rate * step / size

    def memory(self) -> Memory:
        """Everything it knows."""
        parts = {"mean": self._mean, "first": self._first, "second": self._second}
        return {name: part.tolist() for name, part in parts.items()} | {
            "generation": self._generation
        }

    def recall(self, memory: Memory) -> None:
        """Go on from what :meth:`memory` said."""
        self._mean, self._first, self._second = (
            np.array(memory[name]) for name in ("mean", "first", "second")
        )
        self._generation = int(memory["generation"])


def strategy_of(config: Strategy, start: FloatArray) -> Evolution:
    """The strategy that a configuration names."""
    if config.kind is Kind.GRADIENT:
        return RankGradient(config, start)
    return CovarianceMatrix(config, start)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value

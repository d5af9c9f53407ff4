"""Strategies: one step by hand, a minimum that is found, a memory that loses nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from n2s.evolve.config import Kind, Strategy
from n2s.evolve.strategy import Evolution, RankGradient, strategy_of

KINDS = pytest.mark.parametrize("kind", list(Kind), ids=str)


def ellipsoid(candidates: np.ndarray) -> np.ndarray:
    """Least at (1, 2, 3, ...), ten times as steep in the last direction as in the first."""
    size = candidates.shape[1]
    return ((candidates - np.arange(1, size + 1)) ** 2 * np.geomspace(1, 10, size)).sum(1)


def evolve(strategy: Evolution, generations: range) -> None:
    for generation in generations:
        candidates = strategy.ask(generation)
        strategy.tell(candidates, ellipsoid(candidates))


def test_a_step_along_the_rank_gradient_by_hand() -> None:
    """Ranks -1/2, -1/6, 1/6, 1/2; Adam's first step is the rate in every direction of the gradient."""
    strategy = RankGradient(
        Strategy(kind=Kind.GRADIENT, population=4, sigma=0.5, rate=0.1), np.zeros(2)
    )
    candidates = np.array([[0.5, 1.0], [-0.5, -1.0], [1.0, -0.5], [-1.0, 0.5]])
    strategy.tell(candidates, np.array([3.0, 1.0, 20.0, 2.0]))
    # Ranks by candidate: 1/6, -1/2, 1/2, -1/6. Noise is twice the candidates.
    # Sum of rank * noise: (1/6 + 1/2 + 1 + 1/3, 1/3 + 1 - 1/2 - 1/6) = (2, 2/3); mean * 2 / sigma: both.
    memory = strategy.memory()
    assert memory["first"] == pytest.approx([0.2, 0.2 / 3])
    assert memory["second"] == pytest.approx([0.04, 0.04 / 9])
    assert memory["generation"] == 1
    assert strategy.mean == pytest.approx([-0.1, -0.1], abs=1e-6)
    # The same once more: moments 0.38 and 0.0796 of the gradient, and again a step of the rate.
    strategy.tell(strategy.mean + candidates, np.array([3.0, 1.0, 20.0, 2.0]))
    assert strategy.memory()["first"] == pytest.approx([0.38, 0.38 / 3])
    assert strategy.memory()["second"] == pytest.approx([0.0796, 0.0796 / 9])
    assert strategy.mean == pytest.approx([-0.2, -0.2], abs=1e-6)


def test_candidates_of_the_gradient_are_opposite_pairs() -> None:
    start = np.array([1.0, -2.0, 3.0])
    strategy = RankGradient(Strategy(kind=Kind.GRADIENT, population=400, sigma=0.5), start)
    noise = strategy.ask(7) - start
    assert noise[::2] == pytest.approx(-noise[1::2])
    assert noise.std(0) == pytest.approx(np.full(3, 0.5), rel=0.15)


@KINDS
def test_the_same_seed_gives_the_same_candidates(kind: Kind) -> None:
    strategy, other = (strategy_of(Strategy(kind=kind, population=6), np.ones(5)) for _ in range(2))
    assert (strategy.ask(3) == other.ask(3)).all()
    assert (strategy.ask(3) != other.ask(4)).any()
    assert strategy.ask(3).shape == (6, 5)
    assert strategy.spread == 0.2
    assert strategy.mean.tolist() == [1.0] * 5


@KINDS
def test_a_minimum_is_found(kind: Kind) -> None:
    config = Strategy(kind=kind, population=20, sigma=0.5, rate=0.1)
    strategy = strategy_of(config, np.zeros(5))
    evolve(strategy, range(250))
    within = 0.3 if kind is Kind.GRADIENT else 1e-4  # whose steps do not get smaller
    assert strategy.mean == pytest.approx(np.arange(1.0, 6.0), abs=within)


@KINDS
def test_a_memory_through_json_goes_on_bit_for_bit(kind: Kind) -> None:
    """Also of the covariance matrix, of which the memory holds one half."""
    config = Strategy(kind=kind, population=8)
    whole = strategy_of(config, np.linspace(-1, 1, 30))
    evolve(whole, range(40))
    part = strategy_of(config, np.linspace(-1, 1, 30))
    for begin in range(0, 40, 10):
        evolve(part, range(begin, begin + 10))
        memory = json.loads(json.dumps(part.memory()))
        part = strategy_of(config, np.zeros(30))
        part.recall(memory)
        assert part.memory() == memory
    assert part.memory() == whole.memory()
    assert (part.ask(99) == whole.ask(99)).all()
    assert part.spread == whole.spread

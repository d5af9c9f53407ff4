"""Chains of the annealed search: temperatures by hand, and nothing given away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from n2s.local import Outset, Settings, landscape_of
from n2s.local.chain import AnnealedChain, annealed
from n2s.problem import Variant, generate, random_tour

SETTINGS = Settings(hot=8.0, warm=0.5, cold=0.125)


def begin(warm: bool) -> AnnealedChain:
    land = landscape_of(generate(5, seed=1)[0])
    tour = random_tour(5, Variant.PDTSP, np.random.default_rng(1))
    chain = annealed(SETTINGS)(land, Outset(tour, 7, 2.0, warm, 10))
    assert isinstance(chain, AnnealedChain)
    return chain


@pytest.mark.parametrize(
    ("warm", "begin_at", "end_at", "temperature", "cooling"),
    [
        # From 8 to 1 / 8 edges of length 2: six halvings, a third of them in four steps.
        (False, 0.0, 1 / 3, 16.0, 2**-0.5),
        (False, 0.5, 1.0, 2.0, 2**-0.75),
        (False, 1.0, 1.0, 0.25, 1.0),
        # From 1 / 2 to 1 / 8: two.
        (True, 0.0, 1.0, 1.0, 2**-0.5),
        (True, 0.5, 0.5, 0.5, 1.0),
    ],
)
def test_temperatures_fall_geometrically(
    warm: bool,
    begin_at: float,
    end_at: float,
    temperature: float,
    cooling: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = begin(warm)
    told: list[Any] = []
    monkeypatch.setattr(chain.land, "anneal", lambda *arguments: told.extend(arguments))
    chain.advance(4, begin_at, end_at)
    assert told[4:7] == [4, pytest.approx(temperature), pytest.approx(cooling)]
    assert told[7] is SETTINGS


def test_a_chain_begins_where_it_is_told_and_keeps_its_best() -> None:
    chain = begin(False)
    tour = random_tour(5, Variant.PDTSP, np.random.default_rng(1))
    assert chain.tour.tolist() == chain.best_tour.tolist() == tour.tolist()
    assert chain.costs.tolist() == [chain.land.cost(tour)] * 2
    assert chain.state.tolist() == [7]
    before = chain.best
    chain.advance(50, 0.0, 1.0)
    assert chain.best == chain.costs[1] == pytest.approx(chain.land.cost(chain.best_tour))
    assert chain.best < before

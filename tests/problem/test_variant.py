from __future__ import annotations

import numpy as np
import pytest

import oracles
from n2s.problem import Variant, random_tour, random_tours


def test_codes_are_distinct_and_known_to_the_kernels() -> None:
    from n2s.kernels import rules

    assert sorted(variant.code for variant in Variant) == list(range(len(Variant)))
    assert (Variant.PDTSP.code, Variant.LIFO.code) == (rules.PDTSP, rules.LIFO)


def test_what_may_be_delivered_next() -> None:
    """Loaded in the order 3, 1, 2: PDTSP may deliver any of them, LIFO only the 2."""
    assert list(Variant.PDTSP.deliverable([3, 1, 2])) == [3, 1, 2]
    assert list(Variant.LIFO.deliverable([3, 1, 2])) == [2]
    assert list(Variant.LIFO.deliverable([])) == []


@pytest.mark.parametrize("n", [1, 2, 5, 25])
def test_random_tours_are_feasible(n: int, variant: Variant) -> None:
    tours = random_tours(n, variant, 50, np.random.default_rng(n))
    assert tours.shape == (50, 2 * n + 1)
    assert all(oracles.is_feasible(tour.tolist(), n, variant) for tour in tours)


def test_random_tours_reach_every_feasible_tour(variant: Variant) -> None:
    """N = 2 has 6 feasible PDTSP tours and 4 LIFO tours (2! orders x Catalan number 2)."""
    rng = np.random.default_rng(0)
    seen = {tuple(random_tour(2, variant, rng).tolist()) for _ in range(500)}
    assert seen == set(oracles.all_tours(2, variant))
    assert len(seen) == {Variant.PDTSP: 6, Variant.LIFO: 4}.get(variant, len(seen))


def test_same_seed_same_tours(variant: Variant) -> None:
    first = random_tours(5, variant, 7, np.random.default_rng(3))
    again = random_tours(5, variant, 7, np.random.default_rng(3))
    other = random_tours(5, variant, 7, np.random.default_rng(4))
    assert (first == again).all()
    assert (first != other).any()

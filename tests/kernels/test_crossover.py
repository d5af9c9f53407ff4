"""Children of two tours: what they keep of each, and that they are tours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s.kernels.crossover import graft_block, reorder_stretch
from n2s.problem import Variant, random_tour


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_a_stretch_in_the_order_of_another_tour(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (random_tour(n, Variant.PDTSP, rng) for _ in range(2))
    first, last = np.sort(rng.integers(1, 2 * n + 2, 2))
    before = a.tolist(), b.tolist()
    child = reorder_stretch(a, b, first, last).tolist()
    assert child[:first] == before[0][:first]
    assert child[last:] == before[0][last:]
    inside = set(before[0][first:last])
    assert child[first:last] == [node for node in before[1] if node in inside]
    assert oracles.is_feasible(child, n, Variant.PDTSP)
    assert (a.tolist(), b.tolist()) == before


@given(st.integers(0, 10_000), st.integers(1, 8))
def test_a_block_of_another_tour_goes_to_its_cheapest_gap(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.random((2 * n + 1, 2 * n + 1))
    a, b = (random_tour(n, Variant.LIFO, rng) for _ in range(2))
    request = int(rng.integers(1, n + 1))
    before = a.tolist(), b.tolist()
    child = graft_block(costs, a, b, request).tolist()
    block = before[1][before[1].index(request) : before[1].index(request + n) + 1]
    rest = [node for node in before[0] if node not in block]
    choices = [[*rest[: gap + 1], *block, *rest[gap + 1 :]] for gap in range(len(rest))]
    assert child in choices
    assert oracles.cost(costs, child) == pytest.approx(
        min(oracles.cost(costs, choice) for choice in choices)
    )
    assert oracles.is_feasible(child, n, Variant.LIFO)
    assert (a.tolist(), b.tolist()) == before

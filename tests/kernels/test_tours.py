from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s import kernels
from n2s.problem import Variant, random_tours

SIZES = pytest.mark.parametrize(("batch", "n"), [(1, 1), (1, 5), (2, 2), (7, 1), (7, 5), (6, 25)])


def draw(batch: int, n: int, variant: Variant, seed: int = 0):
    """Tours of instances with asymmetric costs (3 tours each where that divides), and requests."""
    rng = np.random.default_rng(seed)
    instances = batch // 3 if batch % 3 == 0 else batch
    costs = rng.random((instances, 2 * n + 1, 2 * n + 1))
    tours = random_tours(n, variant, batch, rng)
    requests = rng.integers(1, n + 1, batch)
    owners = np.arange(batch) // (batch // instances)
    return costs, tours, requests, owners, rng


@SIZES
def test_costs_and_positions(batch: int, n: int, variant: Variant) -> None:
    costs, tours, _, owners, _ = draw(batch, n, variant)
    measured = kernels.tour_costs(costs, tours)
    places = kernels.positions(tours)
    for b in range(batch):
        assert measured[b] == pytest.approx(oracles.cost(costs[owners[b]], tours[b].tolist()))
        assert (tours[b][places[b]] == np.arange(2 * n + 1)).all()


@SIZES
def test_moves_take_out_and_put_in(batch: int, n: int, variant: Variant) -> None:
    _, tours, requests, _, rng = draw(batch, n, variant)
    rests = kernels.remove_requests(tours, requests)
    gaps = np.sort(rng.integers(0, 2 * n - 1, (batch, 2)), axis=1)
    j, k = gaps[:, 0].copy(), gaps[:, 1].copy()
    moved = kernels.apply_moves(tours, requests, j, k)
    inserted = kernels.insert_requests(rests, requests, j, k)
    assert (moved == inserted).all()
    for b in range(batch):
        rest = oracles.without(tours[b].tolist(), int(requests[b]))
        assert rests[b].tolist() == rest
        assert moved[b].tolist() == oracles.reinserted(rest, int(requests[b]), j[b], k[b])


def test_a_move_leaves_its_input_alone() -> None:
    _, tours, requests, _, _ = draw(7, 5, Variant.PDTSP)
    before = tours.copy()
    zeros = np.zeros(7, np.int64)
    kernels.apply_moves(tours, requests, zeros, zeros)
    assert (tours == before).all()


@given(st.integers(0, 10_000), st.integers(1, 8))
def test_stack_tops(seed: int, n: int) -> None:
    tour = random_tours(n, Variant.LIFO, 1, np.random.default_rng(seed))
    stack: list[int] = []
    tops = []
    for node in tour[0].tolist():
        if node > n:
            stack.remove(node - n)
        elif node > 0:
            stack.append(node)
        tops.append(stack[-1] if stack else 0)
    assert kernels.stack_tops(tour)[0].tolist() == tops

from __future__ import annotations

import pytest

import oracles
from kernels.test_tours import SIZES, draw
from n2s import kernels
from n2s.problem import Variant


@SIZES
def test_gains_and_detours_equal_recomputed_tours(batch: int, n: int, variant: Variant) -> None:
    costs, tours, _, owners, _ = draw(batch, n, variant)
    gains = kernels.removal_gains(costs, tours)
    detours = kernels.detours(costs, tours)
    for b in range(batch):
        tour, cost = tours[b].tolist(), costs[owners[b]]
        before = oracles.cost(cost, tour)
        for request in range(1, n + 1):
            after = oracles.cost(cost, oracles.without(tour, request))
            assert gains[b, request - 1] == pytest.approx(before - after)
        for node in range(1, 2 * n + 1):
            after = oracles.cost(cost, [other for other in tour if other != node])
            assert detours[b, node] == pytest.approx(before - after)
        assert detours[b, 0] == 0.0


@SIZES
def test_insertion_terms_add_up_to_the_change(batch: int, n: int, variant: Variant) -> None:
    costs, tours, requests, owners, _ = draw(batch, n, variant)
    rests = kernels.remove_requests(tours, requests)
    a, b, c = kernels.insertion_changes(costs, rests, requests)
    for t in range(batch):
        request = int(requests[t])
        expected = oracles.reinsertion_changes(
            costs[owners[t]], rests[t].tolist(), request, variant
        )
        for (j, k), change in expected.items():
            assert (c[t, j] if j == k else a[t, j] + b[t, k]) == pytest.approx(change)

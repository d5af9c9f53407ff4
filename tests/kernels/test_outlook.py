"""What requests could save elsewhere, against all tours that differ in their places alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import oracles
from n2s import kernels
from n2s.problem import Variant, random_tour


def random_costs(instances: int, n: int, seed: int, symmetric: bool = False) -> np.ndarray:
    costs = np.random.default_rng(seed).random((instances, 2 * n + 1, 2 * n + 1))
    return costs + costs.transpose(0, 2, 1) if symmetric else costs


@pytest.mark.parametrize(
    ("n", "symmetric"), list(itertools.product([1, 2, 3, 4, 7], [True, False]))
)
def test_the_cheapest_of_all_other_places(n: int, symmetric: bool, variant: Variant) -> None:
    rng = np.random.default_rng(n)
    costs = random_costs(12, n, n, symmetric)
    tours = np.array([random_tour(n, variant, rng) for _ in range(12)])
    found = kernels.outlooks(variant.code, costs, tours)
    expected = [oracles.outlook(c, t.tolist(), variant) for c, t in zip(costs, tours, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_every_tour_of_three_requests(variant: Variant) -> None:
    """Neighbours, nests and chains of all kinds; two instances own half of the tours each."""
    tours = np.array(list(oracles.all_tours(3, variant)))
    tours = tours[: len(tours) // 2 * 2]
    costs = random_costs(2, 3, 5)
    found = kernels.outlooks(variant.code, costs, tours)
    for t, tour in enumerate(tours):
        mine = costs[t // (len(tours) // 2)]
        assert found[t] == pytest.approx(oracles.outlook(mine, tour.tolist(), variant), abs=1e-12)


def test_by_hand() -> None:
    """On a line: pickups at 1 and 3, deliveries at 2 and 4, both picked up first: 1, 3, 2, 4 costs 10.

    Whichever request moves, it can make 1, 2, 3, 4 of it, which costs 8.
    """
    at = np.array([0.0, 1.0, 3.0, 2.0, 4.0])
    costs = np.abs(at[:, None] - at)[None]
    tour = np.array([[0, 1, 2, 3, 4]])
    assert kernels.outlooks(Variant.PDTSP.code, costs, tour).tolist() == [[-2.0, -2.0]]


def test_a_single_request_has_no_other_place(variant: Variant) -> None:
    found = kernels.outlooks(variant.code, random_costs(1, 1, 3), np.array([[0, 1, 2]]))
    assert found.tolist() == [[np.inf]]


def test_a_step_to_the_cheapest_places_saves_as_much(variant: Variant) -> None:
    """Against the kernel that puts one request back where it costs least."""
    n = 25
    costs = random_costs(1, n, 9)
    tour = random_tour(n, variant, np.random.default_rng(3))
    changes = kernels.outlooks(variant.code, costs, tour[None])[0]
    whole = oracles.cost(costs[0], tour.tolist())
    for request in np.flatnonzero(changes < 0) + 1:
        one = np.array([request])
        rests = kernels.remove_requests(tour[None], one)
        j, k = kernels.best_reinsertion(variant.code, costs, rests, one)[:2]
        other = oracles.reinserted(rests[0].tolist(), request, int(j[0]), int(k[0]))
        assert oracles.cost(costs[0], other) - whole == pytest.approx(changes[request - 1])

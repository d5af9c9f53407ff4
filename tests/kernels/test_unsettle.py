"""Which requests are built anew, by hand and against sorting by distance."""

from __future__ import annotations

import numpy as np
import pytest

from n2s import kernels


def test_by_hand() -> None:
    """Four requests on a line: stops at 0 the depot, pickups at 1, 2, 5, 9, deliveries at 1, 3, 6, 9."""
    places = np.array([0.0, 1, 2, 5, 9, 1, 3, 6, 9])
    costs = np.abs(places[:, None] - places)[None]
    edges = np.zeros(2)
    # From the third: the second is 2 + 2 away, the first 4 + 4, the fourth 3 + 3 (from its delivery).
    draws = np.zeros((2, 6))
    draws[:, 0] = 0.6
    draws[:, 1] = [0.5, 1.0]
    found = kernels.unsettle(costs, 0.5, edges, draws)
    assert found.tolist() == [[False, True, True, False], [False, True, True, True]]


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("batch", [1, 2, 7])
def test_against_sorting(n: int, batch: int) -> None:
    """Asymmetric costs, two copies of each instance."""
    rng = np.random.default_rng([n, batch])
    costs = rng.random((batch, 2 * n + 1, 2 * n + 1))
    draws, edges = rng.random((2 * batch, n + 2)), rng.random(2 * batch)
    found = kernels.unsettle(costs, 0.4, edges, draws)
    for row in range(2 * batch):
        first = int(draws[row, 0] * n) + 1
        legs = costs[row // 2][[first, first + n]].min(0)
        keys = {
            r: legs[r] + legs[r + n] + edges[row] * draws[row, r + 1]
            for r in range(1, n + 1)
            if r != first
        }
        count = min(max(1, int(0.4 * n * (0.5 + draws[row, 1]) + 0.5)), n)
        expected = {first, *sorted(keys, key=keys.__getitem__)[: count - 1]}
        assert {r + 1 for r in np.flatnonzero(found[row])} == expected

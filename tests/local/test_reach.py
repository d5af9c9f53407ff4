"""What insertions see: costs by the node that is come to, and terms on top."""

from __future__ import annotations

import numpy as np

from n2s.local import reach_of


def test_without_terms_it_is_the_costs_by_target() -> None:
    costs = np.arange(25.0).reshape(5, 5)
    assert (reach_of(costs) == costs.T).all()


def test_terms_belong_to_a_stop_and_the_node_before_it() -> None:
    """Request 2 of 2 has the nodes 2 and 4; its terms are row 1."""
    costs = np.arange(25.0).reshape(5, 5)
    before = costs.copy()
    pickup, delivery = np.zeros((2, 5)), np.zeros((2, 5))
    pickup[1, 3] = 100.0
    delivery[1, 2] = 1000.0
    expected = costs.T.copy()
    expected[2, 3] += 100.0
    expected[4, 2] += 1000.0
    reach = reach_of(costs, pickup, delivery)
    assert (reach == expected).all()
    assert (reach_of(costs, pickup=pickup)[4] == costs[:, 4]).all()
    assert (reach_of(costs, delivery=delivery)[2] == costs[:, 2]).all()
    assert (costs == before).all()
    # As an instance's costs, for which the kernels are compiled.
    assert reach.flags.c_contiguous
    assert not reach.flags.writeable

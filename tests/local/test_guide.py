from __future__ import annotations

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.local import Guide, landscape_of
from n2s.problem import Instance


def test_no_guide_leaves_everything_as_it_is() -> None:
    costs = np.random.default_rng(0).random((5, 5))
    guide = Guide()
    assert guide.plain
    assert len(guide.cumulative(2)) == 0
    assert (guide.reach(costs) == costs.T).all()


def test_seeds_are_weighted_by_the_exponential_of_their_scores() -> None:
    sums = Guide(removal=np.log([1.0, 4.0, 5.0])).cumulative(3)
    assert sums / sums[-1] == pytest.approx([0.1, 0.5, 1.0])
    # Scores that would overflow alone; only their differences count.
    sums = Guide(removal=np.array([5000.0, 5000.0 + np.log(3)])).cumulative(2)
    assert sums / sums[-1] == pytest.approx([0.25, 1.0])


def test_terms_are_added_where_the_node_behind_is_reached() -> None:
    """Request 2 of 2 has the nodes 2 and 4; its terms are row 1 of the guide's."""
    costs = np.arange(25.0).reshape(5, 5)
    pickup, delivery = np.zeros((2, 5)), np.zeros((2, 5))
    pickup[1, 3] = 100.0
    delivery[0, 2] = 1000.0
    guide = Guide(pickup=pickup, delivery=delivery)
    assert not guide.plain
    assert not Guide(delivery=delivery).plain
    expected = costs.T.copy()
    expected[2, 3] += 100.0  # come to pickup 2 from node 3
    expected[3, 2] += 1000.0  # come to the delivery of 1 from node 2
    assert (guide.reach(costs) == expected).all()
    assert (costs == np.arange(25.0).reshape(5, 5)).all()


@pytest.mark.parametrize(
    ("guide", "sentence"),
    [
        (Guide(removal=np.zeros(3)), r"removal scores of the guide are \(3,\), not \(2,\)"),
        (Guide(removal=np.array([0.0, np.nan])), "removal scores of the guide hold a number"),
        (Guide(pickup=np.zeros((5, 2))), r"pickup scores of the guide are \(5, 2\), not \(2, 5\)"),
        (Guide(pickup=np.full((2, 5), np.inf)), "pickup scores of the guide hold a number"),
        (Guide(delivery=np.zeros(5)), r"delivery scores of the guide are \(5,\), not \(2, 5\)"),
        (Guide(delivery=np.full((2, 5), np.nan)), "delivery scores of the guide hold a number"),
    ],
)
def test_scores_of_another_shape_or_not_finite_are_named(guide: Guide, sentence: str) -> None:
    land = Instance(matrix=np.zeros((5, 5)))
    with pytest.raises(InputError, match=sentence):
        landscape_of(land, guide)

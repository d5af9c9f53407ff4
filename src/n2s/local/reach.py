"""What insertions see of an instance: the costs of coming to a node, with terms from outside on top.

Such terms steer choices, never what a tour costs.
"""

from __future__ import annotations

import numpy as np

from n2s.problem.distance import FloatArray


def reach_of(
    costs: FloatArray, pickup: FloatArray | None = None, delivery: FloatArray | None = None
) -> FloatArray:
    """(N, N) by node: what it costs to come to it from every other.

    ``pickup`` and ``delivery`` (n, N) are added to what a request's stop costs right behind a node.
    """
    n = len(costs) // 2
    reach = np.array(costs.T, order="C")
    if pickup is not None:
        reach[1 : n + 1] += pickup
    if delivery is not None:
        reach[n + 1 :] += delivery
    # As an instance's costs: kernels are compiled for one kind of array.
    reach.setflags(write=False)
    return reach

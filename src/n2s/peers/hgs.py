"""HGS for PDTSP (Pacheco, Martinelli, Subramanian, Toffolo and Vidal), in the PyPI package pdtsp.

It counts whole seconds of processor time. A matrix may be asymmetric, but then it finds the optimum of
three requests only sometimes, and on larger ones falls far behind the other peers.
"""

from __future__ import annotations

import math
from typing import Any

from n2s.peers.base import Answer, Peer, Task
from n2s.problem import Variant

ENDLESS = 1_000_000_000  # iterations, where seconds are the budget
NO_LIFO = "its moves and crossover keep precedence only"


def solve(task: Task) -> Answer:
    """Solve with the published parameters."""
    from pdtsp import HGSParameters, HGSSolver

    budget = limits(task)
    if task.coordinates is not None:
        return answer(HGSSolver(HGSParameters(**budget)).solve(points(task)))
    # A matrix comes in the order depot, pickup, delivery, pickup, delivery, ...
    order = [0, *(node for pair in task.pairs for node in pair)]
    matrix = task.matrix()[order][:, order]
    found = answer(HGSSolver(HGSParameters(**budget)).solve({"distance_matrix": matrix.tolist()}))
    return Answer([order[node] for node in found.nodes], found.cost)


def limits(task: Task) -> dict[str, int | None]:
    """The budget as both solvers of the package take it."""
    seconds = None if task.seconds is None else math.ceil(task.seconds)
    return {"time_limit": seconds, "it": task.trials or ENDLESS, "seed": task.seed}


def points(task: Task) -> dict[str, Any]:
    """A Euclidean instance as both solvers of the package take it."""
    x, y = ([], []) if task.coordinates is None else task.coordinates.T.tolist()
    return {"x_coordinates": x, "y_coordinates": y, "pickup_delivery_pairs": task.pairs}


def answer(result: Any) -> Answer:
    """Route and cost of a result of the package."""
    return Answer([int(node) for node in result.route], float(result.cost))


PEER = Peer("hgs", "pdtsp", solve, unable={Variant.LIFO: NO_LIFO}, takes_trials=True)

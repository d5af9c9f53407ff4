"""PyVRP: iterated local search with shipments, from version 0.14.

Its move of a whole pair is inactive within one route, which is all there is here.
"""

from __future__ import annotations

import numpy as np

from n2s.peers.base import Answer, NoRoute, Peer, PeerUnable, Task
from n2s.problem import Variant


def solve(task: Task) -> Answer:
    """Solve with one vehicle and a shipment for every request."""
    import pyvrp
    from pyvrp.stop import MaxIterations, MaxRuntime, MultipleCriteria

    if not hasattr(pyvrp, "Shipment"):
        raise PeerUnable("pyvrp cannot do this before version 0.14, which brought shipments")
    costs = task.matrix()
    data = pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0)] * task.size,
        clients=[],
        depots=[pyvrp.Depot(0)],
        vehicle_types=[pyvrp.VehicleType()],
        distance_matrices=[costs],
        duration_matrices=[np.zeros_like(costs)],
        shipments=[pyvrp.Shipment(*pair) for pair in task.pairs],
    )
    limits = []
    if task.seconds is not None:
        limits.append(MaxRuntime(task.seconds))
    if task.trials is not None:
        limits.append(MaxIterations(task.trials))
    found = pyvrp.solve(
        data, MultipleCriteria(limits), seed=task.seed, collect_stats=False, display=False
    )
    if not found.is_feasible():
        raise NoRoute
    (route,) = found.best.routes()
    n = len(task.pairs)
    stops = [step for step in route if step.is_shipment()]
    nodes = [step.idx + 1 + (n if step.is_delivery() else 0) for step in stops]
    return Answer([0, *nodes], float(found.cost()))


PEER = Peer(
    "pyvrp",
    "pyvrp",
    solve,
    unable={Variant.LIFO: "it knows no order on board"},
    takes_trials=True,
)

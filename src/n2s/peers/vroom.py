"""VROOM, in the PyPI package pyvroom: shipments, a matrix of costs, the highest exploration level.

It ends by itself, mostly long before the seconds given, and takes no seed.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from n2s.peers.base import Answer, NoRoute, Peer, Task
from n2s.problem import Variant

EXPLORATION = 5
PROFILE = "car"


def solve(task: Task) -> Answer:
    """Solve with one vehicle; times are all 0, so that no working day ends."""
    import vroom

    costs = task.matrix().astype(np.uint32)
    problem = vroom.Input()
    problem.set_durations_matrix(PROFILE, np.zeros_like(costs))
    problem.set_costs_matrix(PROFILE, costs)
    problem.add_vehicle(vroom.Vehicle(1, start=0, end=0, profile=PROFILE))
    for pickup, delivery in task.pairs:
        problem.add_shipment(
            vroom.ShipmentStep(pickup, location=pickup),
            vroom.ShipmentStep(delivery, location=delivery),
        )
    timeout = None if task.seconds is None else timedelta(seconds=task.seconds)
    found = problem.solve(EXPLORATION, nb_threads=task.cores, timeout=timeout)
    routes = found.to_dict()["routes"]
    if not routes:
        raise NoRoute
    steps = routes[0]["steps"]
    nodes = [step["location_index"] for step in steps if step["type"] in ("pickup", "delivery")]
    return Answer([0, *nodes], float(found.summary.cost))


PEER = Peer("vroom", "pyvroom", solve, unable={Variant.LIFO: "it knows no order on board"})

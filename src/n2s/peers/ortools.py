"""OR-Tools routing: pickups and deliveries, a LIFO policy where asked, guided local search; no seed."""

from __future__ import annotations

from n2s.peers.base import Answer, NoRoute, Peer, Task
from n2s.problem import Variant

MANY = 400
"""Stops from which on the first route is found one request after the other: at 1,000 the better way needs
more than a minute."""


def solve(task: Task) -> Answer:
    """Solve as its documentation models pickups and deliveries, with one vehicle."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    manager = pywrapcp.RoutingIndexManager(task.size, 1, 0)
    routing = pywrapcp.RoutingModel(manager)
    costs = routing.RegisterTransitMatrix(task.matrix().tolist())
    routing.SetArcCostEvaluatorOfAllVehicles(costs)
    one = routing.RegisterUnaryTransitVector([1] * task.size)
    routing.AddDimension(one, 0, task.size + 1, True, "position")
    position = routing.GetDimensionOrDie("position")
    for pair in task.pairs:
        pickup, delivery = map(manager.NodeToIndex, pair)
        routing.AddPickupAndDelivery(pickup, delivery)
        earlier = position.CumulVar(pickup) <= position.CumulVar(delivery)
        routing.solver().Add(earlier)
    if task.variant is Variant.LIFO:
        routing.SetPickupAndDeliveryPolicyOfAllVehicles(routing.PICKUP_AND_DELIVERY_LIFO)
    options = pywrapcp.DefaultRoutingSearchParameters()
    first = routing_enums_pb2.FirstSolutionStrategy
    # The better of the two by far where it ends in time; from some size on it does not.
    many = 2 * len(task.pairs) >= MANY
    options.first_solution_strategy = (
        first.LOCAL_CHEAPEST_INSERTION if many else first.PARALLEL_CHEAPEST_INSERTION
    )
    search = routing_enums_pb2.LocalSearchMetaheuristic
    options.local_search_metaheuristic = search.GUIDED_LOCAL_SEARCH
    options.time_limit.FromMilliseconds(max(1, round(1000 * (task.seconds or 0))))
    found = routing.SolveWithParameters(options)
    if found is None:
        raise NoRoute
    nodes = []
    index = routing.Start(0)
    while not routing.IsEnd(index):
        nodes.append(manager.IndexToNode(index))
        index = found.Value(routing.NextVar(index))
    return Answer(nodes, float(found.ObjectiveValue()))


PEER = Peer("ortools", "ortools", solve)

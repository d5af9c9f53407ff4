"""From a file's own node order to the package's: depot, pickups, deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from n2s.errors import InputError, quoted
from n2s.problem import Id, Instance, Metric, Rounding, Variant


def assemble(
    *,
    ids: Sequence[Id],
    depot: int,
    pairs: Sequence[tuple[int, int]],
    name: str,
    variant: Variant,
    coordinates: ArrayLike | None = None,
    matrix: ArrayLike | None = None,
    metric: Metric = Metric.EUCLIDEAN,
    rounding: Rounding = Rounding.NONE,
    requests: Sequence[Id] = (),
    loads: Sequence[float] | None = None,
    capacity: float | None = None,
    end: int | None = None,
    end_id: Id | None = None,
    open_start: bool = False,
    open_end: bool = False,
    attributes: Sequence[Mapping[str, str]] | None = None,
) -> Instance:
    """An :class:`Instance` from data in the order of a file.

    Everything but ``pairs``, ``requests`` and ``loads`` is indexed by the file's nodes, counted from
    0; ``pairs`` holds (pickup, delivery) as such indices, in the order the requests shall have, and
    ``end`` is the node where the route ends if the file has one of its own; ``end_id`` is what the
    file calls the end of a route that has none.

    Raises
    ------
    InputError
        If a node is in no pair or in two, or a pair names the depot, the end or one node twice.
    """
    ids = list(ids)
    partner: dict[int, int] = {}
    for pickup, delivery in pairs:
        for node in (pickup, delivery):
            if node in (depot, end):
                raise InputError(
                    f"node {quoted(ids[node])} is a depot and cannot belong to a request"
                )
            if node in partner or pickup == delivery:
                raise InputError(f"node {quoted(ids[node])} is paired twice")
        partner[pickup], partner[delivery] = delivery, pickup
    for node in range(len(ids)):
        if node not in partner and node not in (depot, end):
            raise InputError(
                f"node {quoted(ids[node])} has no partner: it is neither depot nor paired"
            )
    if not pairs:
        raise InputError("there is no request: a depot alone needs no route")

    order = [depot, *(pickup for pickup, _ in pairs), *(delivery for _, delivery in pairs)]
    points = None if coordinates is None else np.asarray(coordinates, dtype=np.float64)
    costs = None if matrix is None else np.asarray(matrix, dtype=np.float64)
    if costs is not None:
        if costs.shape != (len(ids), len(ids)):
            raise InputError(f"the distance matrix is {costs.shape}, not {(len(ids), len(ids))}")
        into = order if end is None else [end, *order[1:]]  # the way back leads to the end
        costs = costs[np.ix_(order, into)]
    return Instance(
        coordinates=None if points is None else points[order],
        matrix=costs,
        variant=variant,
        name=name,
        metric=metric,
        rounding=rounding,
        ids=tuple(ids[node] for node in order),
        requests=tuple(requests),
        loads=None if loads is None else np.asarray(loads, dtype=np.float64),
        capacity=capacity,
        end=points[end] if points is not None and costs is None and end is not None else None,
        end_id=end_id if end is None else ids[end],
        open_start=open_start,
        open_end=open_end,
        attributes=None if attributes is None else tuple(attributes[node] for node in order),
    )

"""One pickup-and-delivery instance: immutable, validated once, exact about its costs.

Nodes are numbered as in the paper: 0 is the depot, 1..n are the pickups and n+i is the delivery of
request i, so N = 2n+1. The user's own ids are kept beside that numbering and are what every message
and every route speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from n2s.errors import InputError, quoted
from n2s.problem.distance import FloatArray, Metric, Rounding, distances
from n2s.problem.variant import Variant

Id = int | str
IntArray = NDArray[np.int64]

LARGEST = 1e100  # beyond this, sums and squares stop being numbers; NaN and inf fail it too


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """A depot, n requests and the cost of going from any node to any other.

    Parameters
    ----------
    coordinates
        (N, 2) positions by node; (longitude, latitude) for :attr:`Metric.GREAT_CIRCLE`.
    matrix
        (N, N) distances, row = from; asymmetric allowed. Where given, it is the cost and the
        coordinates only serve pictures and networks. At least one of the two is needed.
    ids
        The user's id of each node, by node; default 0..N-1. Texts or whole numbers, no two of them
        equal as text: a route in a file may give the number 7 as "7".
    requests
        The user's id of each request, by request; default 1..n. As with ``ids``.
    loads
        (n,) what each request weighs; default 1 each.
    capacity
        The most the vehicle may carry; default unlimited.
    end
        (2,) coordinates where the route ends, if that is not where it starts.
    end_id
        The user's id of that place (also with a matrix whose column 0 leads there); default "end".
        With an open end there is no such place, but routes may still close with this word.
    open_start, open_end
        The route may begin (end) at any stop: arcs out of (into) the depot cost nothing.
    attributes
        Further columns of the user's file by node, carried through to the output.
    """

    coordinates: FloatArray | None = None
    matrix: FloatArray | None = None
    variant: Variant = Variant.PDTSP
    name: str = ""
    metric: Metric = Metric.EUCLIDEAN
    rounding: Rounding = Rounding.NONE
    ids: tuple[Id, ...] = ()
    requests: tuple[Id, ...] = ()
    loads: FloatArray | None = None
    capacity: float | None = None
    end: FloatArray | None = None
    end_id: Id | None = None
    open_start: bool = False
    open_end: bool = False
    attributes: tuple[Mapping[str, str], ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("coordinates", "matrix", "loads", "end"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _frozen(value, name))
        if self.capacity is not None:
            object.__setattr__(self, "capacity", _number(self.capacity, "the capacity"))
        for name in ("ids", "requests"):
            object.__setattr__(self, name, _listed(getattr(self, name), name))
        size = self._check_shapes()
        object.__setattr__(self, "ids", self.ids or tuple(range(size)))
        if self.end is not None and self.end_id is None:
            object.__setattr__(self, "end_id", "end")
        object.__setattr__(self, "requests", self.requests or tuple(range(1, size // 2 + 1)))
        self._check_ids()
        self._check_numbers()

    # --- what there is -----------------------------------------------------------------------

    @property
    def size(self) -> int:
        """N, the number of nodes with the depot."""
        return len(self.ids)

    @property
    def n(self) -> int:
        """The number of requests."""
        return self.size // 2

    @cached_property
    def node_of(self) -> Mapping[Id, int]:
        """The node of each user id."""
        return {user_id: node for node, user_id in enumerate(self.ids)}

    @property
    def weights(self) -> FloatArray:
        """(n,) the load of each request: 1 where the user gave none."""
        return np.ones(self.n) if self.loads is None else self.loads

    def find(self, token: Id) -> int | None:
        """The node of a user id, also if a file gave the number 7 as the text "7"."""
        node = self.node_of.get(token)
        return self._node_of_text.get(str(token)) if node is None else node

    @cached_property
    def _node_of_text(self) -> Mapping[str, int]:
        return {str(user_id): node for node, user_id in enumerate(self.ids)}

    @cached_property
    def numbers(self) -> IntArray:
        """(N,) the number by which files that count nodes from 0 know each node.

        Ids that are whole numbers without a gap, counted from 0 or 1, are that numbering themselves;
        any other ids (words, numbers with gaps) are numbered by node.
        """
        ids = self.ids
        whole = [user_id for user_id in ids if type(user_id) is int]
        if len(whole) == self.size and min(whole) in (0, 1):
            first = min(whole)
            if max(whole) - first == self.size - 1:
                return np.array([user_id - first for user_id in whole], dtype=np.int64)
        return np.arange(self.size, dtype=np.int64)

    def kind(self, node: int) -> str:
        """``depot``, ``pickup`` or ``delivery``."""
        if node == 0:
            return "depot"
        return "pickup" if node <= self.n else "delivery"

    def request_of(self, node: int) -> int | None:
        """The request (1..n) a node belongs to; None for the depot."""
        if node == 0:
            return None
        return node if node <= self.n else node - self.n

    def request_id(self, request: int) -> Id:
        """The user's id of a request counted 1..n."""
        return self.requests[request - 1]

    # --- what it costs -----------------------------------------------------------------------

    def legs(self, origins: IntArray, targets: IntArray) -> FloatArray:
        """Exact cost of each arc ``origins[i] -> targets[i]``, without building the matrix."""
        origins, targets = np.asarray(origins), np.asarray(targets)
        if self.matrix is not None:
            costs = self.matrix[origins, targets].copy()
        else:
            points = self._known_coordinates()
            ends = points[targets]
            if self.end is not None:
                ends = np.where((targets == 0)[..., None], self.end, ends)
            costs = distances(points[origins], ends, self.metric, self.rounding)
        if self.open_start:
            costs[origins == 0] = 0.0
        if self.open_end:
            costs[targets == 0] = 0.0
        return costs

    @cached_property
    def costs(self) -> FloatArray:
        """(N, N) exact cost of every arc, row = from; built on first use and kept."""
        nodes = np.arange(self.size)
        costs = np.empty((self.size, self.size))
        for rows in np.array_split(nodes, self.size // 512 + 1):  # bounds the temporaries
            costs[rows] = self.legs(*np.broadcast_arrays(rows[:, None], nodes[None]))
        np.fill_diagonal(costs, 0.0)
        costs.flags.writeable = False
        return costs

    @property
    def symmetric(self) -> bool:
        """Whether every arc costs the same both ways."""
        return bool((self.costs == self.costs.T).all())

    # --- validation --------------------------------------------------------------------------

    def _known_coordinates(self) -> FloatArray:
        if self.coordinates is None:
            raise InputError("the instance has a distance matrix only, no coordinates")
        return self.coordinates

    def _check_shapes(self) -> int:
        if self.coordinates is None and self.matrix is None:
            raise InputError("an instance needs coordinates or a distance matrix")
        if self.coordinates is not None and (
            self.coordinates.ndim != 2 or self.coordinates.shape[1] != 2
        ):
            raise InputError(f"coordinates must be (nodes, 2), not {self.coordinates.shape}")
        if self.matrix is not None and (
            self.matrix.ndim != 2 or self.matrix.shape[0] != self.matrix.shape[1]
        ):
            raise InputError(f"the distance matrix must be square, not {self.matrix.shape}")
        known = self.coordinates if self.coordinates is not None else self.matrix
        size = 0 if known is None else len(known)
        if self.coordinates is not None and self.matrix is not None and len(self.matrix) != size:
            raise InputError(
                f"the distance matrix has {len(self.matrix)} rows but there are {size} coordinates"
            )
        if size < 3:
            raise InputError(
                f"an instance needs a depot and at least one request, not {size} nodes"
            )
        if size % 2 == 0:
            raise InputError(
                f"a depot and pickup-delivery pairs make an odd number of nodes, not {size}"
            )
        for name, value, length in (
            ("ids", self.ids, size),
            ("requests", self.requests, size // 2),
            ("attributes", self.attributes or (), size),
        ):
            if value and len(value) != length:
                raise InputError(f"{name} has {len(value)} entries, not {length}")
        if self.loads is not None and self.loads.shape != (size // 2,):
            raise InputError(f"loads has shape {self.loads.shape}, not ({size // 2},)")
        if self.end is not None and self.end.shape != (2,):
            raise InputError(f"the end must be one coordinate pair, not {self.end.shape}")
        return size

    def _check_ids(self) -> None:
        _check_apart(self.ids, "node")
        _check_apart(self.requests, "request")
        if self.end_id is not None:
            _check_apart((self.end_id,), "node")
            if self.find(self.end_id) not in (None, 0):
                raise InputError(
                    f"node id {quoted(self.end_id)} is both a stop and the end of the route"
                )
            if self.end_id != self.ids[0]:  # a place of its own, or just another word
                _check_apart((self.ids[0], self.end_id), "node")
        if self.end is not None and self.matrix is not None:
            raise InputError("with a distance matrix the end is column 0, not a coordinate pair")
        if self.open_end and self.end is not None:
            raise InputError("an open route has no end: give one or the other")

    def _check_numbers(self) -> None:
        if self.coordinates is not None:
            self._check_coordinates(self.coordinates, lambda row: f"node {quoted(self.ids[row])}")
        if self.end is not None:
            self._check_coordinates(self.end[None], lambda row: "the end of the route")
        if self.matrix is not None and not _usable(self.matrix).all():
            row, column = map(int, np.argwhere(~_usable(self.matrix))[0])
            raise InputError(
                f"the distance from node {quoted(self.ids[row])} to node {quoted(self.ids[column])} "
                f"is {self.matrix[row, column]}"
            )
        if self.capacity is not None and not _usable(np.float64(self.capacity)):
            raise InputError(f"the capacity is {self.capacity}")
        if self.loads is not None and not _usable(self.loads).all():
            bad = int(np.argmin(_usable(self.loads)))
            raise InputError(f"request {quoted(self.requests[bad])} has load {self.loads[bad]}")
        if self.capacity is not None and self.weights.max() > self.capacity:
            heavy = int(np.argmax(self.weights))
            raise InputError(
                f"request {quoted(self.requests[heavy])} has load {self.weights[heavy]:g}, "
                f"more than the capacity {self.capacity:g}"
            )

    def _check_coordinates(self, coordinates: FloatArray, name: Callable[[int], str]) -> None:
        usable = np.abs(coordinates) < LARGEST
        if not usable.all():
            row = int(np.argmin(usable.all(1)))
            x, y = coordinates[row]
            raise InputError(f"{name(row)} has coordinates ({x}, {y})")
        if self.metric is not Metric.GREAT_CIRCLE:
            return
        for column, what, limit in ((1, "latitude", 90), (0, "longitude", 180)):
            outside = np.flatnonzero(np.abs(coordinates[:, column]) > limit)
            if outside.size:
                raise InputError(
                    f"{name(int(outside[0]))} has {what} {coordinates[outside[0], column]:g}, outside "
                    f"-{limit}..{limit} (are latitude and longitude swapped?)"
                )


def _usable(values: FloatArray | np.float64) -> NDArray[np.bool_]:
    """Where a distance, load or capacity is a number that can be added up: 0 <= value < LARGEST."""
    return np.asarray((values >= 0) & (values < LARGEST))


def _frozen(value: FloatArray, name: str) -> FloatArray:
    """A read-only float64 copy, so that nothing outside can change a validated instance."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be numbers ({str(error)[:100]})") from error
    array.flags.writeable = False
    return array


def _number(value: object, name: str) -> float:
    try:
        if isinstance(value, Real):
            return float(value)
    except OverflowError:
        raise InputError(f"{name} is a number that is too large") from None
    raise InputError(f"{name} must be a number, not {quoted(value)}")


def _listed(value: Iterable[Id], name: str) -> tuple[Id, ...]:
    try:
        return tuple(value)
    except TypeError:
        raise InputError(f"{name} must be a list of ids, not {quoted(value)}") from None


def _check_apart(ids: Sequence[Id], what: str) -> None:
    """Refuse ids that are no ids, and ids that are equal, be it only as text."""
    types = set(map(type, ids))
    if not types <= {int, str}:
        for user_id in ids:
            if isinstance(user_id, bool) or not isinstance(user_id, (int, str)):
                raise InputError(f"{what} id {quoted(user_id)} must be a text or a whole number")
    if len(types) == 1 and len(set(ids)) == len(ids):
        return  # of one type, what is different is different as text
    seen: dict[str, Id] = {}
    for user_id in ids:
        text = str(user_id)
        if text in seen and seen[text] == user_id:
            raise InputError(f"{what} id {quoted(user_id)} occurs twice")
        if text in seen:
            raise InputError(f"{what} ids {quoted(seen[text])} and {quoted(user_id)} are one text")
        seen[text] = user_id

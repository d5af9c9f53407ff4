"""The authors' data sets: a pickled list of ``(depot, nodes[, types, types, grid size])``.

The first half of the nodes are pickups and node i+n delivers what i picks up. Coordinates are
divided by the grid size where there is one; distances are Euclidean and exact. The file is read by
:mod:`n2s.formats.number_pickle`, so nothing in it can run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from n2s.errors import InputError
from n2s.formats import number_pickle
from n2s.formats.base import Format, Source
from n2s.formats.npz import numbered
from n2s.problem import Instance
from n2s.problem.distance import FloatArray

# A pickle can name one list a million times over, so a small file can describe more numbers than
# memory holds. Honest files spend at least two bytes on a coordinate.
NUMBERS_PER_BYTE = 4


def _recognises(source: Source) -> bool:
    data = source.data
    return len(data) > 2 and data[0] == 0x80 and data[1] in (2, 3, 4, 5) and data.endswith(b".")


def _parse(source: Source) -> list[Instance]:
    entries = number_pickle.load(source.data)
    if not isinstance(entries, (list, tuple)) or not entries:
        raise source.error("the pickle is not a list of instances")
    left = NUMBERS_PER_BYTE * len(source.data)
    names = numbered(source.stem, len(entries))
    sizes: dict[int, tuple[int, ...]] = {}  # ids are shared between instances of one size
    instances = []
    for k, entry in enumerate(entries):
        try:
            points, used = _points(entry, left)
            left -= used
            ids = sizes.setdefault(len(points), tuple(range(len(points))))
            instances.append(Instance(coordinates=points, ids=ids, name=names[k]))
        except InputError as error:
            raise source.error(f"instance {k}: {error.message}") from None
    return instances


def _points(entry: object, left: int) -> tuple[FloatArray, int]:
    """(N, 2) coordinates, the depot first, and how many numbers were looked at."""
    if not isinstance(entry, (list, tuple)) or len(entry) not in (2, 5):
        raise InputError(
            "each entry must be (depot, nodes) or (depot, nodes, depot types, customer types, "
            "grid size)"
        )
    used = 4 + sum(2 * _length(part) for part in entry[1:4])
    if used > left:
        raise InputError("the pickle repeats its lists to more numbers than the file can hold")
    depot = _pair(entry[0], "the depot")
    nodes = entry[1]
    if isinstance(nodes, np.ndarray):
        if nodes.ndim != 2 or nodes.shape[1] != 2:
            raise InputError(f"the nodes must be (2n, 2), not {nodes.shape}")
        with np.errstate(all="ignore"):  # what is not a usable number is named later
            stops = nodes.astype(np.float64)
    elif isinstance(nodes, (list, tuple)):
        stops = np.array([_pair(node, f"node {i}") for i, node in enumerate(nodes, start=1)])
    else:
        raise InputError(f"the nodes must be a list of pairs, not {_described(nodes)}")
    if not len(stops) or len(stops) % 2:
        raise InputError(f"the nodes must be pickups and as many deliveries, not {len(stops)}")
    points = np.vstack([depot, stops])
    if len(entry) == 5:
        for types in entry[2:4]:
            _check_types(types)
        grid = _number(entry[4], "the grid size")
        if not 0 < grid < np.inf:
            raise InputError(f"the grid size is {grid}")
        with np.errstate(all="ignore"):
            points = points / grid
    return points, used


def _length(part: object) -> int:
    if isinstance(part, np.ndarray):
        return part.size
    return len(part) if isinstance(part, (list, tuple)) else 1


def _pair(value: Any, what: str) -> tuple[float, float]:
    if isinstance(value, np.ndarray) and value.shape == (2,):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"{what} must be a pair of coordinates, not {_described(value)}")
    return _number(value[0], what), _number(value[1], what)


def _check_types(types: object) -> None:
    """Types play no part in these problems, but they too have to be numbers."""
    if isinstance(types, (list, tuple)):
        for kind in types:
            _number(kind, "a node type")
    elif types is not None and not isinstance(types, np.ndarray):
        _number(types, "a node type")


def _number(value: object, what: str) -> float:
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value.item()
    if type(value) is float:
        return value
    if type(value) is not int:
        raise InputError(f"{what} must be numbers, not {_described(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{what} is a number that is too large") from None


def _described(value: object) -> str:
    """The kind of a value; the value itself may be endless."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return type(value).__name__.strip("_")


FORMAT = Format(
    name="pickled data set", suffixes=(".pkl",), recognises=_recognises, parse=_parse, render=None
)

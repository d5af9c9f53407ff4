"""One instance of a benchmark: known by a fingerprint, beside what others say about its cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from n2s.problem import Instance

DIGITS = 16  # of the fingerprint: 64 bits, plenty for sets of thousands


@dataclass(frozen=True)
class Case:
    """An instance under the name that the tables use."""

    name: str
    instance: Instance
    published: Mapping[str, float] = field(default_factory=dict)
    """Costs that others stated, by who they are."""
    route: tuple[int, ...] = ()
    """A verified route from a file beside the instance, as nodes."""

    @cached_property
    def fingerprint(self) -> str:
        """The same for equal problems, whatever they and their nodes are called."""
        return fingerprint(self.instance)


def fingerprint(instance: Instance) -> str:
    """A hash of all that decides which routes are feasible and what they cost."""
    plain = {
        "variant": instance.variant,
        "metric": None if instance.matrix is not None else instance.metric,
        "rounding": None if instance.matrix is not None else instance.rounding,
        "open": [instance.open_start, instance.open_end],
        "capacity": instance.capacity,
    }
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    # With a matrix, coordinates are for pictures; without a capacity, nothing depends on loads.
    places = (instance.coordinates, instance.end) if instance.matrix is None else (instance.matrix,)
    for array in (*places, None if instance.capacity is None else instance.weights):
        digest.update(b"-" if array is None else array.astype("<f8").tobytes() + b"+")
    return digest.hexdigest()[:DIGITS]

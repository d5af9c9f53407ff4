"""The action of N2S: take a request out of the tour and put it back somewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from n2s.errors import InputError
from n2s.problem.instance import IntArray
from n2s.problem.tour import inverse
from n2s.problem.variant import Variant


@dataclass(frozen=True)
class Move:
    """Reinsert ``request``: its pickup behind one node, its delivery behind another.

    Both nodes belong to the tour *without* the request. The same node twice means pickup, then
    delivery, both directly behind it.
    """

    request: int
    pickup_after: int
    delivery_after: int

    def apply(self, tour: IntArray, variant: Variant) -> IntArray:
        """The tour after this move; an :class:`InputError` if the move is not feasible."""
        n = len(tour) // 2
        if not 1 <= self.request <= n:
            raise InputError(f"there is no request {self.request} among 1..{n}")
        pickup, delivery = self.request, self.request + n
        rest = tour[(tour != pickup) & (tour != delivery)]
        for node in (self.pickup_after, self.delivery_after):
            if node not in rest:
                raise InputError(f"node {node} is not in the tour without request {self.request}")
        places = inverse(tour)
        if places[self.pickup_after] > places[self.delivery_after]:
            raise InputError(f"the delivery of request {self.request} would come before its pickup")
        moved: list[int] = []
        for node in rest.tolist():
            moved.append(node)
            if node == self.pickup_after:
                moved.append(pickup)
            if node == self.delivery_after:
                moved.append(delivery)
        loaded: list[int] = []
        for node in moved[1:]:
            if node <= n:
                loaded.append(node)
            elif node - n in variant.deliverable(loaded):
                loaded.remove(node - n)
            else:
                raise InputError(
                    f"with request {self.request} there, the {variant} rule forbids the delivery "
                    f"of request {node - n}"
                )
        return np.array(moved, dtype=np.int64)

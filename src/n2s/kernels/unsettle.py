"""Which requests a round builds anew: a part of the tour, in one place of the map."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def unsettle(costs, share, edges, draws):  # type: ignore[no-untyped-def]
    """(B, n) the requests around one of them in each of B tours of I instances.

    About a ``share`` of all, between half and half as many again. Near are requests whose stops are near to
    either stop of the first, each by a random part of an edge (``edges``, (B,)) further away than it is.
    ``draws`` (B, n + 2) are uniform: the first one, how many, and these parts.
    """
    batch, n = draws.shape[0], draws.shape[1] - 2
    copies = batch // len(costs)
    chosen = np.zeros((batch, n), np.bool_)
    keys = np.empty(n)
    for b in range(batch):
        here = costs[b // copies]
        center = min(int(draws[b, 0] * n), n - 1) + 1
        count = min(max(1, int(share * n * (0.5 + draws[b, 1]) + 0.5)), n)
        for r in range(1, n + 1):
            pickup = min(here[center, r], here[center + n, r])
            delivery = min(here[center, r + n], here[center + n, r + n])
            keys[r - 1] = pickup + delivery + edges[b] * draws[b, r + 1]
        keys[center - 1] = -np.inf
        order = np.argsort(keys)
        for index in range(count):
            chosen[b, order[index]] = True
    return chosen

"""What every request of a tour could save elsewhere: the least change of taking it out and putting it back.

One scan over the gaps from the last to the first, as in ``recreate.cheapest_allowed``, but for all requests
side by side: O(n N), a vector loop over the requests at each gap. Only a few requests see a gap with other
eyes: those beside it, whose own removal makes it longer, and the one on top of the stack, without which
the top is the one below. What the loop did to these is undone, and done anew for each alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from n2s.kernels.legs import BORROWING
from n2s.kernels.rules import LIFO, gap_labels

VECTOR = BORROWING | {"fastmath": {"nnan", "nsz"}}
"""No cost is NaN, which makes a minimum a vector instruction."""


@njit(**VECTOR)
def _offer_all(to_p, to_d, from_p, from_d, arc, direct, least, best):  # type: ignore[no-untyped-def]
    """One gap for all requests, given the arcs (n,) between its ends and their pickups and deliveries."""
    for r in range(len(best)):
        come = to_p[r] - arc
        off = from_d[r]
        cost = min(come + direct[r] + off, come + from_p[r] + least[r])
        best[r] = min(best[r], cost)
        least[r] = min(least[r], to_d[r] + off - arc)


@njit(**VECTOR)
def _reach_all(to_p, from_p, arc, into):  # type: ignore[no-untyped-def]
    """The cheapest gap for the pickup alone, for all requests."""
    for r in range(len(into)):
        into[r] = min(into[r], to_p[r] + from_p[r] - arc)


@njit(**BORROWING)
def _offer(reach, leave, a, b, arc, pickup, n, together, least, best, into):  # type: ignore[no-untyped-def]
    """One gap, from a to b, for one request; returns what its delivery alone costs there.

    ``together`` says whether both of its stops may go into the gap.
    """
    r, delivery = pickup - 1, pickup + n
    come, off = leave[a, pickup] - arc, reach[b, delivery]
    if together:
        best[r] = min(best[r], come + leave[pickup, delivery] + off)
    come += reach[b, pickup]
    best[r] = min(best[r], come + least[r])
    into[r] = min(into[r], come)
    return leave[a, delivery] + off - arc


@njit(**BORROWING)
def _subtract_present(leave, tour, arcs, n, best):  # type: ignore[no-untyped-def]
    """From what the cheapest places cost to the change: less what the present ones do."""
    size = len(tour)
    for position in range(1, size):
        node, before = tour[position], tour[position - 1]
        behind = tour[position + 1] if position + 1 < size else tour[0]
        if node <= n and behind == node + n:
            after = tour[position + 2] if position + 2 < size else tour[0]
            present = (
                arcs[position - 1] + arcs[position] + arcs[position + 1] - leave[before, after]
            )
            best[node - 1] -= present
        elif node <= n:
            best[node - 1] -= arcs[position - 1] + arcs[position] - leave[before, behind]
        elif before != node - n:
            best[node - n - 1] -= arcs[position - 1] + arcs[position] - leave[before, behind]


@njit(**BORROWING)
def look_around(variant, reach, leave, tour, arcs, direct, below, tops, least, kept, best):  # type: ignore[no-untyped-def]
    """Fill ``best`` (n,): the least change in cost if a request leaves its places for others.

    ``reach`` is ``leave`` transposed, ``arcs`` (N,) the arcs of the tour by the position that they leave,
    ``direct`` (n,) the arcs from pickup to delivery. Scratch: ``below`` (n + 1,), zeros where there is no
    stack, ``tops`` (N,), ``least`` (n + 1, n) and ``kept`` (2, n). A request that has no other places gets
    infinity.
    """
    size = len(tour)
    n = size // 2
    # The cheapest gap for the pickup between the old places, and what the delivery costs at its old one.
    into, old = kept[0], kept[1]
    gap_labels(variant, tour, n, tops, tops, below)  # the top of the stack, which both labels are
    for label in range(n + 1 if variant == LIFO else 1):
        for r in range(n):
            least[label, r] = np.inf
    for r in range(n):
        best[r] = np.inf
        into[r] = np.inf
    for gap in range(size - 1, -1, -1):
        a = tour[gap]
        b = tour[gap + 1] if gap + 1 < size else tour[0]
        arc, own = arcs[gap], tops[gap]
        left, right = a if a <= n else a - n, b if b <= n else b - n
        row = least[own]
        # Kept for the three; number 0 is the depot, for whom the last request stands in.
        left_best, left_least, left_into = best[left - 1], row[left - 1], into[left - 1]
        right_best, right_least, right_into = best[right - 1], row[right - 1], into[right - 1]
        own_best, own_least = best[own - 1], row[own - 1]
        to_p, to_d = leave[a, 1 : n + 1], leave[a, n + 1 :]
        from_p, from_d = reach[b, 1 : n + 1], reach[b, n + 1 :]
        _offer_all(to_p, to_d, from_p, from_d, arc, direct, row, best)
        if variant != LIFO:
            _reach_all(to_p, from_p, arc, into)
        if left > 0:
            best[left - 1], row[left - 1], into[left - 1] = left_best, left_least, left_into
        if right > 0:
            best[right - 1], row[right - 1], into[right - 1] = right_best, right_least, right_into
        if own > 0:
            best[own - 1], row[own - 1] = own_best, own_least
            if own != left and own != right:
                home = least[below[own]]
                drop = _offer(reach, leave, a, b, arc, own, n, True, home, best, into)
                home[own - 1] = min(home[own - 1], drop)
        if right == 0 or a == right:
            continue  # the depot; or a request's own arc, part of the gap that both stops leave
        r = right - 1
        home = least[below[right]]
        after = tour[gap + 2] if gap + 2 < size else tour[0]
        if b > n:
            # The gap that the delivery leaves. It must not meet the one that the pickup leaves, so it is
            # kept until that is passed; for the gaps in between, ``into`` stands.
            wide = leave[a, after]
            old[r] = _offer(reach, leave, a, after, wide, right, n, True, home, best, into)
            into[r] = np.inf
            continue
        neighbours = after == right + n
        if neighbours:
            after = tour[gap + 3] if gap + 3 < size else tour[0]
        else:
            best[r] = min(best[r], into[r] + old[r])
        wide = leave[a, after]
        drop = _offer(reach, leave, a, after, wide, right, n, not neighbours, home, best, into)
        home[r] = min(home[r], drop)
        if not neighbours:
            home[r] = min(home[r], old[r])
    _subtract_present(leave, tour, arcs, n, best)


@njit(cache=True, parallel=True)
def outlooks(variant, costs, tours):  # type: ignore[no-untyped-def]
    """(B, n) the least change in cost if a request leaves its places for others; infinity without any."""
    batch, size = tours.shape
    n = size // 2
    copies = batch // len(costs)
    back = np.empty(costs.shape)
    for i in prange(len(costs)):
        for a in range(size):
            for b in range(size):
                back[i, a, b] = costs[i, b, a]
    result = np.empty((batch, n))
    for t in prange(batch):
        leave, tour = costs[t // copies], tours[t]
        arcs, direct = np.empty(size), np.empty(n)
        for position in range(size):
            arcs[position] = leave[tour[position], tour[(position + 1) % size]]
        for r in range(n):
            direct[r] = leave[r + 1, r + 1 + n]
        look_around(
            variant,
            back[t // copies],
            leave,
            tour,
            arcs,
            direct,
            np.zeros(n + 1, np.int64),
            np.empty(size, np.int64),
            np.empty((n + 1, n)),
            np.empty((2, n)),
            result[t],
        )
    return result

"""The heat bath of ``reinsertion`` on a linked tour, over the gaps beside near stops only.

The pickup may go into the gaps beside the stops nearest to it, the delivery likewise (``linked_recreate``),
and both together into any of these. On a stack, a few blocks are passed from those that promise something,
to find more on their level. What was just taken out may also go back where it was. Over the pairs of these
that the labels allow, the draw is that of exp(logit), exactly: what lies ``FAINTEST`` below a known pair
adds less than a rounding error.

There is no order to scan the few gaps in: every delivery gap adds its weight to the pickup gaps before it,
one vector loop each, which takes less time than to sort them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from n2s.kernels.legs import BORROWING, INLINE, leg
from n2s.kernels.linked_recreate import STEPS, Gaps, list_gaps, new_gaps
from n2s.kernels.rules import LIFO

FAINTEST = 40.0
"""exp(-40) of the weight of a known pair is left out: thousands of these are below one rounding."""
WIDEST = 300.0
"""How far the best of each side may be above the best pair, so that no product of weights vanishes."""


class Side(NamedTuple):
    """The gaps for one of the two stops, one number each, and when each node's gap was listed last."""

    gaps: Gaps
    key: NDArray[np.int64]
    label: NDArray[np.int64]
    logit: NDArray[np.float64]
    weight: NDArray[np.float64]
    listed: NDArray[np.int64]


class Bath(NamedTuple):
    """Scratch of the draw."""

    pickup: Side
    delivery: Side
    ahead: NDArray[np.float64]
    """For each pickup gap, the sum of the weights of the delivery gaps that go with it."""
    both: NDArray[np.uint32]
    """Gaps for both stops together, ..."""
    both_logit: NDArray[np.float64]
    """... and their logits."""
    draws: NDArray[np.int64]
    """(1,) how many there have been."""


class Taste(NamedTuple):
    """What is added to logits: for the old places of pickup and delivery, of both in one gap, and for any
    place where both are in one gap.
    """

    pickup: float
    delivery: float
    both: float
    together: float


@njit(cache=True)
def _new_side(size, room):  # type: ignore[no-untyped-def]
    return Side(
        new_gaps(room),
        np.zeros(2 * room + 2, np.int64),
        np.zeros(2 * room + 2, np.int64),
        np.zeros(2 * room + 2),
        np.zeros(2 * room + 2),
        np.zeros(size, np.int64),
    )


@njit(cache=True)
def new_bath(size, width):  # type: ignore[no-untyped-def]
    """Scratch for tours of ``size`` nodes with ``width`` neighbours each."""
    room = (1 + STEPS) * (width + 2)
    return Bath(
        _new_side(size, room),
        _new_side(size, room),
        np.zeros(2 * room + 2),
        np.zeros(4 * room + 4, np.uint32),
        np.zeros(4 * room + 4),
        np.zeros(1, np.int64),
    )


@njit(**BORROWING)
def _list_once(side, count, draw):  # type: ignore[no-untyped-def]
    """Drop gaps that are listed twice: their weight must not count twice. How many are left."""
    behind, cost, part = side.gaps
    kept = 0
    for index in range(count):
        gap = behind[index]
        if side.listed[gap] != draw:
            side.listed[gap] = draw
            behind[kept], cost[kept], part[kept] = gap, cost[index], part[index]
            kept += 1
    return kept


@njit(**INLINE)
def _add_gap(links, legs, node, gap, is_pickup, side, count, draw):  # type: ignore[no-untyped-def]
    """List one more gap unless it is there; how many."""
    if side.listed[gap] == draw:
        return count
    side.listed[gap] = draw
    come, go, old = leg(legs, gap, node), leg(legs, node, links.succ[gap]), links.arc[gap]
    side.gaps.behind[count] = gap
    side.gaps.cost[count] = come + go - old
    side.gaps.part[count] = (come if is_pickup else go) - old
    return count + 1


@njit(**BORROWING)
def _look_up(links, side, first, count, inverse_t, alone, old, bonus, high):  # type: ignore[no-untyped-def]
    """Logits, keys and labels of the gaps from the first one on; the highest logit of all."""
    for index in range(first, count):
        gap = side.gaps.behind[index]
        side.key[index] = links.key[gap]
        side.label[index] = links.top[gap]
        logit = -side.gaps.cost[index] * inverse_t
        if alone and gap == old:
            logit += bonus
        side.logit[index] = logit
        high = max(high, logit)
    return high


@njit(**INLINE)
def _highest(side, count):  # type: ignore[no-untyped-def]
    """Which gap has the highest logit."""
    where = 0
    for index in range(1, count):
        if side.logit[index] > side.logit[where]:
            where = index
    return where


@njit(**BORROWING)
def _known_pair(p, p_count, d, d_count, best):  # type: ignore[no-untyped-def]
    """The logit of a good pair: the best of one side with whatever goes with it on the other."""
    if p_count == 0 or d_count == 0:
        return best
    at = _highest(d, d_count)
    for index in range(p_count):
        if p.key[index] < d.key[at] and p.label[index] == d.label[at]:
            best = max(best, p.logit[index] + d.logit[at])
    at = _highest(p, p_count)
    for index in range(d_count):
        if p.key[at] < d.key[index] and p.label[at] == d.label[index]:
            best = max(best, p.logit[at] + d.logit[index])
    return best


@njit(**BORROWING)
def _pass_blocks(links, legs, pickup, delivery, bath, counts, floor, highs, draw):  # type: ignore[no-untyped-def]
    """List the gaps a few blocks behind promising pickup gaps, and before delivery gaps: how many."""
    succ, pred = links.succ, links.pred
    n = delivery - pickup
    p, d = bath.pickup, bath.delivery
    p_count, d_count = counts
    for index in range(counts[0]):
        if p.logit[index] + highs[1] >= floor:
            node = succ[p.gaps.behind[index]]
            for _ in range(STEPS):
                if node == 0 or node > n:
                    break
                last = np.uint32(node + n)
                d_count = _add_gap(links, legs, delivery, last, False, d, d_count, draw)
                node = succ[last]
    for index in range(counts[1]):
        if d.logit[index] + highs[0] >= floor:
            node = d.gaps.behind[index]
            for _ in range(STEPS):
                if node <= n:
                    break
                node = pred[np.uint32(node - n)]
                p_count = _add_gap(links, legs, pickup, node, True, p, p_count, draw)
    return p_count, d_count


@njit(**BORROWING)
def _keep_promising(side, count, bound):  # type: ignore[no-untyped-def]
    """Drop the gaps with a logit below the bound; how many are left."""
    kept = 0
    for index in range(count):
        if side.logit[index] >= bound:
            side.gaps.behind[kept] = side.gaps.behind[index]
            side.key[kept] = side.key[index]
            side.label[kept] = side.label[index]
            side.logit[kept] = side.logit[index]
            kept += 1
    return kept


@njit(**BORROWING)
def _draw_slowly(bath, p_count, d_count, b_count, uniform):  # type: ignore[no-untyped-def]
    """The draw pair by pair: for stacks where the best gaps of both sides do not go together, when cold."""
    p, d = bath.pickup, bath.delivery
    best = -np.inf
    for index in range(b_count):
        best = max(best, bath.both_logit[index])
    for i in range(p_count):
        for k in range(d_count):
            if p.key[i] < d.key[k] and p.label[i] == d.label[k]:
                best = max(best, p.logit[i] + d.logit[k])
    everything = 0.0
    chosen_j, chosen_k = np.uint32(0), np.uint32(0)
    for turn in range(2):  # the sum first, then where the target falls
        target = uniform * everything
        for index in range(b_count):
            weight = math.exp(bath.both_logit[index] - best)
            everything += weight
            target -= weight
            if weight > 0.0:
                chosen_j, chosen_k = bath.both[index], bath.both[index]
                if turn == 1 and target < 0.0:
                    return chosen_j, chosen_k
        for i in range(p_count):
            for k in range(d_count):
                if p.key[i] < d.key[k] and p.label[i] == d.label[k]:
                    weight = math.exp(p.logit[i] + d.logit[k] - best)
                    everything += weight
                    target -= weight
                    if weight > 0.0:
                        chosen_j, chosen_k = p.gaps.behind[i], d.gaps.behind[k]
                        if turn == 1 and target < 0.0:
                            return chosen_j, chosen_k
    return chosen_j, chosen_k


@njit(**BORROWING)
def _draw_pair(bath, p_count, d_count, b_count, shift, high_d, first, second):  # type: ignore[no-untyped-def]
    """(j, k) by exp(logit), as nodes; ``shift`` is above all logits of pairs, but not too far."""
    p, d, ahead = bath.pickup, bath.delivery, bath.ahead
    p_key, p_label = p.key, p.label
    for i in range(p_count):
        p.weight[i] = math.exp(p.logit[i] - (shift - high_d))
        ahead[i] = 0.0
    for k in range(d_count):
        weight = math.exp(d.logit[k] - high_d)
        d.weight[k] = weight
        key, label = d.key[k], d.label[k]
        for i in range(p_count):
            ahead[i] += weight if (p_key[i] < key) & (p_label[i] == label) else 0.0
    everything = 0.0
    for i in range(p_count):
        everything += p.weight[i] * ahead[i]
    for index in range(b_count):
        bath.both_logit[index] = math.exp(bath.both_logit[index] - shift)
        everything += bath.both_logit[index]

    target = first * everything
    chosen = -1
    for index in range(b_count):
        if bath.both_logit[index] > 0.0:
            chosen = index  # of positive weight even if rounding leaves a rest of the target
            target -= bath.both_logit[index]
            if target < 0.0:
                return bath.both[index], bath.both[index]
    pickup = -1
    for i in range(p_count):
        share = p.weight[i] * ahead[i]
        if share > 0.0:
            pickup = i
            target -= share
            if target < 0.0:
                break
    if pickup < 0:
        return bath.both[chosen], bath.both[chosen]
    target = second * ahead[pickup]
    delivery = 0
    for k in range(d_count):
        if p_key[pickup] < d.key[k] and p_label[pickup] == d.label[k] and d.weight[k] > 0.0:
            delivery = k
            target -= d.weight[k]
            if target < 0.0:
                break
    return p.gaps.behind[pickup], d.gaps.behind[delivery]


@njit(**BORROWING)
def draw_place(  # type: ignore[no-untyped-def]
    variant,
    links,
    legs,
    near,
    pickup,
    delivery,
    inverse_t,
    alone,
    old_j,
    old_k,
    taste,
    bath,
    first,
    second,
):
    """(j, k): the nodes behind which pickup and delivery go; j = k means one behind the other.

    A logit is minus the change in cost times ``inverse_t``. A request that is ``alone`` off the tour came
    from behind ``old_j`` and ``old_k``. ``first`` and ``second`` are uniform numbers.
    """
    bath.draws[0] += 1
    draw = bath.draws[0]
    p, d = bath.pickup, bath.delivery
    p_count = _list_once(p, list_gaps(links, legs, near, pickup, True, p.gaps), draw)
    d_count = _list_once(d, list_gaps(links, legs, near, delivery, False, d.gaps), draw)
    if alone:
        p_count = _add_gap(links, legs, pickup, old_j, True, p, p_count, draw)
        d_count = _add_gap(links, legs, delivery, old_k, False, d, d_count, draw)
    high_p = _look_up(links, p, 0, p_count, inverse_t, alone, old_j, taste.pickup, -np.inf)
    high_d = _look_up(links, d, 0, d_count, inverse_t, alone, old_k, taste.delivery, -np.inf)
    best = _known_pair(p, p_count, d, d_count, -np.inf)

    # Both into one gap. No arc costs less than nothing, so most are ruled out before the last look-up.
    between = leg(legs, pickup, delivery)
    stay = taste.both if alone and old_j == old_k else 0.0
    most = taste.together + max(stay, 0.0)
    high_b = -np.inf
    b_count = 0
    for index in range(p_count + d_count):
        mine = index < p_count
        if mine:
            gap, part = p.gaps.behind[index], p.gaps.part[index]
        else:
            gap, part = d.gaps.behind[index - p_count], d.gaps.part[index - p_count]
            if p.listed[gap] == draw:
                continue
        if most - (part + between) * inverse_t < best - FAINTEST:
            continue
        last = leg(legs, delivery, links.succ[gap]) if mine else leg(legs, gap, pickup)
        logit = taste.together - (part + between + last) * inverse_t
        if alone and gap == old_j and old_j == old_k:
            logit += stay
        if logit >= best - FAINTEST:
            bath.both[b_count] = gap
            bath.both_logit[b_count] = logit
            b_count += 1
            high_b = max(high_b, logit)
            best = max(best, logit)

    if variant == LIFO:
        counts = (p_count, d_count)
        p_count, d_count = _pass_blocks(
            *(links, legs, pickup, delivery, bath, counts, best - FAINTEST, (high_p, high_d), draw)
        )
        high_p = _look_up(
            links, p, counts[0], p_count, inverse_t, alone, old_j, taste.pickup, high_p
        )
        high_d = _look_up(
            links, d, counts[1], d_count, inverse_t, alone, old_k, taste.delivery, high_d
        )
        best = _known_pair(p, p_count, d, d_count, best)
    floor = best - FAINTEST
    p_count = _keep_promising(p, p_count, floor - high_d)
    d_count = _keep_promising(d, d_count, floor - high_p)
    shift = max(high_p + high_d, high_b)
    if shift - best > WIDEST:
        return _draw_slowly(bath, p_count, d_count, b_count, first)
    return _draw_pair(bath, p_count, d_count, b_count, shift, high_d, first, second)

"""The heat bath of ``reinsertion`` on a linked tour, over the gaps beside near stops only.

The pickup may go into the gaps beside the stops nearest to it, the delivery likewise (``linked_recreate``),
and both together into any of these. On a stack, a few blocks are passed from those that promise something,
to find more on their level. What was just taken out may also go back where it was. Over the pairs of these
that the labels allow, the draw is that of exp(logit), exactly but for what lies ``FAINTEST`` below a known
pair.

There is no order to scan the few gaps in: every delivery gap adds its weight to the pickup gaps before it,
one vector loop each, which takes less time than to sort them. Which gaps are listed twice or dropped cannot
be foreseen, so they are overwritten rather than skipped: a wrong guess of the processor would cost more.
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

FAINTEST = 28.0
"""What is left out has less than exp(-28) of the weight of a known pair: all of it a billionth at most."""
WIDEST = 300.0
"""How far the best of each side may be above the best pair, so that no product of weights vanishes."""


class Side(NamedTuple):
    """The gaps for one of the two stops, one number each; and by node and by label."""

    gaps: Gaps
    key: NDArray[np.int64]
    label: NDArray[np.int64]
    logit: NDArray[np.float64]
    weight: NDArray[np.float64]
    listed: NDArray[np.int64]
    """(N,) in which draw the gap behind a node was listed last."""
    high: NDArray[np.float64]
    """(n + 1,) the highest logit with a label, ..."""
    where: NDArray[np.int64]
    """... and which gap has it."""


class Bath(NamedTuple):
    """Scratch of the draw."""

    pickup: Side
    delivery: Side
    labelled: NDArray[np.int64]
    """(n + 1,) in which draw a label was met last."""
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
        np.zeros(size // 2 + 1),
        np.zeros(size // 2 + 1, np.int64),
    )


@njit(cache=True)
def new_bath(size, width):  # type: ignore[no-untyped-def]
    """Scratch for tours of ``size`` nodes with ``width`` neighbours each."""
    room = (1 + STEPS) * (width + 2)
    return Bath(
        _new_side(size, room),
        _new_side(size, room),
        np.zeros(size // 2 + 1, np.int64),
        np.zeros(2 * room + 2),
        np.zeros(4 * room + 4, np.uint32),
        np.zeros(4 * room + 4),
        np.zeros(1, np.int64),
    )


@njit(**INLINE)
def _enter(links, side, count, gap, part, logit):  # type: ignore[no-untyped-def]
    side.gaps.behind[count] = gap
    side.gaps.part[count] = part
    side.key[count] = links.key[gap]
    side.label[count] = links.top[gap]
    side.logit[count] = logit


@njit(**INLINE)
def _add_gap(links, legs, node, gap, is_pickup, side, count, inverse_t, draw):  # type: ignore[no-untyped-def]
    """List one more gap unless it is there; how many."""
    if side.listed[gap] == draw:
        return count
    side.listed[gap] = draw
    come, go, old = leg(legs, gap, node), leg(legs, node, links.succ[gap]), links.arc[gap]
    part = (come if is_pickup else go) - old
    _enter(links, side, count, gap, part, -(come + go - old) * inverse_t)
    return count + 1


@njit(**BORROWING)
def _list_side(links, legs, near, node, is_pickup, side, inverse_t, alone, old, bonus, draw):  # type: ignore[no-untyped-def]
    """List the gaps for a stop, each once: a weight must not count twice. How many."""
    behind, cost, part = side.gaps
    found = list_gaps(links, legs, near, node, is_pickup, side.gaps)
    count = 0
    for index in range(found):
        gap = behind[index]
        logit = -cost[index] * inverse_t
        if alone and gap == old:
            logit += bonus
        _enter(links, side, count, gap, part[index], logit)
        count += 1 if side.listed[gap] != draw else 0
        side.listed[gap] = draw
    if alone and side.listed[old] != draw:
        count = _add_gap(links, legs, node, old, is_pickup, side, count, inverse_t, draw)
        side.logit[count - 1] += bonus
    return count


@njit(**BORROWING)
def _known_pair(bath, p_count, d_count, draw, best):  # type: ignore[no-untyped-def]
    """The highest logit of both sides with each label, and that of a good pair.

    The best gap with a label is tried with all those of the other side that have it.
    """
    p, d = bath.pickup, bath.delivery
    for index in range(p_count):
        label = p.label[index]
        if bath.labelled[label] != draw:
            bath.labelled[label] = draw
            p.high[label], d.high[label] = -np.inf, -np.inf
        if p.logit[index] > p.high[label]:
            p.high[label], p.where[label] = p.logit[index], index
    for index in range(d_count):
        label = d.label[index]
        if bath.labelled[label] != draw:
            bath.labelled[label] = draw
            p.high[label], d.high[label] = -np.inf, -np.inf
        if d.logit[index] > d.high[label]:
            d.high[label], d.where[label] = d.logit[index], index
    for index in range(p_count):
        label = p.label[index]
        logit = p.logit[index] + d.high[label]
        if logit > best and p.key[index] < d.key[d.where[label]]:
            best = logit
    for index in range(d_count):
        label = d.label[index]
        logit = d.logit[index] + p.high[label]
        if logit > best and p.key[p.where[label]] < d.key[index]:
            best = logit
    return best


@njit(**BORROWING)
def _pass_blocks(links, legs, pickup, delivery, bath, counts, inverse_t, floor, draw):  # type: ignore[no-untyped-def]
    """List the gaps a few blocks behind promising pickup gaps, and before delivery gaps: how many.

    A gap that is not known yet may cost less than all known ones, but where the triangle inequality holds,
    not less than nothing.
    """
    succ, pred = links.succ, links.pred
    n = delivery - pickup
    p, d = bath.pickup, bath.delivery
    p_count, d_count = counts
    high_p, high_d = 0.0, 0.0
    for index in range(p_count):
        high_p = max(high_p, p.logit[index])
    for index in range(d_count):
        high_d = max(high_d, d.logit[index])
    for index in range(counts[0]):
        if p.logit[index] + high_d >= floor:
            node = succ[p.gaps.behind[index]]
            for _ in range(STEPS):
                if node == 0 or node > n:
                    break
                last = np.uint32(node + n)
                d_count = _add_gap(links, legs, delivery, last, False, d, d_count, inverse_t, draw)
                node = succ[last]
    for index in range(counts[1]):
        if d.logit[index] + high_p >= floor:
            node = d.gaps.behind[index]
            for _ in range(STEPS):
                if node <= n:
                    break
                node = pred[np.uint32(node - n)]
                p_count = _add_gap(links, legs, pickup, node, True, p, p_count, inverse_t, draw)
    return p_count, d_count


@njit(**BORROWING)
def _keep_promising(side, count, other, floor):  # type: ignore[no-untyped-def]
    """Drop the gaps that no gap of the other side lifts to the floor: (how many are left, the highest)."""
    kept, high = 0, -np.inf
    for index in range(count):
        logit, label = side.logit[index], side.label[index]
        keep = logit + other.high[label] >= floor
        side.gaps.behind[kept] = side.gaps.behind[index]
        side.key[kept] = side.key[index]
        side.label[kept] = label
        side.logit[kept] = logit
        high = max(high, logit if keep else -np.inf)
        kept += 1 if keep else 0
    return kept, high


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
    p_count = _list_side(
        links, legs, near, pickup, True, p, inverse_t, alone, old_j, taste.pickup, draw
    )
    d_count = _list_side(
        links, legs, near, delivery, False, d, inverse_t, alone, old_k, taste.delivery, draw
    )
    best = _known_pair(bath, p_count, d_count, draw, -np.inf)

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
        counts, floor = (p_count, d_count), best - FAINTEST
        p_count, d_count = _pass_blocks(
            links, legs, pickup, delivery, bath, counts, inverse_t, floor, draw
        )
        best = _known_pair(bath, p_count, d_count, draw, best)
    floor = best - FAINTEST
    p_count, high_p = _keep_promising(p, p_count, d, floor)
    d_count, high_d = _keep_promising(d, d_count, p, floor)
    if d_count == 0:  # all in one gap
        high_p, high_d = 0.0, high_b
    shift = max(high_p + high_d, high_b)
    if shift - best > WIDEST:
        return _draw_slowly(bath, p_count, d_count, b_count, first)
    return _draw_pair(bath, p_count, d_count, b_count, shift, high_d, first, second)

"""The native policy: N2S's decisions by a few hundred parameters over local features, without a network.

One step takes a request out, drawn from a softmax of a small MLP over features that are kept up to date,
perhaps with related ones, and puts each back by the heat bath (``native_draw``, ``cold_bath``) at a
temperature that a second MLP chooses; or it moves a block, or another stretch, as it is. What the policy
sees of the whole: how far the tour is above the best one, for how long nothing improved, how much of the
budget is used, how large it is and what it counts. docs/native.md has the equations.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from n2s.kernels.blocks import cheapest_elsewhere, room_of, shift_block
from n2s.kernels.chain import ORDERS, sort_requests
from n2s.kernels.cold_bath import COLD_BATH, draw_cold_allowed, draw_cold_anywhere, new_scratch
from n2s.kernels.native_decisions import (
    EAGER_BLOCKS,
    FARTHEST,
    LEVELS,
    OLDEST,
    PLACES,
    SEEN,
    SEVERAL,
    VIEWS,
    WAYS,
    block_chance,
    building_temperature,
    count_chances,
    draw_count,
    draw_request,
    draw_stretch,
    factor,
    looks_around,
    pass_over,
    removal_scores,
    return_chance,
    tell_outlook,
    temperature_of,
    views,
    way_chances,
)
from n2s.kernels.native_draw import draw_allowed, draw_anywhere, draw_exactly, insertion_logits
from n2s.kernels.outlook import look_around
from n2s.kernels.random import next_below, next_uniform
from n2s.kernels.recreate import open_gaps
from n2s.kernels.ruin import mark, ruin_similar, ruin_stretch, ruin_strings
from n2s.kernels.rules import gap_labels

CANCELLED = 1e-3
"""Share of an intermediate cost below which a sum of changes has lost digits and is added up anew."""


@njit(cache=True, error_model="numpy")
def look(leave, tour, arcs, n, scale, place, features):  # type: ignore[no-untyped-def]
    """Places and the features of a tour that has changed: detours, span and depth of every request."""
    size = len(tour)
    per_edge, per_node = 1.0 / scale, np.float32(1.0 / size)
    depth = np.float32(0.0)
    before = 0
    arc = arcs[0]
    for position in range(1, size):
        node = tour[position]
        behind = tour[position + 1] if position + 1 < size else 0
        following = arcs[position]
        extra = (arc + following - leave[before, behind]) * per_edge
        detour = np.float32(min(max(extra, -FARTHEST), FARTHEST))
        place[node] = position
        if node <= n:
            features[0, node - 1] = detour
            features[7, node - 1] = depth
            depth += np.float32(0.2)
        else:
            features[1, node - n - 1] = detour
            depth -= np.float32(0.2)
        before, arc = node, following
    for r in range(n):
        features[6, r] = np.float32(place[r + 1 + n] - place[r + 1]) * per_node


@njit(cache=True, error_model="numpy")
def measure(leave, tour, arcs):  # type: ignore[no-untyped-def]
    """The arcs of a tour, each by the position that it leaves."""
    size = len(tour)
    for position in range(size):
        arcs[position] = leave[tour[position], tour[(position + 1) % size]]


@njit(cache=True, error_model="numpy")
def _any_left(times, n, rank):  # type: ignore[no-untyped-def]
    """The request of this rank among those that were never taken out."""
    chosen = 0
    for r in range(n):
        if times[r] < 0:
            chosen = r + 1
            if rank == 0:
                break
            rank -= 1
    return chosen


@njit(cache=True, error_model="numpy")
def _settled_part(leave, rest, left, times, n, part, arcs, where):  # type: ignore[no-untyped-def]
    """The tour of the settled requests, with its arcs and where its stops stand; how many they are."""
    part[0], where[0] = 0, 0
    count = 1
    for position in range(1, left):
        node = rest[position]
        if times[(node if node <= n else node - n) - 1] >= 0:
            arcs[count - 1] = leave[part[count - 1], node]
            part[count], where[count] = node, position
            count += 1
    arcs[count - 1] = leave[part[count - 1], 0]
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def run_native(  # type: ignore[no-untyped-def]
    variant,
    leave,
    reach,
    back,
    near,
    alike,
    theta,
    bias,
    scale,
    tour,
    best_tour,
    costs,
    times,
    traces,
    counters,
    state,
    steps,
    progress,
    pace,
    toil,
    budget,
    timed,
    build,
):
    """Go on with ``tour`` for some steps, in place; returns the progress behind them.

    ``reach`` is what the bath believes arcs to cost that come to a stop, ``back`` the costs transposed.
    ``bias`` (n,) is added to the logits of taking a request out. ``costs`` (2,) are the current and the
    best cost; ``times`` (n,) the step at which a request was last taken out, ``traces`` (n,) how often
    lately; ``counters`` (2,) the steps made and those without improvement. Progress begins at ``progress``
    and grows by ``pace`` a step and ``toil`` a request put back; where toil counts, the chain ends at 1.
    ``budget`` are the steps for each request that the whole chain has; ``timed`` says that time counts,
    not steps.

    With ``build``, requests that were never taken out (``times`` below 0) are not looked at: as long as
    there are any, a step takes out one of them, any alike, and puts it among those that were, as if the
    others were not there. So n steps build a tour, whatever the one they began with was.
    """
    size = len(tour)
    n = size // 2
    now = tour.astype(np.uint32)  # unsigned: an index that cannot be negative needs no look
    rest, arcs = np.empty(size, np.uint32), np.empty(size)
    tour_arcs, place = np.empty(size), np.zeros(size, np.int64)
    gone = np.zeros(n + 1, np.uint8)
    out, keys = np.empty(n, np.int64), np.empty(n)
    labels = np.zeros((2, size), np.int64)
    part, part_arcs, where = np.empty(size, np.uint32), np.empty(size), np.zeros(size, np.int64)
    part_labels = np.zeros((2, size), np.int64)
    total, below = np.zeros(n + 1, np.float32), np.zeros(n + 1, np.int64)
    logits, weights = np.empty((3, size), np.float32), np.empty((4, size), np.float32)
    scratch = new_scratch(size)
    features = np.zeros((SEEN, n), np.float32)
    around = looks_around(theta)
    tops, least = np.empty(size, np.int64), np.empty((n + 1, n) if around else (0, 0))
    direct, kept, changes = np.empty(n), np.empty((2, n)), np.empty(n)
    scores, chances = np.empty(n, np.float32), np.empty(n, np.float32)
    seen, counts, ways = np.empty(VIEWS), np.empty(LEVELS), np.empty(WAYS)
    way_chances(theta, ways)
    measure(leave, now, tour_arcs)
    for r in range(n):
        direct[r] = leave[r + 1, r + 1 + n]
        features[5, r] = min(0.2 * leave[r + 1, r + 1 + n] / scale, FARTHEST)
    look(leave, now, tour_arcs, n, scale, place, features)
    current, best = costs[0], costs[1]
    clock, stagnation = counters[0], counters[1]
    per_request = np.float32(1.0 / n)
    fade = np.float32(1.0 - 0.5 / n)
    built = n
    if build:
        built = 0
        for r in range(n):
            built += times[r] >= 0
    oldest, one, four = np.float32(OLDEST), np.float32(1.0), np.float32(4.0)
    for _ in range(steps):
        if toil > 0.0 and progress >= 1.0:
            break
        views(current, best, scale, stagnation, size, min(progress, 1.0), budget, timed, seen)
        temperature = temperature_of(theta, seen, scale)
        progress += pace
        clock += 1
        stagnation += 1
        changed = False
        building = built < n
        if not building and current > best and next_uniform(state) < return_chance(theta, seen):
            current = best
            for position in range(size):
                now[position] = best_tour[position]
            measure(leave, now, tour_arcs)
            look(leave, now, tour_arcs, n, scale, place, features)
            seen[0] = 0.0  # what else is seen of the whole is the same
            temperature = temperature_of(theta, seen, scale)
        if not building and next_uniform(state) < block_chance(theta, seen):
            progress += toil
            first, last = draw_stretch(variant, place, size, state)
            lowest, highest = room_of(now, place, n, first, last)
            gap, change = cheapest_elsewhere(leave, now, first, last, lowest, highest)
            eager = temperature * factor(theta[EAGER_BLOCKS])
            if gap >= 0 and change < -eager * math.log(1.0 - next_uniform(state)):
                shift_block(now, place, first, last, gap, rest)
                changed = True
                measure(leave, now, tour_arcs)
                before = current
                current += change
                if current < CANCELLED * before:
                    current = tour_arcs.sum()
        else:
            for r in range(n):
                age = min(np.float32(clock - times[r]) * per_request, oldest)
                features[2, r] = age
                features[3, r] = one / (one + four * age)
                features[4, r] = traces[r]
                traces[r] *= fade
            count, request = 1, 0
            if building:
                request = _any_left(times, n, next_below(state, n - built))
            elif around:
                look_around(
                    variant, back, leave, now, tour_arcs, direct, below, tops, least, kept, changes
                )
                tell_outlook(changes, n, scale, temperature, features)
            if not building:
                removal_scores(theta, seen, features, n, scores)
                for r in range(n):
                    scores[r] += bias[r]
                count_chances(theta, seen, counts)
                count = draw_count(counts, n, state)
                if count == 1 and n > 1:
                    pass_over(scores, times, clock - 1, n)
                request = draw_request(scores, n, chances, next_uniform(state))
            listed = mark(request, n, gone, out, 0)
            if count > 1:
                u = next_uniform(state)
                node = request + n * next_below(state, 2)
                if u < ways[0]:
                    listed = ruin_strings(
                        now, place, near, node, count, n, gone, out, listed, state
                    )
                elif u < ways[1]:
                    listed = ruin_stretch(now, place, node, count, n, gone, out, listed)
                else:
                    listed = ruin_similar(alike, node, count, n, gone, out, listed, state)

            # What remains, and its cost: arcs between nodes that stayed neighbours are not looked up again.
            rest[0] = 0
            left, last, cost = 1, 0, 0.0
            old_j, old_k = 0, 0
            for position in range(1, size):
                node = now[position]
                if gone[node if node <= n else node - n] == 0:
                    arc = tour_arcs[last] if position == last + 1 else leave[rest[left - 1], node]
                    arcs[left - 1] = arc
                    cost += arc
                    rest[left] = node
                    left += 1
                    last = position
                elif node <= n:
                    old_j = left - 1
                else:
                    old_k = left - 1
            arcs[left - 1] = leave[rest[left - 1], 0]
            cost += arcs[left - 1]
            bath = temperature
            if building:
                bath = building_temperature(theta, scale)
            if listed > 1:
                sort_requests(next_below(state, ORDERS), leave, out, listed, n, keys, state)
                bath *= factor(theta[SEVERAL])
            cold = listed > 1 and bath < COLD_BATH * scale
            inverse_t = 1.0 / bath
            together = theta[PLACES + 3]
            highest = cost
            for index in range(listed):
                pickup = out[index]
                gone[pickup] = 0
                if variant != 0:
                    gap_labels(variant, rest[:left], n, labels[0], labels[1], below)
                u, v = next_uniform(state), next_uniform(state)
                j, k = -1, -1
                sight, seen_rest, seen_arcs, seen_labels = left, rest, arcs, labels
                if building:
                    sight = _settled_part(leave, rest, left, times, n, part, part_arcs, where)
                    for gap in range(sight if variant != 0 else 0):
                        part_labels[0, gap] = labels[0, where[gap]]
                        part_labels[1, gap] = labels[1, where[gap]]
                    seen_rest, seen_arcs, seen_labels = part, part_arcs, part_labels
                if cold and variant == 0:
                    j, k = draw_cold_anywhere(
                        *(reach, leave, rest, arcs, left, pickup, pickup + n),
                        *(bath, bath * together, u, v, scratch),
                    )
                elif cold:
                    j, k = draw_cold_allowed(
                        *(reach, leave, rest, arcs, left, pickup, pickup + n),
                        *(labels[0], labels[1], bath, bath * together, u, v, scratch),
                    )
                if j < 0:
                    insertion_logits(
                        *(reach, leave, seen_rest, seen_arcs, sight, pickup, pickup + n),
                        *(inverse_t, logits),
                    )
                    if listed == 1 and not building:
                        logits[0, old_j] += theta[PLACES]
                        logits[1, old_k] += theta[PLACES + 1]
                        if old_j == old_k:
                            logits[2, old_j] += theta[PLACES + 2]
                    for gap in range(sight if not building else 0):
                        logits[2, gap] += np.float32(together)
                    if variant == 0:
                        j, k = draw_anywhere(logits, sight, weights, u, v)
                    else:
                        j, k = draw_allowed(
                            *(logits, sight, seen_labels[0], seen_labels[1]),
                            *(weights, total, u, v),
                        )
                if j < 0:  # labels are 0 where precedence alone counts
                    j, k = draw_exactly(logits, sight, n, seen_labels[0], seen_labels[1], u, v)
                if building:
                    j, k = where[j], where[k]
                    built += 1
                cost += open_gaps(leave, rest, arcs, left, pickup, pickup + n, j, k)
                highest = max(highest, cost)
                left += 2
                times[pickup - 1] = clock
                traces[pickup - 1] += np.float32(0.5)
            if cost < CANCELLED * highest:
                cost = arcs.sum()
            progress += toil * listed
            if listed == 1:
                changed = True
            else:
                eager = temperature * factor(theta[SEVERAL + 1])
                changed = cost < current - eager * math.log(1.0 - next_uniform(state))
            if changed:
                current = cost
                for position in range(size):
                    now[position] = rest[position]
                    tour_arcs[position] = arcs[position]
        if changed:
            look(leave, now, tour_arcs, n, scale, place, features)
            if current < best - 1e-12 * scale:
                best = current
                best_tour[:] = now
                stagnation = 0
    tour[:] = now
    costs[0], costs[1] = current, best
    counters[0], counters[1] = clock, stagnation
    return progress

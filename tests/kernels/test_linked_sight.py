"""What the policy sees of a linked tour: a sample, its features, and traces that fade when looked at."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from kernels.test_linked import SPAN, linked
from kernels.test_native_decisions import random_theta
from kernels.test_native_draw import assert_frequencies
from n2s.kernels.linked_change import new_log, put_request, take_request
from n2s.kernels.linked_sight import (
    SAMPLE,
    Memory,
    draw_sample,
    look_along,
    look_at_sample,
    new_sight,
    pick_request,
    remember,
    settle,
)
from n2s.kernels.native_decisions import PARAMETERS
from n2s.problem import Variant, random_tour


def state(seed: int) -> np.ndarray:
    return np.array([seed], np.uint64)


def memory(n: int, seed: int = 0) -> Memory:
    rng = np.random.default_rng([n, seed])
    return Memory(
        rng.integers(-10 * n, 1, n),
        rng.random(n).astype(np.float32),
        np.zeros(n, np.int64),
        np.array([1, 0, 0]),
    )


def scene(n: int, variant: Variant, seed: int = 0):
    """Costs, a random tour and its links, looked along."""
    rng = np.random.default_rng([n, seed])
    costs = rng.random((2 * n + 1, 2 * n + 1))
    tour = random_tour(n, variant, rng)
    links = linked(variant.code, costs, tour, SPAN)
    sight = new_sight(2 * n + 1)
    look_along(links, sight)
    return costs, tour.tolist(), links, sight


@pytest.mark.parametrize("n", [1, 2, 7, SAMPLE])
def test_few_requests_are_all_seen(n: int) -> None:
    sample = np.zeros(SAMPLE, np.int64)
    assert draw_sample(n, sample, state(1)) == n
    assert sample[:n].tolist() == list(range(1, n + 1))


@pytest.mark.parametrize("n", [SAMPLE + 1, 170, 400])
def test_a_sample_is_of_different_requests_each_as_likely(n: int) -> None:
    counts: dict[int, int] = {}
    sample, generator = np.zeros(SAMPLE, np.int64), state(n)
    for _ in range(5000):
        assert draw_sample(n, sample, generator) == SAMPLE
        assert len(set(sample.tolist())) == SAMPLE
        for request in sample.tolist():
            counts[request] = counts.get(request, 0) + 1
    # Without replacement frequencies vary less than chi-square allows for.
    assert_frequencies(counts, dict.fromkeys(range(1, n + 1), 1 / n))


@pytest.mark.parametrize("n", [1, 2, 7, 25, 150])
def test_features_are_those_of_the_whole_tour(n: int, variant: Variant) -> None:
    for seed in range(3):
        costs, tour, links, sight = scene(n, variant, seed)
        known = memory(n, seed)
        count = draw_sample(n, sight.sample, state(seed))
        look_at_sample(links, costs, 0.4, known, sight, count)
        expected = oracles.native_features(costs, tour, 0.4, 1, known.times, known.traces)
        seen = sight.sample[:count] - 1
        assert sight.features[:8, :count] == pytest.approx(expected[:, seen], abs=3e-6)
        assert not sight.features[8:].any()  # nobody looks around on long tours
        assert (sight.times[:count] == known.times[seen]).all()


def test_detours_are_those_of_now_and_places_follow_what_moved(variant: Variant) -> None:
    """One request goes elsewhere: what costs tell stays exact, its own place is right beside its stops."""
    n = 12
    costs, tour, links, sight = scene(n, variant)
    log = new_log(n)
    request = 5
    pickup, delivery = np.uint32(request), np.uint32(request + n)
    take_request(variant.code, links, costs, pickup, delivery, log, 0)
    rest = oracles.without(tour, request)
    gap = rest.index(next(node for node in rest[15:] if node > 0))
    node = np.uint32(rest[gap])
    put_request(variant.code, links, costs, pickup, delivery, node, node, log, 0)
    for stop, more in ((pickup, 1), (delivery, -1)):
        settle(links, sight, stop, more)
    moved = oracles.reinserted(rest, request, gap, gap)
    known = memory(n)
    count = draw_sample(n, sight.sample, state(1))
    look_at_sample(links, costs, 0.4, known, sight, count)
    expected = oracles.native_features(costs, moved, 0.4, 1, known.times, known.traces)
    rows = [0, 1, 2, 3, 4, 5]
    assert sight.features[rows, :n] == pytest.approx(expected[rows], abs=3e-6)
    assert sight.features[6, request - 1] == pytest.approx(1 / len(tour))
    assert sight.features[7, request - 1] == pytest.approx(expected[7, request - 1], abs=0.21)
    look_along(links, sight)
    look_at_sample(links, costs, 0.4, known, sight, count)
    assert sight.features[:8, :n] == pytest.approx(expected, abs=3e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 500])
def test_a_trace_that_fades_when_looked_at_is_the_one_that_always_fades(n: int) -> None:
    rng = np.random.default_rng(n)
    known = Memory(
        np.full(n, -10), np.zeros(n, np.float32), np.zeros(n, np.int64), np.zeros(3, np.int64)
    )
    always = np.zeros(n)
    last = np.full(n, -10)
    for clock in range(1, 400):
        known.counters[0] = clock
        known.counters[2] += 1
        always *= 1 - 0.5 / n
        out = rng.permutation(n)[: rng.integers(1, min(n, 5) + 1)] + 1
        for request in out:
            remember(known, request, np.log(1 - 0.5 / n))
        always[out - 1] += 0.5
        last[out - 1] = clock
        assert known.traces[out - 1] == pytest.approx(always[out - 1], rel=1e-4)
    assert (known.times == last).all()


def test_the_request_is_drawn_by_its_share(variant: Variant) -> None:
    """20,000 draws of seven, by chi-square: the softmax over features of the slow twin."""
    n = 7
    costs, tour, links, sight = scene(n, variant)
    theta, seen, known = random_theta(8, 0.4), np.array([0.0, 0.0, 0.3, 0.5, 1.0]), memory(n)
    known.times[2] = 0  # what was taken out in the last step ...
    features = oracles.native_features(costs, tour, 0.4, 1, known.times, known.traces)
    scores = oracles.native_scores(theta, seen, features)
    for alone in (False, True):
        weights = np.exp(scores - scores.max())
        weights[2] *= not alone  # ... is not taken out alone again
        generator = state(3)
        counts: dict[int, int] = {}
        for _ in range(20_000):
            request = pick_request(links, costs, theta, seen, 0.4, known, sight, alone, generator)
            counts[request] = counts.get(request, 0) + 1
        assert (3 in counts) != alone
        assert_frequencies(counts, dict(enumerate(weights / weights.sum(), 1)))


def test_of_many_requests_the_better_half_is_taken_out_more_often(variant: Variant) -> None:
    """A sample of a third, and a score that is steep in the trace."""
    n = 3 * SAMPLE
    costs, _, links, sight = scene(n, variant)
    theta = np.zeros(PARAMETERS)
    oracles.native_blocks(theta)["removal/linear"][4] = 5.0
    theta.setflags(write=False)
    known = memory(n)
    generator, high = state(1), 0
    for _ in range(2000):
        request = pick_request(
            links, costs, theta, np.zeros(5), 0.4, known, sight, False, generator
        )
        high += known.traces[request - 1] > np.median(known.traces)
    share = np.exp(5 * known.traces)
    upper = share[known.traces > np.median(known.traces)].sum() / share.sum()
    assert high / 2000 == pytest.approx(upper, abs=0.03)

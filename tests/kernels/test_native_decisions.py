"""What the native policy decides from what it sees: every formula against its slow twin."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import oracles
from kernels.test_native_draw import assert_frequencies
from n2s.kernels.native_decisions import (
    LAYOUT,
    PARAMETERS,
    block_chance,
    count_chances,
    draw_count,
    draw_request,
    draw_stretch,
    factor,
    looks_around,
    removal_scores,
    return_chance,
    tell_outlook,
    temperature_of,
    views,
    way_chances,
)
from n2s.problem import Variant


def random_theta(seed: int, sigma: float = 1.0) -> np.ndarray:
    theta = np.random.default_rng([seed, 186]).normal(0.0, sigma, PARAMETERS)
    theta.setflags(write=False)  # as a policy's are: kernels are compiled for one kind of array
    return theta


def random_views(seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, 4])
    return np.array([*rng.uniform(0, 3, 2), rng.random(), rng.uniform(-1.75, 2.0), seed % 2])


def test_the_layout() -> None:
    shapes = oracles.NATIVE_BLOCKS
    assert list(LAYOUT) == list(shapes)
    assert list(LAYOUT.values()) == [math.prod(shape) for shape in shapes.values()]
    assert PARAMETERS == 241


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # current, best, mean edge, stagnation, N, progress, steps a request, timed
        ((7.0, 5.0, 0.5, 0, 11, 0.25, 128.0, False), [1.0, 0.0, 0.25, 0.0, 0.0]),
        ((5.0, 5.0, 0.5, 33, 11, 0.0, 2048.0, True), [0.0, 1.5, 0.0, 1.0, 1.0]),
        ((99.0, 5.0, 0.5, 10**6, 11, 1.0, 1.0, False), [3.0, 3.0, 1.0, -1.75, 0.0]),
    ],
)
def test_views(arguments: tuple, expected: list[float]) -> None:
    seen = np.full(5, np.nan)
    views(*arguments, seen)
    assert seen.tolist() == expected


@pytest.mark.parametrize("sigma", [0.0, 0.3, 3.0, 300.0])
@pytest.mark.parametrize("seed", range(5))
def test_decisions_are_those_of_the_slow_twins(seed: int, sigma: float) -> None:
    theta, seen = random_theta(seed, sigma), random_views(seed)
    assert temperature_of(theta, seen, 0.7) == pytest.approx(
        oracles.native_temperature(theta, seen, 0.7), rel=1e-12
    )
    counts, ways = np.empty(6), np.empty(3)
    count_chances(theta, seen, counts)
    assert np.diff(counts, prepend=0.0) == pytest.approx(
        oracles.native_counts(theta, seen), abs=1e-12
    )
    assert counts[-1] == 1.0
    way_chances(theta, ways)
    weights = np.exp(np.clip(oracles.native_blocks(theta)["ways"], -40, 40))
    assert np.diff(ways, prepend=0.0) == pytest.approx(weights / weights.sum(), abs=1e-12)
    assert block_chance(theta, seen) == pytest.approx(
        oracles.native_block_chance(theta, seen), rel=1e-12
    )
    assert return_chance(theta, seen) == pytest.approx(
        oracles.native_return_chance(theta, seen), rel=1e-12
    )
    features = np.random.default_rng(seed).uniform(-4, 4, (10, 7)).astype(np.float32)
    scores = np.empty(7, np.float32)
    removal_scores(theta, seen, features, 7, scores)
    expected = oracles.native_scores(theta, seen, features.astype(float))
    assert scores == pytest.approx(expected, rel=1e-5, abs=1e-5 * sigma * (1 + sigma))


def test_savings_by_hand() -> None:
    """In mean edges of 0.5 and temperatures of 0.25, at most 100 and 30; worse places are negative."""
    features = np.full((10, 5), 7, np.float32)
    tell_outlook(np.array([-0.5, 0.25, 20.0, -1e9, np.inf]), 5, 0.5, 0.25, features)
    assert features[8].tolist() == [1.0, -0.5, -40.0, 100.0, -100.0]
    assert features[9].tolist() == [2.0, -1.0, -30.0, 30.0, -30.0]
    assert (features[:8] == 7).all()


@pytest.mark.parametrize("index", [0, 1, 2, 17])
def test_who_weighs_savings_looks_around(index: int) -> None:
    theta = np.zeros(PARAMETERS)
    assert not looks_around(theta)
    oracles.native_blocks(theta)["outlook"].reshape(-1)[index] = 1e-9
    assert looks_around(theta)


def test_decisions_of_zeros() -> None:
    """From 0.4 to 0.05 edges; one request with e^2 against e^-1 to e^-5; blocks e^-3, returns e^-6."""
    theta = random_theta(0, 0.0)
    temperatures = [temperature_of(theta, np.array([1.0, 2, p, 1]), 3.0) for p in (0, 0.5, 1)]
    assert temperatures == pytest.approx([1.2, 3 * math.sqrt(0.4 * 0.05), 0.15])
    counts, ways = np.empty(6), np.empty(3)
    count_chances(theta, np.ones(5), counts)
    weights = [math.exp(2), *(math.exp(-level) for level in (1, 2, 3, 4, 5))]
    assert counts == pytest.approx(np.cumsum(weights) / sum(weights))
    assert counts[0] == pytest.approx(0.92744, abs=1e-4)
    way_chances(theta, ways)
    assert ways == pytest.approx([1 / 3, 2 / 3, 1])
    assert block_chance(theta, np.ones(5)) == pytest.approx(0.0474, abs=1e-4)
    assert return_chance(theta, np.ones(5)) == pytest.approx(0.00247, abs=1e-5)


def test_stretches_are_as_long_as_chance_says() -> None:
    """P(length = m) = log2((m + 1) / m) / 5 by chi-square, from any stop on alike; the tour ends."""
    n = 100
    place, state = np.arange(2 * n + 1), np.array([7], np.uint64)
    drawn = [draw_stretch(Variant.PDTSP.code, place, 2 * n + 1, state) for _ in range(20_000)]
    starts = Counter(first for first, _ in drawn)
    assert_frequencies(starts, dict.fromkeys(range(1, 2 * n + 1), 0.5 / n))
    inner = Counter(last - first + 1 for first, last in drawn if first <= 2 * n - 31)
    assert_frequencies(inner, {m: math.log2((m + 1) / m) / 5 for m in range(1, 32)})
    assert max(last for _, last in drawn) == 2 * n


def test_a_lifo_stretch_is_a_block() -> None:
    place = np.argsort([0, 1, 2, 5, 3, 6, 4])
    state = np.array([7], np.uint64)
    drawn = Counter(draw_stretch(Variant.LIFO.code, place, 7, state) for _ in range(3000))
    assert_frequencies(drawn, dict.fromkeys([(1, 6), (2, 3), (4, 5)], 1 / 3))


def test_a_request_is_drawn_by_its_share() -> None:
    """Weights 1, 3, 4: borders at an eighth and a half."""
    scores = np.log([1.0, 3.0, 4.0]).astype(np.float32) + np.float32(70)
    scratch = np.empty(3, np.float32)
    for uniform, request in [(0, 1), (0.12499, 1), (0.12501, 2), (0.49999, 2), (0.50001, 3)]:
        assert draw_request(scores, 3, scratch, float(uniform)) == request
    assert draw_request(scores, 3, scratch, float(np.nextafter(1, 0))) == 3


def test_how_many_go_out_is_drawn_by_its_class() -> None:
    """Classes with the shares 1/2, 0, 1/4, 0, 0, 1/4: one, three or four, 17 to 32, or all there are."""
    chances = np.array([0.5, 0.5, 0.75, 0.75, 0.75, 1.0])
    for n, largest in ((100, 32), (20, 20)):
        state = np.array([7], np.uint64)
        drawn = np.array([draw_count(chances, n, state) for _ in range(8000)])
        assert set(drawn) == {1, 3, 4, *range(17, largest + 1)}
        assert (drawn == 1).mean() == pytest.approx(0.5, abs=0.03)
        assert (drawn == 3).mean() == pytest.approx(0.125, abs=0.02)
        assert (drawn >= 17).mean() == pytest.approx(0.25, abs=0.03)


def test_factors_end_somewhere() -> None:
    assert [factor(x) for x in (0.0, 1.0, -1.0)] == pytest.approx([1, math.e, 1 / math.e])
    assert [factor(x) for x in (50.0, -1e6)] == pytest.approx([math.exp(10), math.exp(-10)])

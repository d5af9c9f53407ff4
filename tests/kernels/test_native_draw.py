"""The heat bath of the native policy: every probability, at every temperature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import oracles
from kernels.test_chain import world
from n2s.kernels.native_draw import draw_allowed, draw_anywhere, draw_exactly, insertion_logits
from n2s.kernels.rules import gap_labels
from n2s.problem import Variant, random_tour

Pairs = list[tuple[int, int]]
TOP = float(np.nextafter(1.0, 0.0))
SINGLE = float(np.finfo(np.float32).eps)


class Bath:
    """Logits over the gaps of a tour, and the draw as the chain makes it."""

    def __init__(self, logits: np.ndarray, labels: np.ndarray | None, n: int) -> None:
        self.logits = np.ascontiguousarray(logits, np.float32)
        self.labels = labels
        self.n, self.left = n, logits.shape[1]
        self.weights = np.empty((4, self.left), np.float32)
        self.total = np.empty(n + 1, np.float32)

    def fast(self, u: float, v: float) -> tuple[int, int]:
        if self.labels is None:
            return draw_anywhere(self.logits, self.left, self.weights, u, v)
        return draw_allowed(
            *(self.logits, self.left, self.labels[0], self.labels[1]),
            *(self.weights, self.total, u, v),
        )

    def slow(self, u: float, v: float) -> tuple[int, int]:
        labels = np.zeros((2, self.left), np.int64) if self.labels is None else self.labels
        return draw_exactly(self.logits, self.left, self.n, labels[0], labels[1], u, v)

    def draw(self, u: float, v: float) -> tuple[int, int]:
        pair = self.fast(u, v)
        return self.slow(u, v) if pair[0] < 0 else pair

    @property
    def pairs(self) -> Pairs:
        """Those that the rule of the labels allows."""
        return [
            (j, k)
            for j in range(self.left)
            for k in range(j, self.left)
            if self.labels is None or self.labels[0, j] == self.labels[1, k]
        ]

    @property
    def chances(self) -> dict[tuple[int, int], float]:
        """What the probabilities have to be."""
        return oracles.pair_chances(self.logits, self.pairs)


def pieces(of: Callable[[float], int]) -> list[tuple[int, float, float]]:
    """(value, begin, end) of the intervals on which a function of [0, 1) is constant, by halving."""
    found = []
    begin = 0.0
    while True:
        value = of(begin)
        if of(TOP) == value:
            found.append((value, begin, 1.0))
            break
        low, high = begin, TOP
        while high - low > 1e-13:
            middle = (low + high) / 2
            low, high = (middle, high) if of(middle) == value else (low, middle)
        found.append((value, begin, high))
        begin = high
    values = [value for value, _, _ in found]
    assert len(set(values)) == len(values)
    return found


def measured(draw: Callable[[float, float], tuple[int, int]]) -> dict[tuple[int, int], float]:
    """The probability of every pair as the share of the unit square that leads to it."""
    shares = {}
    for j, begin, end in pieces(lambda u: draw(u, 0.5)[0]):
        if end - begin > 1e-9:
            u = (begin + end) / 2
            for k, lower, upper in pieces(lambda v, u=u: draw(u, v)[1]):
                if upper - lower > 1e-9:
                    assert draw(u, (lower + upper) / 2) == (j, k)
                    shares[j, k] = (end - begin) * (upper - lower)
    return shares


def assert_shares(
    draw: Callable[[float, float], tuple[int, int]],
    expected: dict[tuple[int, int], float],
    within: float,
) -> None:
    """Every pair is drawn with its probability, and no other is."""
    shares = measured(draw)
    assert set(shares) <= set(expected)
    for pair, chance in expected.items():
        assert shares.get(pair, 0.0) == pytest.approx(chance, abs=within), pair


def assert_exact(
    bath: Bath, draw: Callable[[float, float], tuple[int, int]], within: float
) -> None:
    assert_shares(draw, bath.chances, within)


def place(n: int, variant: Variant, symmetric: bool, temperature: float) -> tuple[Bath, dict]:
    """A request out of a random tour: the bath of putting it back, and the exact changes in cost."""
    here = world(n, variant, symmetric)
    rng = np.random.default_rng([n, 3])
    tour = random_tour(n, variant, rng).tolist()
    request = int(rng.integers(1, n + 1))
    rest = oracles.without(tour, request)
    nodes = np.zeros(2 * n + 1, np.int64)  # longer than what is left, as in the chain
    nodes[: len(rest)] = rest
    arcs = np.full(2 * n + 1, np.nan)
    arcs[: len(rest)] = [here.costs[a, b] for a, b in zip(rest, [*rest[1:], rest[0]], strict=True)]
    logits = np.empty((3, 2 * n + 1), np.float32)
    insertion_logits(
        *(here.reach, here.costs, nodes, arcs, len(rest)),
        *(request, request + n, 1.0 / temperature, logits),
    )
    labels = None
    if variant is Variant.LIFO:
        labels = np.zeros((2, len(rest)), np.int64)
        below = np.zeros(n + 1, np.int64)
        gap_labels(variant.code, nodes[: len(rest)], n, labels[0], labels[1], below)
    changes = oracles.reinsertion_changes(here.costs, rest, request, variant)
    return Bath(logits[:, : len(rest)], labels, n), changes


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("temperature", [100.0, 0.3, 1e-3])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_logits_are_changes_in_cost(
    n: int, temperature: float, symmetric: bool, variant: Variant
) -> None:
    bath, changes = place(n, variant, symmetric, temperature)
    assert sorted(changes) == sorted(bath.pairs)
    x, y, z = bath.logits.astype(float)
    for (j, k), change in changes.items():
        logit = z[j] if j == k else x[j] + y[k]
        assert logit == pytest.approx(-change / temperature, rel=1e-6, abs=1e-6 / temperature)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("temperature", [1e6, 1.0, 0.1, 0.02, 0.004])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_place_has_its_probability(
    n: int, temperature: float, symmetric: bool, variant: Variant
) -> None:
    """The intervals of the two uniform numbers against the heat bath over recomputed tours."""
    bath, changes = place(n, variant, symmetric, temperature)
    expected = oracles.heat_bath_of(changes, temperature)
    rounding = 2 * SINGLE * float(np.abs(bath.logits).max())
    assert_shares(bath.draw, expected, 1e-5 + rounding)


@pytest.mark.parametrize("temperature", [1e-5, 1e-8])
@pytest.mark.parametrize("n", [2, 5])
def test_a_cold_bath_is_the_best_place(n: int, temperature: float, variant: Variant) -> None:
    """The best place is better than any other by more than 50 temperatures."""
    bath, changes = place(n, variant, False, temperature)
    first, second = sorted(changes.values())[:2]
    assert second - first > 50 * temperature
    for u in (1e-12, 0.1, 0.5, 0.9, TOP):
        for v in (1e-12, 0.3, 0.7, TOP):
            assert changes[bath.draw(u, v)] == first


@pytest.mark.parametrize(
    "together", [-1e30, -500.0, -100.0, -20.0, 0.0, 20.0, 100.0, 500.0, 1e30], ids=str
)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_both_ends_at_one_place_much_better_or_worse(
    n: int, together: float, variant: Variant
) -> None:
    bath, _ = place(n, variant, False, 0.3)
    bath.logits[2] = np.clip(bath.logits[2] + together, -1e30, 1e30)
    assert_exact(bath, bath.draw, 1e-5 + (4e-7 * abs(together) if abs(together) < 1e3 else 0.0))
    both = sum(chance for (j, k), chance in measured(bath.draw).items() if j == k)
    if together >= 20:
        assert both > 0.999
    if together <= -20 and len(bath.pairs) > bath.left:
        assert both < 0.001


def crossed(depth: float, n: int, variant: Variant, seed: int = 0) -> Bath:
    """The best pickup gap is the last, the best delivery gap the first: ``depth`` above what is allowed."""
    rng = np.random.default_rng([seed, n])
    bath, _ = place(n, variant, False, 1.0)
    logits = rng.uniform(-2.0, 0.0, bath.logits.shape)
    logits[0, :-1] -= depth / 2
    logits[1, 1:] -= depth / 2
    logits[2] -= depth
    bath.logits[:] = logits
    return bath


@pytest.mark.parametrize(
    "depth", [10.0, 40.0, 60.0, 66.0, 68.0, 70.0, 72.0, 80.0, 87.0, 90.0, 150.0, 1e4]
)
def test_where_single_precision_ends_the_slow_draw_takes_over(
    depth: float, variant: Variant
) -> None:
    """Nothing is lost on either side of the border, which lies at 30 powers of ten: 69."""
    bath = crossed(depth, 4, variant)
    if depth < 64:
        assert bath.fast(0.5, 0.5)[0] >= 0
    if depth > 74:
        assert bath.fast(0.5, 0.5) == (-1, -1)
    assert_exact(bath, bath.draw, 1e-5 + 2e-7 * depth)


def test_the_slow_draw_is_exact_in_double_precision(variant: Variant) -> None:
    for depth in (0.0, 30.0, 300.0):
        bath = crossed(depth, 4, variant, seed=1)
        assert_exact(bath, bath.slow, 1e-9)


def test_both_draws_are_the_same_function(variant: Variant) -> None:
    """Not only the same distribution: the same uniform numbers lead to the same place."""
    rng = np.random.default_rng(5)
    bath, _ = place(5, variant, True, 0.2)
    same = sum(bath.fast(u, v) == bath.slow(u, v) for u, v in rng.random((2000, 2)))
    assert same >= 1998  # but for numbers within 1e-7 of a border


@pytest.mark.parametrize("seed", range(6))
def test_any_rule_that_can_be_written_as_labels(seed: int) -> None:
    """Labels of pickups and deliveries that differ: no variant has them, the scan serves them."""
    rng = np.random.default_rng([seed, 8])
    labels = rng.integers(0, 3, (2, 9))
    bath = Bath(rng.normal(0.0, 2.0, (3, 9)), labels, 5)
    assert 0 < len(bath.pairs) < 45
    assert_exact(bath, bath.fast, 1e-6)
    assert_exact(bath, bath.slow, 1e-9)


@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.03])
def test_frequencies(temperature: float, variant: Variant) -> None:
    """Chi-square of 20,000 draws; what is expected less than five times counts together."""
    bath, changes = place(5, variant, False, temperature)
    expected = oracles.heat_bath_of(changes, temperature)
    rng = np.random.default_rng(7)
    counts = dict.fromkeys(expected, 0)
    for u, v in rng.random((20_000, 2)):
        counts[bath.draw(u, v)] += 1
    assert_frequencies(counts, expected)


def assert_frequencies(counts: dict, expected: dict) -> None:
    """Chi-square within five standard deviations (of its normal limit) of its mean."""
    drawn = sum(counts.values())
    common = [key for key, chance in expected.items() if chance * drawn >= 5]
    cells = [(counts.get(key, 0), expected[key] * drawn) for key in common]
    rest = drawn - sum(count for count, _ in cells), drawn - sum(mean for _, mean in cells)
    if rest[1] >= 5:
        cells.append(rest)
    else:
        assert rest[0] <= 20
    assert len(cells) > 1
    freedom = len(cells) - 1
    statistic = sum((count - mean) ** 2 / mean for count, mean in cells)
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("every", [True, False])
def test_infinite_logits_still_give_a_place(
    every: bool, value: float, row: int, variant: Variant
) -> None:
    """Arcs that stand for "never" leave single precision; the place must be an allowed one all the same."""
    bath, _ = place(4, variant, False, 1.0)
    bath.logits[row, slice(None) if every else slice(2, 4)] = value
    for u in (0.0, 0.4, TOP):
        for v in (0.0, 0.6, TOP):
            assert bath.draw(u, v) in bath.pairs

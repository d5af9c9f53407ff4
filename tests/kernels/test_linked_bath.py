"""The heat bath over the gaps beside near stops: every probability against recomputed tours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import oracles
from kernels.test_linked import SPAN, gaps_beside, inserted, linked, order
from kernels.test_native_draw import TOP, assert_frequencies, pieces
from n2s.kernels import linked_bath
from n2s.kernels.legs import nearest_stops
from n2s.kernels.linked_bath import Taste, draw_place, new_bath
from n2s.kernels.linked_change import new_log, take_request
from n2s.kernels.linked_recreate import STEPS
from n2s.problem import Variant, random_tour

Pair = tuple[int, int]
PLAIN = Taste(0.0, 0.0, 0.0, 0.0)
FOND = Taste(1.0, -0.7, 0.8, -1.2)


@dataclass
class Place:
    """Requests out of a tour, of which the first is to go back."""

    variant: Variant
    costs: np.ndarray
    near: np.ndarray
    tour: list[int]
    out: list[int]
    taste: Taste = PLAIN

    def __post_init__(self) -> None:
        self.n = len(self.tour) // 2
        code = self.variant.code
        self.links = linked(code, self.costs, np.array(self.tour), SPAN)
        self.log = new_log(self.n)
        for index, request in enumerate(self.out):
            pickup, delivery = np.uint32(request), np.uint32(request + self.n)
            take_request(code, self.links, self.costs, pickup, delivery, self.log, index)
        self.rest = order(self.links)
        self.bath = new_bath(len(self.tour), self.near.shape[1])
        self.alone = len(self.out) == 1

    def draw(self, temperature: float, u: float, v: float, kernel: Any = draw_place) -> Pair:
        """As places in what is left of the tour."""
        pickup = np.uint32(self.out[0])
        j, k = kernel(
            *(self.variant.code, self.links, self.costs, self.near),
            *(pickup, np.uint32(pickup + self.n), 1.0 / temperature),
            *(self.alone, self.log.pred[0], self.log.pred[1], self.taste, self.bath, u, v),
        )
        return self.rest.index(j), self.rest.index(k)

    @property
    def old(self) -> Pair:
        return self.rest.index(self.log.pred[0]), self.rest.index(self.log.pred[1])

    def allowed(self, j: int, k: int) -> bool:
        """By the stack of the rest, walked from its beginning."""
        stacks, stack = [], [0]
        for node in self.rest:
            if node > self.n:
                stack = stack[:-1]
            elif node > 0:
                stack = [*stack, node]
            stacks.append(stack)
        return j <= k and (self.variant is Variant.PDTSP or stacks[j] == stacks[k])

    def pairs(self, further: bool = True) -> set[Pair]:
        """The gaps beside near stops, on stacks a few blocks ``further``, and the old ones."""
        request = self.out[0]
        ours = gaps_beside(request, self.near, self.rest)
        theirs = gaps_beside(request + self.n, self.near, self.rest)
        if self.alone:
            ours, theirs = ours | {self.old[0]}, theirs | {self.old[1]}
        both = ours | theirs
        if self.variant is Variant.LIFO and further:
            level = range(len(self.rest))
            ahead, back = set(), set()
            for gap in ours:
                ahead |= set([k for k in level if k > gap and self.allowed(gap, k)][:STEPS])
            for gap in theirs:
                back |= set([j for j in level[::-1] if j < gap and self.allowed(j, gap)][:STEPS])
            ours, theirs = ours | back, theirs | ahead
        apart = {(j, k) for j in ours for k in theirs if j < k and self.allowed(j, k)}
        return apart | {(gap, gap) for gap in both}

    def chances(self, temperature: float, further: bool = True) -> dict[Pair, float]:
        """Softmax over the pairs, of the costs of whole tours."""
        before = oracles.cost(self.costs, self.rest)
        logits = {}
        for j, k in self.pairs(further):
            nodes = inserted(self.rest, self.out[0], j, k, self.n)
            logits[j, k] = -(oracles.cost(self.costs, nodes) - before) / temperature
            if j == k:
                logits[j, k] += self.taste.together
                logits[j, k] += self.taste.both if self.alone and (j, k) == self.old else 0.0
            elif self.alone:
                logits[j, k] += self.taste.pickup if j == self.old[0] else 0.0
                logits[j, k] += self.taste.delivery if k == self.old[1] else 0.0
        most = max(logits.values())
        total = sum(math.exp(logit - most) for logit in logits.values())
        return {pair: math.exp(logit - most) / total for pair, logit in logits.items()}


def some_place(
    n: int, width: int, variant: Variant, seed: int = 0, out: int = 1, symmetric: bool = False
) -> Place:
    rng = np.random.default_rng([n, width, seed])
    points = rng.random((2 * n + 1, 2))
    costs = np.linalg.norm(points[:, None] - points[None], axis=-1)
    if not symmetric:
        costs = costs * rng.uniform(0.5, 1.5, costs.shape)
    tour = random_tour(n, variant, rng).tolist()
    return Place(
        variant, costs, nearest_stops(costs, width), tour, (rng.permutation(n)[:out] + 1).tolist()
    )


def measured(draw: Callable[[float, float], Pair]) -> dict[Pair, float]:
    """The probability of every pair as the share of the unit square that leads to it."""
    shares = {}
    for (j, k), begin, end in pieces(lambda u: draw(u, 0.5)):
        if end - begin <= 1e-9:
            continue
        u = (begin + end) / 2
        if j == k:
            shares[j, k] = end - begin
        else:
            for other, low, high in pieces(lambda v, u=u: draw(u, v)[1]):
                shares[j, other] = (end - begin) * (high - low)
    return shares


def assert_exact(place: Place, temperature: float) -> None:
    shares = measured(lambda u, v: place.draw(temperature, u, v))
    chances = place.chances(temperature)
    assert set(shares) <= set(chances)
    for pair, chance in chances.items():
        assert shares.get(pair, 0.0) == pytest.approx(chance, abs=1e-8), pair


@pytest.mark.parametrize("temperature", [1e6, 0.5, 0.1, 0.02, 0.001])
@pytest.mark.parametrize(("n", "width"), [(1, 1), (2, 3), (7, 12), (7, 2), (9, 0)])
def test_every_place_has_its_probability(
    n: int, width: int, temperature: float, variant: Variant
) -> None:
    for seed, symmetric in ((0, False), (1, True)):
        place = some_place(n, width, variant, seed, symmetric=symmetric)
        assert_exact(place, temperature)
        place.taste = FOND
        assert_exact(place, temperature)


@pytest.mark.parametrize("temperature", [1.0, 0.05])
@pytest.mark.parametrize("out", [2, 4])
def test_with_others_out_the_old_place_is_nothing_special(
    out: int, temperature: float, variant: Variant
) -> None:
    for seed in range(3):
        place = some_place(9, 3, variant, seed, out)
        place.taste = FOND
        assert_exact(place, temperature)


def test_with_all_stops_near_it_is_the_heat_bath_of_all_places(variant: Variant) -> None:
    place = some_place(6, 12, variant)
    changes = oracles.reinsertion_changes(place.costs, place.rest, place.out[0], variant)
    assert place.pairs() == set(changes)
    expected = oracles.heat_bath_of(changes, 0.2)
    shares = measured(lambda u, v: place.draw(0.2, u, v))
    assert shares == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_frequencies(temperature: float, variant: Variant) -> None:
    """Chi-square of 20,000 draws."""
    place = some_place(8, 3, variant, 2)
    counts: dict[Pair, int] = {}
    for u, v in np.random.default_rng(7).random((20_000, 2)):
        pair = place.draw(temperature, u, v)
        counts[pair] = counts.get(pair, 0) + 1
    assert_frequencies(counts, place.chances(temperature))


@pytest.mark.parametrize("temperature", [1e-4, 1e-6, 1e-9])
def test_a_cold_bath_is_the_best_place(temperature: float, variant: Variant) -> None:
    """On stacks it is at least as good as all pairs of gaps beside near stops.

    From gaps that do not promise anything no blocks are passed, so a pair that they lead to may be missed.
    """
    for seed in range(8):
        place = some_place(8, 4, variant, seed)
        chances = place.chances(temperature, variant is Variant.PDTSP)
        all_chances = place.chances(temperature)
        best = max(chances, key=lambda pair: chances[pair])
        assert chances[best] > 0.999
        for u in (0.0, 0.4, TOP):
            drawn = place.draw(temperature, u, 0.5)
            if variant is Variant.PDTSP:
                assert drawn == best
            else:
                assert all_chances[drawn] >= all_chances[best]


def test_where_the_best_gaps_do_not_go_together_the_draw_is_pair_by_pair() -> None:
    """The best gap for the pickup is behind the best one for the delivery: products of weights vanish."""
    costs = np.full((9, 9), 1.0)
    tour = [0, 2, 6, 3, 7, 4, 8, 1, 5]
    # Request 1: its pickup belongs between 4 and 8, its delivery between 2 and 6.
    for a, b in ((4, 1), (1, 8), (2, 5), (5, 6)):
        costs[a, b] = 0.2
    costs[2, 1] = 1.0 + 1e-4
    for temperature in (1e-3, 1e-4):
        place = Place(Variant.PDTSP, costs, nearest_stops(costs, 8), tour, [1])
        assert_exact(place, temperature)
        chances = place.chances(temperature)
        assert sum(chance > 0.01 for chance in chances.values()) > 1
        assert 1.2 / temperature > linked_bath.WIDEST


def test_the_slow_draw_is_the_same_distribution(
    variant: Variant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own candidates, all of them drawn pair by pair."""
    monkeypatch.setattr(linked_bath, "WIDEST", -1.0)
    for temperature in (0.5, 0.05):
        place = some_place(6, 3, variant, 3)
        found = pieces(lambda u, p=place, t=temperature: p.draw(t, u, 0.5, draw_place.py_func))
        shares = {pair: end - begin for pair, begin, end in found}
        for pair, chance in place.chances(temperature).items():
            assert shares.get(pair, 0.0) == pytest.approx(chance, abs=1e-8), pair

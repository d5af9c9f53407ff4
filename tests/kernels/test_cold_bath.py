"""The heat bath where it is cold: every probability, whatever the temperature."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from kernels.test_chain import World, world
from kernels.test_native_draw import TOP, assert_frequencies, assert_shares, measured
from n2s.kernels.cold_bath import (
    FAINTEST,
    draw_cold_allowed,
    draw_cold_anywhere,
    new_scratch,
)
from n2s.kernels.rules import gap_labels
from n2s.problem import Variant, random_tour

Changes = dict[tuple[int, int], float]


class Place:
    """A request out of a random tour, and the draw of where it goes."""

    def __init__(self, here: World, n: int, variant: Variant, seed: int = 3) -> None:
        self.here, self.n, self.variant = here, n, variant
        rng = np.random.default_rng([n, seed])
        tour = random_tour(n, variant, rng).tolist()
        self.request = int(rng.integers(1, n + 1))
        self.rest = oracles.without(tour, self.request)
        self.left = len(self.rest)
        self.nodes = np.full(
            2 * n + 1, 2 * n, np.uint32
        )  # longer than what is left, as in the chain
        self.nodes[: self.left] = self.rest
        self.arcs = np.full(2 * n + 1, np.nan)
        behind = [*self.rest[1:], self.rest[0]]
        self.arcs[: self.left] = [here.costs[a, b] for a, b in zip(self.rest, behind, strict=True)]
        self.labels = np.zeros((2, 2 * n + 1), np.int64)
        below = np.zeros(n + 1, np.int64)
        gap_labels(variant.code, self.nodes[: self.left], n, self.labels[0], self.labels[1], below)
        self.scratch = new_scratch(2 * n + 1)

    @property
    def changes(self) -> Changes:
        """What every allowed pair costs, by adding up whole tours."""
        return oracles.reinsertion_changes(self.here.costs, self.rest, self.request, self.variant)

    def draw(
        self, temperature: float, u: float, v: float, bonus: float = 0.0, labelled: bool = False
    ) -> tuple[int, int]:
        stops = self.request, self.request + self.n
        place = (self.here.reach, self.here.costs, self.nodes, self.arcs, self.left, *stops)
        if self.variant is Variant.PDTSP and not labelled:
            return draw_cold_anywhere(*place, temperature, bonus, u, v, self.scratch)
        return draw_cold_allowed(
            *place, self.labels[0], self.labels[1], temperature, bonus, u, v, self.scratch
        )


def assert_exact(place: Place, temperature: float, changes: Changes, bonus: float = 0.0) -> None:
    expected = oracles.heat_bath_of(changes, temperature)
    assert_shares(lambda u, v: place.draw(temperature, u, v, bonus), expected, 1e-7)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("temperature", [1e6, 1.0, 0.1, 0.02, 0.004])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_place_has_its_probability(
    n: int, temperature: float, symmetric: bool, variant: Variant
) -> None:
    """The intervals of the two uniform numbers against the heat bath over recomputed tours."""
    place = Place(world(n, variant, symmetric), n, variant)
    assert_exact(place, temperature, place.changes)


@pytest.mark.parametrize("bonus", [-5.0, -0.1, 0.1, 5.0])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_both_ends_at_one_place_cost_less_by_a_bonus(
    n: int, bonus: float, variant: Variant
) -> None:
    place = Place(world(n, variant), n, variant)
    changes = {(j, k): c - (bonus if j == k else 0.0) for (j, k), c in place.changes.items()}
    assert_exact(place, 0.2, changes, bonus)
    both = sum(
        chance
        for (j, k), chance in measured(lambda u, v: place.draw(0.2, u, v, bonus)).items()
        if j == k
    )
    if bonus == 5.0:
        assert both > 0.999
    if bonus == -5.0 and n > 1:
        assert both < 0.001


@pytest.mark.parametrize("temperature", [1e-5, 1e-8, 1e-30, 1e-300])
@pytest.mark.parametrize("n", [2, 5, 25])
def test_however_cold_it_is_the_best_place(n: int, temperature: float, variant: Variant) -> None:
    place = Place(world(n, variant), n, variant)
    first, second = sorted(place.changes.values())[:2]
    assert second - first > 50 * temperature
    for u in (0.0, 0.1, 0.5, 0.9, TOP):
        for v in (0.0, 0.3, 0.7, TOP):
            assert place.changes[place.draw(temperature, u, v)] == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_left_out_is_faint(seed: int, variant: Variant) -> None:
    """Nothing is drawn far above the cheapest, and all near it is: the lists miss nothing that counts."""
    place = Place(world(25, variant), 25, variant, seed)
    changes = place.changes
    least = min(changes.values())
    temperature = 0.02
    expected = oracles.heat_bath_of(changes, temperature)
    shares = measured(lambda u, v: place.draw(temperature, u, v))
    for pair, chance in expected.items():
        assert shares.get(pair, 0.0) == pytest.approx(chance, abs=1e-7), pair
    for pair in shares:
        assert changes[pair] - least <= FAINTEST * temperature * (1 + 1e-9)
    assert len(expected) > len(shares) > 1


def test_labels_that_are_all_alike_change_nothing() -> None:
    """Precedence alone, by the scan with labels: the same uniform numbers lead to the same place."""
    place = Place(world(25, Variant.PDTSP), 25, Variant.PDTSP)
    for u, v in np.random.default_rng(5).random((500, 2)):
        assert place.draw(0.05, u, v) == place.draw(0.05, u, v, labelled=True)


@pytest.mark.parametrize("seed", range(6))
def test_any_rule_that_can_be_written_as_labels(seed: int) -> None:
    """Labels of pickups and deliveries that differ: no variant has them, the scan serves them."""
    rng = np.random.default_rng([seed, 8])
    place = Place(world(5, Variant.LIFO), 5, Variant.LIFO, seed)
    place.labels[:, : place.left] = rng.integers(0, 3, (2, place.left))
    everything = oracles.reinsertion_changes(
        place.here.costs, place.rest, place.request, Variant.PDTSP
    )
    allowed = {
        (j, k): change
        for (j, k), change in everything.items()
        if place.labels[0, j] == place.labels[1, k]
    }
    assert 0 < len(allowed) < len(everything)
    assert_exact(place, 0.1, allowed)


@pytest.mark.parametrize("temperature", [0.1, 0.03])
def test_frequencies(temperature: float, variant: Variant) -> None:
    """Chi-square of 20,000 draws."""
    place = Place(world(5, variant), 5, variant)
    expected = oracles.heat_bath_of(place.changes, temperature)
    counts = dict.fromkeys(expected, 0)
    for u, v in np.random.default_rng(7).random((20_000, 2)):
        counts[place.draw(temperature, u, v)] += 1
    assert_frequencies(counts, expected)


@pytest.mark.parametrize("never", [1e9, 1e14, 1e16, 1e20, 1e99])
@pytest.mark.parametrize("temperature", [0.02, 1e-5])
def test_arcs_that_stand_for_never(never: float, temperature: float, variant: Variant) -> None:
    """The place has as few of them as can be, whether the tour without the request has some or none."""
    here = world(5, variant)
    kinds = set()
    for seed in range(60):
        costs = here.costs.copy()
        costs[np.random.default_rng([seed, 1]).random(costs.shape) < 0.2] = never
        place = Place(
            here._replace(costs=costs, reach=np.array(costs.T, order="C")), 5, variant, seed
        )
        kinds.add(bool(place.arcs[: place.left].max() == never))
        changes = place.changes
        fewest = round(min(changes.values()) / never)
        for u, v in np.random.default_rng(seed).random((5, 2)):
            pair = place.draw(temperature, u, v)
            assert round(changes[pair] / never) == fewest, (seed, pair)
    assert kinds == {True, False}


@pytest.mark.parametrize("never", [1e9, 1e16, 1e99])
def test_beside_an_arc_that_stands_for_never_the_other_end_has_digits(never: float) -> None:
    """0 - 1 - 3 with 0 - 1 forbidden, as is the way from the pickup 2 to its delivery 4.

    The pickup does away with the first, and the delivery has two places, 0.25 and 0.75 dearer than nothing.
    """
    costs = np.ones((5, 5))
    costs[0, 1] = costs[2, 4] = never
    costs[1, 4] = costs[3, 4] = costs[4, 3] = 0.5
    costs[4, 0] = 1.25
    costs[1, 3] = 0.75
    here = world(2, Variant.PDTSP)._replace(costs=costs, reach=np.array(costs.T, order="C"))
    place = Place(here, 2, Variant.PDTSP)
    place.request, place.rest, place.left = 2, [0, 1, 3], 3
    place.nodes[:3] = place.rest
    place.arcs[:3] = [never, 0.75, 1.0]
    # Behind 1: 0.5 + 0.5 - 0.75. Behind 3: 0.5 + 1.25 - 1.
    weights = np.exp(-np.array([0.25, 0.75]) / 0.5)
    shares = measured(lambda u, v: place.draw(0.5, u, v))
    assert shares == pytest.approx(
        {(0, 1): weights[0] / weights.sum(), (0, 2): weights[1] / weights.sum()}, abs=1e-7
    )


def test_where_stops_lie_close_together_there_is_no_draw(variant: Variant) -> None:
    """Everything at two places: most gaps cost the same, and their pairs are for the vector loops."""
    n = 25
    points = np.random.default_rng(1).integers(0, 2, (2 * n + 1, 1)).astype(float)
    costs = np.abs(points - points.T)
    here = world(n, variant)._replace(costs=costs, reach=costs)
    place = Place(here, n, variant)
    assert place.draw(0.01, 0.5, 0.5) == (-1, -1)

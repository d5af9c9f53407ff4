from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from kernels.test_tours import SIZES, draw
from n2s import kernels
from n2s.kernels.reinsertion import best_gaps, draw_gaps
from n2s.problem import Variant, generate, random_tours


@SIZES
def test_best_is_the_least_of_all(batch: int, n: int, variant: Variant) -> None:
    costs, tours, requests, owners, _ = draw(batch, n, variant)
    rests = kernels.remove_requests(tours, requests)
    js, ks, changes = kernels.best_reinsertion(variant.code, costs, rests, requests)
    for b in range(batch):
        expected = oracles.reinsertion_changes(
            costs[owners[b]], rests[b].tolist(), int(requests[b]), variant
        )
        assert changes[b] == pytest.approx(min(expected.values()))
        assert expected[js[b], ks[b]] == pytest.approx(changes[b])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_best_finds_the_optimum_when_one_request_is_missing(n: int, variant: Variant) -> None:
    """Take any request out of the best of all feasible tours: putting it back best restores it."""
    instance = generate(n, seed=n, variant=variant)[0]
    optimum = min(oracles.all_tours(n, variant), key=lambda t: oracles.cost(instance.costs, t))
    requests = np.arange(1, n + 1)
    tours = np.repeat(np.array([optimum]), n, axis=0)
    rests = kernels.remove_requests(tours, requests)
    js, ks, _ = kernels.best_reinsertion(variant.code, instance.costs[None], rests, requests)
    restored = kernels.insert_requests(rests, requests, js, ks)
    assert kernels.tour_costs(instance.costs[None], restored) == pytest.approx(
        np.full(n, oracles.cost(instance.costs, optimum))
    )


def stratified(side: int) -> np.ndarray:
    """A grid of uniform pairs: every probability is then met to within about 2 / side."""
    u, v = np.meshgrid((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)
    return np.stack([u.ravel(), v.ravel()], axis=1)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("temperature", [0.05, 0.5, 1e6])
def test_heat_bath_probabilities(n: int, temperature: float, variant: Variant) -> None:
    costs, tours, requests, _, _ = draw(1, n, variant, seed=n)
    uniforms = stratified(400)
    copies = len(uniforms)
    rests = np.repeat(kernels.remove_requests(tours, requests), copies, axis=0)
    requests = np.repeat(requests, copies)
    js, ks, changes = kernels.heat_bath_reinsertion(
        variant.code, costs, rests, requests, np.full(copies, temperature), uniforms
    )
    counts = Counter(zip(js.tolist(), ks.tolist(), strict=True))
    expected = oracles.heat_bath(
        costs[0], rests[0].tolist(), int(requests[0]), variant, temperature
    )
    assert set(counts) <= set(expected)
    for gaps, probability in expected.items():
        assert counts[gaps] / copies == pytest.approx(probability, abs=0.006)
    exact = oracles.reinsertion_changes(costs[0], rests[0].tolist(), int(requests[0]), variant)
    drawn = [exact[gaps] for gaps in zip(js.tolist(), ks.tolist(), strict=True)]
    assert changes == pytest.approx(np.array(drawn))


@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from([1e-300, 1e-12, 1e-5, 1e-3]),
    st.sampled_from(list(Variant)),
)
def test_a_cold_heat_bath_is_the_best_reinsertion(
    seed: int, n: int, temperature: float, variant: Variant
) -> None:
    """Plain weights underflow here; the draw must neither fail nor leave the least change."""
    costs, tours, requests, _, rng = draw(7, n, variant, seed=seed)
    rests = kernels.remove_requests(tours, requests)
    _, _, best = kernels.best_reinsertion(variant.code, costs, rests, requests)
    _, _, drawn = kernels.heat_bath_reinsertion(
        variant.code, costs, rests, requests, np.full(7, temperature), rng.random((7, 2))
    )
    # A draw 60 temperatures above the best has probability e^-60 times the number of places.
    assert (drawn <= best + 60 * temperature + 1e-12).all()


def test_a_heat_bath_with_widely_spread_costs_is_exact() -> None:
    """Costs of 1,000 at temperature 1: the weights of whole rows leave the float range."""
    costs, tours, requests, _, _ = draw(1, 3, Variant.LIFO, seed=8)
    costs = np.round(costs * 3) * 1000.0
    uniforms = stratified(200)
    copies = len(uniforms)
    rests = np.repeat(kernels.remove_requests(tours, requests), copies, axis=0)
    requests = np.repeat(requests, copies)
    js, ks, _ = kernels.heat_bath_reinsertion(
        Variant.LIFO.code, costs, rests, requests, np.ones(copies), uniforms
    )
    counts = Counter(zip(js.tolist(), ks.tolist(), strict=True))
    expected = oracles.heat_bath(costs[0], rests[0].tolist(), int(requests[0]), Variant.LIFO, 1.0)
    for gaps, probability in expected.items():
        assert counts[gaps] / copies == pytest.approx(probability, abs=0.011)


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0)])
def test_extreme_uniform_numbers_give_feasible_places(uniform: float, variant: Variant) -> None:
    costs, tours, requests, _, _ = draw(7, 5, variant)
    rests = kernels.remove_requests(tours, requests)
    for temperature in (1e-9, 0.1, 1e9):
        js, ks, _ = kernels.heat_bath_reinsertion(
            variant.code,
            costs,
            rests,
            requests,
            np.full(7, temperature),
            np.full((7, 2), uniform),
        )
        mask = kernels.feasible_mask(variant.code, rests)
        assert mask[np.arange(7), js, ks].all()


def test_a_tours_draw_does_not_depend_on_its_companions(variant: Variant) -> None:
    costs, tours, requests, _, rng = draw(7, 5, variant)
    rests = kernels.remove_requests(tours, requests)
    temperatures, uniforms = np.full(7, 0.2), rng.random((7, 2))
    together = kernels.heat_bath_reinsertion(
        variant.code, costs, rests, requests, temperatures, uniforms
    )
    for b in range(7):
        alone = kernels.heat_bath_reinsertion(
            variant.code,
            costs[b : b + 1],
            rests[b : b + 1],
            requests[b : b + 1],
            temperatures[b : b + 1],
            uniforms[b : b + 1],
        )
        assert [part[0] for part in alone] == [part[b] for part in together]


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_any_rule_that_can_be_written_as_labels_works(seed: int, n: int) -> None:
    """First in, first out: as many pickups before the pickup's gap as deliveries before the delivery's.

    No variant of the package uses two different labels; this shows that the scans would serve one.
    """
    rng = np.random.default_rng(seed)
    order = random_tours(n, Variant.PDTSP, 1, rng)[0]
    queue = [int(node) for node in order if 0 < node <= n]
    waiting = iter([node + n for node in queue])
    tour = [int(node) if node <= n else next(waiting) for node in order]

    def first_in_first_out(candidate: list[int]) -> bool:
        loaded = [node for node in candidate if 0 < node <= n]
        return (
            oracles.is_feasible(candidate, n, Variant.PDTSP)
            and [node - n for node in candidate if node > n] == loaded
        )

    request = int(rng.integers(1, n + 1))
    rest = oracles.without(tour, request)
    pickups = np.cumsum([0 < node <= n for node in rest])
    deliveries = np.cumsum([node > n for node in rest])
    costs = rng.random((2 * n + 1, 2 * n + 1))
    a, b, c = (
        part[0]
        for part in kernels.insertion_changes(costs[None], np.array([rest]), np.array([request]))
    )
    expected = {
        (j, k): (c[j] if j == k else a[j] + b[k])
        for j in range(len(rest))
        for k in range(j, len(rest))
        if first_in_first_out(oracles.reinserted(rest, request, j, k))
    }
    j, k, change = best_gaps(
        pickups, deliveries, a, b, c, np.empty(n + 1), np.empty(n + 1, np.int64)
    )
    assert change == min(expected.values())
    assert expected[j, k] == change
    for u, v in rng.random((20, 2)):
        scratch = np.empty((4, len(rest))), np.empty(n + 1)
        assert draw_gaps(pickups, deliveries, a, b, c, 1.0, u, v, *scratch) in expected

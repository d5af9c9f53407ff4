"""Draws by separable logits against the softmax over all feasible pairs, listed one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oracles
from n2s import kernels
from n2s.model import plain
from n2s.problem import Variant, random_tours

BATCHES = pytest.mark.parametrize("batch", [1, 2, 7])
REQUESTS = pytest.mark.parametrize("n", [1, 2, 3, 8])


def tours_without(
    n: int, batch: int, variant: Variant, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Tours (B, M) without one of their requests, and the requests."""
    tours = random_tours(n, variant, batch, rng)
    requests = rng.integers(1, n + 1, batch)
    return kernels.remove_requests(tours, requests), requests


def enumerated(
    variant: Variant, rest: np.ndarray, request: int, terms: np.ndarray
) -> dict[tuple[int, int], float]:
    """Probabilities of all feasible pairs, in the order of j, then k."""
    pairs = sorted(oracles.feasible_gaps(rest.tolist(), request, variant))
    logits = np.array([terms[2, j] if j == k else terms[0, j] + terms[1, k] for j, k in pairs])
    weights = np.exp(logits - logits.max())
    return dict(zip(pairs, weights / weights.sum(), strict=True))


@BATCHES
@REQUESTS
@pytest.mark.parametrize("scale", [0.3, 5.0])
def test_every_uniform_number_finds_its_pair(
    batch: int, n: int, scale: float, variant: Variant
) -> None:
    """The middles of all shares, one after the other, give every pair with its probability."""
    rng = np.random.default_rng([batch, n])
    rests, requests = tours_without(n, batch, variant, rng)
    terms = scale * rng.normal(size=(batch, 3, rests.shape[1]))
    for b in range(batch):
        chances = enumerated(variant, rests[b], int(requests[b]), terms[b])
        ends = np.cumsum(list(chances.values()))
        many = [row for row, share in enumerate(chances.values()) if share > 1e-12]
        middles = np.array([ends[row] - 0.5 * list(chances.values())[row] for row in many])
        one = np.repeat(rests[b : b + 1], len(many), 0)
        j, k, log_prob = kernels.draw_by_terms(
            variant.code, one, np.repeat(terms[b : b + 1], len(many), 0), middles
        )
        expected = [list(chances)[row] for row in many]
        assert list(zip(j.tolist(), k.tolist(), strict=True)) == expected
        assert np.exp(log_prob) == pytest.approx([chances[pair] for pair in expected], rel=1e-9)


@BATCHES
def test_tours_are_drawn_as_by_the_matrix_of_all_pairs(batch: int, variant: Variant) -> None:
    rng = np.random.default_rng(batch)
    rests, _ = tours_without(12, batch, variant, rng)
    terms = 3 * rng.normal(size=(batch, 3, rests.shape[1]))
    uniforms = rng.random(batch)
    logits = plain.feasible(plain.prior_logits(torch.from_numpy(terms)), variant.code, rests)
    expected = plain.draw_pair(logits, torch.from_numpy(uniforms))
    for mine, theirs in zip(
        kernels.draw_by_terms(variant.code, rests, terms, uniforms), expected, strict=True
    ):
        assert mine.tolist() == pytest.approx(theirs.tolist(), rel=1e-9)


@pytest.mark.parametrize("variant", [Variant.PDTSP])
def test_the_ends_of_the_unit_interval_are_the_first_and_the_last_pair(variant: Variant) -> None:
    rests = np.array([[0, 1, 3]])  # of three stops and another request
    terms = np.zeros((1, 3, 3))
    for uniform, pair in ((0.0, (0, 0)), (1 - 2**-53, (2, 2)), (1.0, (2, 2))):
        j, k, _ = kernels.draw_by_terms(variant.code, rests, terms, np.array([uniform]))
        assert (j[0], k[0]) == pair
    terms[0, 2, 2] = -np.inf  # the last pair is impossible, the last one of j = 1 is not
    terms[0, 0, 2] = -np.inf
    j, k, _ = kernels.draw_by_terms(variant.code, rests, terms, np.array([1.0]))
    assert (j[0], k[0]) == (1, 2)


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1.0])
def test_the_coldest_bath_takes_the_cheapest_pair(uniform: float, variant: Variant) -> None:
    """Logits of 1e8 and more: all other weights are 0, whatever the uniform number is."""
    rng = np.random.default_rng(3)
    rests, requests = tours_without(9, 20, variant, rng)
    points = rng.random((20, 19, 2))
    costs = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    changes = np.stack(kernels.insertion_changes(costs, rests, requests), 1)
    j, k, log_prob = kernels.draw_by_terms(
        variant.code, rests, -1e9 * changes, np.full(20, uniform)
    )
    best_j, best_k, _ = kernels.best_reinsertion(variant.code, costs, rests, requests)
    assert (j.tolist(), k.tolist()) == (best_j.tolist(), best_k.tolist())
    assert log_prob.tolist() == pytest.approx([0.0] * 20, abs=1e-6)

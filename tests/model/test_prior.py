"""The prior of the decoders against the native policy's own kernels, and what is learned on top of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import oracles
from model.observations import observe, policy_of, uniforms
from n2s import kernels
from n2s.errors import InputError
from n2s.kernels.native_chain import look
from n2s.kernels.native_decisions import (
    FEATURES,
    PARAMETERS,
    SEEN,
    VIEWS,
    removal_scores,
    tell_outlook,
    temperature_of,
    views,
)
from n2s.kernels.native_draw import insertion_logits
from n2s.model import FastPolicy, Observation, Policy, PolicyConfig, can_be_fast, plain
from n2s.model.prior import adopt, features, seen
from n2s.native import NativePolicy
from n2s.native.parts import Part, indices
from n2s.problem import Variant

BOTH = list(Variant)[:2]


def native_of(variant: Variant, seed: int = 0, build: bool = False) -> NativePolicy:
    theta = 0.4 * np.random.default_rng(seed).normal(size=PARAMETERS)
    if not build:
        theta[indices(Part.BUILD)] = 0.0
    return NativePolicy(variant, theta)


def with_prior(native: NativePolicy, **fields: object) -> Policy:
    policy = policy_of(costs=True, prior="native", build="build" in native.blocks, **fields)
    adopt(policy, native.blocks)
    return policy


def kernel_views(observation: Observation, row: int) -> np.ndarray:
    """The views by the native policy's own formula."""
    progress = observation.whole_progress()
    out = np.empty(VIEWS)
    size = observation.tours.shape[1]
    views(
        float(progress.above[row]),
        0.0,
        float(progress.edge[row]),
        float(progress.stalled[row]),
        size,
        float(progress.used[row]),
        float(progress.total[row]) / observation.n,
        False,
        out,
    )
    return out


def kernel_features(observation: Observation, row: int) -> np.ndarray:
    """(SEEN, n) as the native chain keeps them, without savings."""
    progress = observation.whole_progress()
    n, tour = observation.n, observation.tours[row]
    costs = observation.exact_costs()[row]
    scale = float(progress.edge[row])
    result = np.zeros((SEEN, n), np.float32)
    place = np.zeros(len(tour), np.int64)
    look(costs, tour, costs[tour, np.roll(tour, -1)], n, scale, place, result)
    age = progress.age[row].numpy()
    result[2], result[3], result[4] = age, 1 / (1 + 4 * age), progress.trace[row].numpy()
    requests = np.arange(1, n + 1)
    result[5] = 0.2 * costs[requests, requests + n] / scale
    return result


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 3), (7, 10)])
@pytest.mark.parametrize("matrix", [False, True])
def test_what_is_seen(variant: Variant, batch: int, n: int, matrix: bool) -> None:
    observation = observe(batch, n, variant, matrix=matrix)
    local = features(observation)
    whole = seen(observation.whole_progress())
    for row in range(batch):
        np.testing.assert_allclose(
            local[row].T, kernel_features(observation, row)[:FEATURES], 1e-5, 1e-6
        )
        np.testing.assert_allclose(whole[row], kernel_views(observation, row), 1e-5, 1e-6)


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 3), (7, 10)])
def test_removal_is_the_native_policys(variant: Variant, batch: int, n: int) -> None:
    native = native_of(variant)
    policy = with_prior(native, mask_last=False)
    observation = observe(batch, n, variant)
    mixed = policy.encode(observation).mixed
    log_probs = policy.removal.log_probs(mixed, observation, plain).detach()
    for row in range(batch):
        scores = np.empty(n, np.float32)
        local, whole = kernel_features(observation, row), kernel_views(observation, row)
        costs, edge = observation.exact_costs()[row], float(observation.whole_progress().edge[row])
        changes = oracles.outlook(costs, observation.tours[row].tolist(), variant)
        heat = temperature_of(native.theta, whole, edge)
        tell_outlook(np.array(changes), n, edge, heat, local)
        removal_scores(native.theta, whole, local, n, scores)
        expected = torch.tensor(scores).log_softmax(-1)
        torch.testing.assert_close(log_probs[row], expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 3), (7, 10)])
def test_reinsertion_is_the_native_policys(variant: Variant, batch: int, n: int) -> None:
    """Probabilities of all places, enumerated from the logits of the native sampler."""
    native = native_of(variant)
    policy = with_prior(native)
    observation = observe(batch, n, variant, matrix=True)
    requests = np.random.default_rng(3).integers(1, n + 1, batch)
    rests = kernels.remove_requests(observation.tours, requests)
    mixed = policy.encode(observation).mixed
    pairs = policy.reinsertion.pairs(mixed, observation, requests, rests, plain)  # type: ignore[union-attr]
    found = plain.pair_logits(pairs).detach().flatten(1).log_softmax(-1)
    gaps = rests.shape[1]
    for row in range(batch):
        costs = observation.exact_costs()[row]
        rest, tour = rests[row], observation.tours[row]
        heat = temperature_of(
            native.theta,
            kernel_views(observation, row),
            float(observation.whole_progress().edge[row]),
        )
        logits = np.empty((3, gaps), np.float32)
        arcs = costs[rest, np.roll(rest, -1)]
        pickup = requests[row]
        insertion_logits(
            *(np.ascontiguousarray(costs.T), costs, rest, arcs, gaps),
            *(pickup, pickup + n, 1.0 / heat, logits),
        )
        place = kernels.positions(tour[None])[0]
        old_j, old_k = place[pickup] - 1, place[pickup + n] - 2
        bonus = native.blocks["places"]
        logits[0, old_j] += bonus[0]
        logits[1, old_k] += bonus[1]
        logits[2] += bonus[3]
        if old_j == old_k:
            logits[2, old_j] += bonus[2]
        mask = kernels.feasible_mask(variant.code, rest[None])[0]
        expected = torch.full((gaps, gaps), -math.inf)
        for j in range(gaps):
            for k in range(j, gaps):
                if mask[j, k]:
                    both = logits[2, j] if j == k else logits[0, j] + logits[1, k]
                    expected[j, k] = float(both)
        torch.testing.assert_close(
            found[row], expected.flatten().log_softmax(-1), atol=1e-4, rtol=1e-4
        )


@pytest.mark.parametrize("variant", BOTH)
def test_fast_path_decides_alike(variant: Variant) -> None:
    policy = with_prior(native_of(variant), width=32)
    for parameter in policy.parameters():  # so that the network has its say
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    assert can_be_fast(policy)
    observation = observe(7, 10, variant)
    expected = policy.act(observation, uniforms(7), backend=plain)
    found = FastPolicy(policy).act(observation, uniforms(7))
    assert found.requests.tolist() == expected.requests.tolist()
    assert found.j.tolist() == expected.j.tolist()
    assert found.k.tolist() == expected.k.tolist()
    torch.testing.assert_close(found.log_prob, expected.log_prob, atol=1e-4, rtol=1e-4)


def test_every_weight_of_the_prior_learns() -> None:
    """Gradients reach all of it, and those of a small step agree with differences."""
    policy = with_prior(native_of(Variant.PDTSP)).double()
    observation = observe(7, 10, Variant.PDTSP, dtype=torch.float64)
    decision = policy.act(observation, uniforms(7), backend=plain)

    def total() -> torch.Tensor:
        return policy.log_prob(observation, decision, backend=plain).log_prob.sum()

    total().backward()
    for decoder in (policy.removal, policy.reinsertion):
        for name, weight in decoder.prior.named_parameters():  # type: ignore[union-attr]
            gradient = weight.grad
            assert gradient is not None, name
            if name == "views":  # the last one says that time counts, which it never does here
                assert not gradient[:, -1].any()
            where = int(gradient.abs().argmax())
            assert gradient.flatten()[where] != 0, name
            step = 1e-5
            with torch.no_grad():
                flat = weight.view(-1)
                flat[where] += step
                up = float(total())
                flat[where] -= 2 * step
                down = float(total())
                flat[where] += step
            expected = (up - down) / (2 * step)
            assert float(gradient.flatten()[where]) == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_only_a_policy_with_the_prior_adopts() -> None:
    with pytest.raises(InputError, match='only a policy with prior = "native" can begin'):
        adopt(policy_of(costs=True), native_of(Variant.LIFO).blocks)
    with pytest.raises(InputError, match="the native prior needs costs = true"):
        PolicyConfig(prior="native")  # type: ignore[arg-type]

"""Priors that build a tour, against enumeration and the native policy's own rounds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

import oracles
from model.observations import observe, policy_of, uniforms
from model.test_prior import native_of, with_prior
from n2s import kernels
from n2s.errors import InputError
from n2s.kernels.native_decisions import rounds_of
from n2s.model import FastPolicy, Observation, Policy, PolicyConfig, plain, quickest
from n2s.model.prior import adopt, rebuilt_in, rounds_in
from n2s.model.prior_policy import PriorPolicy
from n2s.problem import Variant, random_tours

BOTH = list(Variant)[:2]


def halfway(
    batch: int, n: int, variant: Variant, settled: list[int], mixed: bool = False
) -> Observation:
    """Searches of which so many requests are settled: the first part of each tour, or anywhere in it."""
    observation = observe(batch, n, variant)
    rng = np.random.default_rng(5)
    tours = np.zeros((batch, 2 * n + 1), np.int64)
    mask = np.zeros((batch, n), bool)
    for row, count in enumerate(settled):
        first = rng.permutation(n)[:count]
        mask[row, first] = True
        stops = [0]
        for requests in (first, np.flatnonzero(~mask[row])):
            if len(requests):
                part = random_tours(len(requests), variant, 1, rng)[0, 1:]
                names = np.concatenate([requests + 1, requests + 1 + n])
                stops += names[part - 1].tolist()
        tours[row] = random_tours(n, variant, 1, rng)[0] if mixed else stops
    progress = replace(observation.whole_progress(), settled=torch.from_numpy(mask))
    return replace(observation, tours=tours, progress=progress)


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("settled", [[0], [0, 3], [2, 5, 0, 4, 3, 1, 5]])
def test_one_that_is_not_settled_is_taken_out(settled: list[int], variant: Variant) -> None:
    native = native_of(variant, build=True)
    policy, plainly = with_prior(native), with_prior(native)
    plainly.removal.prior.build = False  # type: ignore[union-attr]
    observation = halfway(len(settled), 5, variant, settled)
    mixed = policy.encode(observation).mixed
    found = policy.removal.log_probs(mixed, observation, plain).exp()
    usual = plainly.removal.log_probs(mixed, observation, plain).exp()
    for row, count in enumerate(settled):
        if count == 5:
            assert found[row].tolist() == pytest.approx(usual[row].tolist())
            continue
        there = observation.whole_progress().settled[row]
        recent = int(observation.recent[row, 0])
        left = [r for r in range(1, 6) if not there[r - 1] and r != recent]
        expected = [1 / len(left) if r in left else 0.0 for r in range(1, 6)]
        assert found[row].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("mixed", [False, True], ids=["first", "anywhere"])
def test_it_goes_among_those_that_are(mixed: bool, variant: Variant) -> None:
    """Probabilities of all places by enumeration: behind settled stops, as if the others were not there."""
    native = native_of(variant, build=True)
    policy = with_prior(native)
    n = 5
    observation = halfway(4, n, variant, [0, 1, 2, 4], mixed)
    there = observation.whole_progress().settled.numpy()
    requests = np.array([np.flatnonzero(~row)[0] + 1 for row in there])
    rests = kernels.remove_requests(observation.tours, requests)
    embedded = policy.encode(observation).mixed
    pairs = policy.reinsertion.pairs(embedded, observation, requests, rests, plain)  # type: ignore[union-attr]
    found = plain.pair_logits(pairs).detach().flatten(1).softmax(-1)
    gaps = rests.shape[1]
    for row in range(4):
        costs = observation.exact_costs()[row]
        edge = float(observation.whole_progress().edge[row])
        temperature = edge * math.exp(native.blocks["build"][0])
        rest = rests[row].tolist()
        where = [g for g, stop in enumerate(rest) if stop == 0 or there[row, (stop - 1) % n]]
        part = [rest[g] for g in where]
        changes = {}
        # Whether a place is allowed is a matter of the whole tour.
        mask = kernels.feasible_mask(variant.code, rests[row][None])[0]
        for j in range(len(part)):
            for k in range(j, len(part)):
                if mask[where[j], where[k]]:
                    pickup, delivery = requests[row], requests[row] + n
                    whole = [*part[: j + 1], pickup, *part[j + 1 : k + 1], delivery]
                    changes[where[j], where[k]] = oracles.cost(costs, whole + part[k + 1 :])
        expected = np.zeros((gaps, gaps))
        for pair, chance in oracles.heat_bath_of(changes, temperature).items():
            expected[pair] = chance
        np.testing.assert_allclose(found[row].reshape(gaps, gaps), expected, 1e-3, 1e-5)


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("settled", [[0], [0, 3], [2, 5, 0, 4, 3, 1, 5]])
@pytest.mark.parametrize("mixed", [False, True], ids=["first", "anywhere"])
def test_all_paths_build_alike(settled: list[int], mixed: bool, variant: Variant) -> None:
    """The network that says nothing, its prior alone, and the fast path of one that says something."""
    policy = with_prior(native_of(variant, build=True), width=32)
    observation, draws = halfway(len(settled), 5, variant, settled, mixed), uniforms(len(settled))
    alone = quickest(policy)
    assert isinstance(alone, PriorPolicy)
    _alike(policy, alone, observation, draws)
    for parameter in policy.parameters():
        parameter.data.add_(0.1 * torch.randn_like(parameter))
    fast = quickest(policy)
    assert isinstance(fast, FastPolicy)
    _alike(policy, fast, observation, draws)


def _alike(
    policy: Policy, other: PriorPolicy | FastPolicy, seen: Observation, draws: torch.Tensor
) -> None:
    mine, theirs = policy.act(seen, draws, backend=plain), other.act(seen, draws)
    for name in ("requests", "j", "k"):
        assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()
    assert mine.log_prob.tolist() == pytest.approx(theirs.log_prob.tolist(), abs=2e-4)


def test_the_bath_of_building_learns() -> None:
    """By differences; what only divides budgets has no gradient."""
    policy = with_prior(native_of(Variant.PDTSP, build=True)).double()
    observation = halfway(7, 5, Variant.PDTSP, [2, 5, 0, 4, 3, 1, 5])
    observation = replace(observation, points=observation.points.double())
    decision = policy.act(observation, uniforms(7), backend=plain)
    weight = policy.reinsertion.prior.building  # type: ignore[union-attr]

    def total() -> torch.Tensor:
        return policy.log_prob(observation, decision, backend=plain).log_prob.sum()

    total().backward()
    gradients = weight.grad.tolist()
    with torch.no_grad():
        weight[0] += 1e-5
        up = float(total())
        weight[0] -= 2e-5
        down = float(total())
    assert gradients[0] == pytest.approx((up - down) / 2e-5, rel=1e-3)
    assert gradients[0] != 0
    assert gradients[1:] == [0, 0, 0]


@pytest.mark.parametrize("budget", [0.1, 1.0, 40.0, 300.0])
def test_rounds_are_the_native_policys(budget: float) -> None:
    blocks = {
        **native_of(Variant.LIFO, build=True).blocks,
        "build": [0.3, math.log(12.0), 0.8, math.log(0.7)],
    }
    policy = with_prior(native_of(Variant.LIFO, build=True))
    adopt(policy, blocks)
    theta = native_of(Variant.LIFO, build=True).theta.copy()
    oracles.native_blocks(theta)["build"][:] = blocks["build"]
    assert rounds_in(policy, budget) == rounds_of(theta, max(1.0, budget))
    assert rebuilt_in(policy) == pytest.approx(0.7)
    assert rounds_in(with_prior(native_of(Variant.LIFO)), budget) == 1
    assert rounds_in(policy_of(), budget) == 1


def test_who_builds_is_said_twice_and_must_agree() -> None:
    build, none = native_of(Variant.LIFO, build=True), native_of(Variant.LIFO)
    with pytest.raises(InputError, match="the native policy builds tours, but build is false"):
        adopt(with_prior(none), build.blocks)
    with pytest.raises(InputError, match="build is true, but the native policy builds no tours"):
        adopt(with_prior(build), none.blocks)
    with pytest.raises(InputError, match="build"):
        PolicyConfig(costs=True, build=True)

"""A policy whose network says nothing, and the same decisions without the network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.observations import SIZES, observe, policy_of, uniforms
from model.test_prior import native_of, with_prior
from n2s.errors import InputError
from n2s.model import FastPolicy, quickest
from n2s.model.prior_policy import PriorPolicy, prior_alone
from n2s.problem import Variant


@pytest.mark.parametrize(("batch", "n"), SIZES)
@pytest.mark.parametrize("mask_last", [True, False])
@pytest.mark.parametrize("matrix", [True, False])
def test_decisions_are_those_of_the_silent_network(
    batch: int, n: int, mask_last: bool, matrix: bool, variant: Variant
) -> None:
    """Moves and probabilities of the network's own forward pass."""
    policy = with_prior(native_of(variant), mask_last=mask_last)
    alone = quickest(policy)
    assert isinstance(alone, PriorPolicy)
    observation = observe(batch, n, variant, matrix=matrix)
    for seed in range(5):
        draws = uniforms(batch, seed)
        mine, theirs = alone.act(observation, draws), policy.act(observation, draws)
        for name in ("requests", "j", "k"):
            assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()
        assert mine.log_prob.tolist() == pytest.approx(theirs.log_prob.tolist(), abs=2e-4)


def test_a_network_that_says_anything_is_asked() -> None:
    policy = with_prior(native_of(Variant.LIFO))
    mlp, reinsertion = policy.removal.mlp, policy.reinsertion  # type: ignore[union-attr]
    for out in (mlp.weights[-1], mlp.biases[-1], reinsertion.w3, reinsertion.b3):  # type: ignore[union-attr]
        with torch.no_grad():
            out.view(-1)[0] = 1e-3
        assert prior_alone(policy) is None
        assert isinstance(quickest(policy), FastPolicy)
        with torch.no_grad():
            out.zero_()
    assert isinstance(quickest(policy), PriorPolicy)


def test_other_policies_have_nothing_to_be_left_alone_with() -> None:
    for policy in (policy_of(), policy_of(costs=True), policy_of(removal="random")):
        assert prior_alone(policy) is None


def test_later_training_does_not_change_it() -> None:
    policy = with_prior(native_of(Variant.PDTSP))
    alone = prior_alone(policy)
    assert alone is not None
    observation, draws = observe(7, 5, Variant.PDTSP), uniforms(7)
    before = alone.act(observation, draws)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(1.0)
    after = alone.act(observation, draws)
    assert np.array_equal(before.log_prob, after.log_prob)


def test_a_prior_that_is_no_number_is_refused() -> None:
    policy = with_prior(native_of(Variant.PDTSP))
    with torch.no_grad():
        policy.reinsertion.prior.heat.range.fill_(torch.nan)  # type: ignore[union-attr]
    with pytest.raises(
        InputError, match=r"the weight reinsertion\.prior\.heat\.range holds a number"
    ):
        quickest(policy)


def test_a_weight_nobody_reads_that_is_no_number_is_refused_all_the_same() -> None:
    policy = with_prior(native_of(Variant.PDTSP))
    with torch.no_grad():
        policy.encoder.w_x[0, 0] = torch.inf  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"the weight encoder\.w_x holds a number"):
        quickest(policy)

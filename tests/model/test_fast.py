"""The fast path has the probabilities of the plain one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from model.observations import SIZES, observe, policy_of, uniforms
from n2s.errors import InputError
from n2s.model import FastPolicy, can_be_fast, plain
from n2s.problem import Variant

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)
RELEASED = {"successor": "second", "neighbours": "full", "scale_scores": False}


@VARIANTS
@pytest.mark.parametrize(("batch", "n"), [*SIZES, (20, 50)])
@pytest.mark.parametrize(
    "fields", [{}, {"costs": True}, RELEASED], ids=["paper", "costs", "released"]
)
def test_same_decisions_with_the_same_probabilities(
    batch: int, n: int, fields: dict[str, object], variant: Variant
) -> None:
    policy = policy_of(width=64, **fields)
    observation = observe(batch, n, variant, matrix="costs" in fields)
    expected = policy.act(observation, uniforms(batch), backend=plain)
    found = FastPolicy(policy).act(observation, uniforms(batch))
    assert (found.requests == expected.requests).all()
    assert (found.j == expected.j).all()
    assert (found.k == expected.k).all()
    torch.testing.assert_close(found.log_prob, expected.log_prob, atol=1e-4, rtol=0)


def test_one_snapshot_serves_all_sizes() -> None:
    policy = policy_of(width=64)
    fast = FastPolicy(policy)
    for n in (2, 10, 3, 10):
        observation = observe(2, n, Variant.LIFO)
        expected = policy.act(observation, uniforms(2), backend=plain)
        torch.testing.assert_close(
            fast.act(observation, uniforms(2)).log_prob, expected.log_prob, atol=1e-4, rtol=0
        )


def test_a_snapshot_does_not_follow_later_training() -> None:
    policy = policy_of(width=64)
    fast = FastPolicy(policy)
    observation = observe(2, 5, Variant.PDTSP)
    before = fast.act(observation, uniforms(2)).log_prob
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(1.5)
    after = fast.act(observation, uniforms(2)).log_prob
    assert torch.equal(before, after)


@pytest.mark.parametrize("instances", [1, 3, 12])
def test_large_batches_are_split_without_a_trace(
    instances: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """12 tours of 1, 3 or 12 instances in parts of at most 5."""
    policy = policy_of(width=64, costs=True)
    fast = FastPolicy(policy)
    observation = observe(12, 4, Variant.LIFO)
    assert observation.costs is not None
    shared = dataclasses.replace(observation, costs=observation.costs[:instances])
    whole = fast.act(shared, uniforms(12))
    monkeypatch.setattr("n2s.model.fast.MOST", 5)
    assert max(part.batch for part in shared.parts(5)) <= 5
    split = fast.act(shared, uniforms(12))
    assert (whole.requests == split.requests).all()
    assert (whole.j == split.j).all()
    assert (whole.k == split.k).all()
    torch.testing.assert_close(whole.log_prob, split.log_prob)


def test_numbers_that_are_not_numbers_are_refused() -> None:
    policy = policy_of(width=64)
    observation = observe(2, 3, Variant.PDTSP)
    points = observation.points.clone()
    points[1, 2, 0] = torch.nan
    with pytest.raises(InputError, match=r"points holds a number that is not finite"):
        dataclasses.replace(observation, points=points)
    for name, bad in (
        ("frequency", torch.full((2, 3), torch.inf)),
        ("best", torch.tensor([0.0, torch.nan])),
    ):
        with pytest.raises(InputError, match=f"{name} holds a number that is not finite"):
            dataclasses.replace(observation, **{name: bad})
    progress = observation.progress
    assert progress is not None
    with pytest.raises(InputError, match="above holds"):
        dataclasses.replace(
            observation, progress=dataclasses.replace(progress, above=torch.full((2,), torch.nan))
        )
    with pytest.raises(InputError, match=r"costs are \(0, 7, 7\)"):
        dataclasses.replace(observation, costs=np.zeros((0, 7, 7)))
    with torch.no_grad():
        policy.mixing.w_local[0][0, 0] = torch.inf  # type: ignore[union-attr]
    with pytest.raises(InputError, match="weights or inputs hold a number that is not finite"):
        policy.act(observation, uniforms(2))
    with pytest.raises(InputError, match=r"the weight mixing.w_local.0 holds"):
        FastPolicy(policy)


@pytest.mark.parametrize(
    "fields",
    [{"attention": "dac"}, {"removal": "random"}, {"reinsertion": "random"}, {"heads": 2}],
)
def test_other_policies_are_refused(fields: dict[str, object]) -> None:
    policy = policy_of(**fields)
    assert not can_be_fast(policy)
    with pytest.raises(TypeError, match=r"fast path"):
        FastPolicy(policy)

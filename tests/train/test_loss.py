"""Returns and losses against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from n2s.train.loss import approximate_kl, n_step_returns, policy_losses, value_losses

EXACT = {"atol": 1e-12, "rtol": 0.0}


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_returns_are_discounted_sums_with_the_last_value_behind_them() -> None:
    """2 + 8/2 = 6, then 0 + 6/2 = 3, then 1 + 3/2 = 2.5; without rewards, halves of the bootstrap."""
    rewards = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    returns = n_step_returns(rewards, torch.tensor([8.0, 4.0]), 0.5)
    assert returns.tolist() == [[2.5, 3.0, 6.0], [0.5, 1.0, 2.0]]
    assert rewards.tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    one = n_step_returns(torch.tensor([[3.0]]), torch.tensor([10.0]), 0.9)
    assert one.tolist() == [[12.0]]


def test_the_surrogate_is_clipped_only_where_it_would_promise_too_much() -> None:
    """With epsilon = 0.1, by columns.

    1. r = 1.3, A = 2: min(2.6, 1.1 * 2) = 2.2, clipped, no gradient.
    2. r = 1.3, A = -2: min(-2.6, -2.2) = -2.6, not clipped; d(-r A)/d(log r) = 2.6.
    3. r = 0.5, A = 2: min(1, 1.8) = 1, not clipped, gradient -1.
    4. r = 0.5, A = -2: min(-1, -1.8) = -1.8, clipped, no gradient.
    5. r = 1.05, A = 2: inside, 2.1, gradient -2.1.
    """
    log_ratio = column(*map(math.log, (1.3, 1.3, 0.5, 0.5, 1.05)))
    advantage = torch.tensor([2.0, -2.0, 2.0, -2.0, 2.0], dtype=torch.float64)
    losses = policy_losses(log_ratio, advantage, 0.1)
    expected = torch.tensor([-2.2, 2.6, -1.0, 1.8, -2.1], dtype=torch.float64)
    torch.testing.assert_close(losses.detach(), expected, **EXACT)
    losses.sum().backward()
    slopes = torch.tensor([0.0, 2.6, -1.0, 0.0, -2.1], dtype=torch.float64)
    torch.testing.assert_close(log_ratio.grad, slopes, **EXACT)


def test_values_are_clipped_around_the_old_ones_where_that_is_the_larger_error() -> None:
    """With epsilon = 0.1 and v_old = 1, by columns.

    1. v = 1.5, R = 0: 1.5^2 = 2.25 against (1.1 - 0)^2 = 1.21: not clipped, slope 2 * 1.5.
    2. v = 1.5, R = 2: 0.25 against (1.1 - 2)^2 = 0.81: clipped, no slope.
    3. v = 0.5, R = 2: 2.25 against (0.9 - 2)^2 = 1.21: not clipped, slope 2 * (0.5 - 2).
    4. v = 0.5, R = 0: 0.25 against 0.81: clipped, no slope.
    5. v = 1.05, R = 0: near enough, 1.1025, slope 2.1.
    """
    value = column(1.5, 1.5, 0.5, 0.5, 1.05)
    returns = torch.tensor([0.0, 2.0, 2.0, 0.0, 0.0], dtype=torch.float64)
    losses = value_losses(value, torch.ones(5, dtype=torch.float64), returns, 0.1)
    expected = torch.tensor([2.25, 0.81, 2.25, 0.81, 1.1025], dtype=torch.float64)
    torch.testing.assert_close(losses.detach(), expected, **EXACT)
    losses.sum().backward()
    slopes = torch.tensor([3.0, 0.0, -3.0, 0.0, 2.1], dtype=torch.float64)
    torch.testing.assert_close(value.grad, slopes, **EXACT)


def test_without_old_values_errors_are_plain_squares() -> None:
    value = column(1.5, 0.5)
    losses = value_losses(value, None, torch.tensor([2.0, 2.0], dtype=torch.float64), 0.1)
    assert losses.tolist() == [0.25, 2.25]


def test_the_kl_estimate_is_zero_at_equality_and_positive_elsewhere() -> None:
    """(2 - 1) - ln 2 = 0.3069, (1/2 - 1) + ln 2 = 0.1931."""
    estimate = approximate_kl(torch.tensor([0.0, math.log(2), -math.log(2)], dtype=torch.float64))
    assert estimate.tolist() == pytest.approx([0.0, 1 - math.log(2), math.log(2) - 0.5])

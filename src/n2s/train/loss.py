"""Returns and losses of n-step PPO, Eq. (18) and (19), as plain functions of tensors."""

from __future__ import annotations

import torch


def n_step_returns(rewards: torch.Tensor, bootstrap: torch.Tensor, gamma: float) -> torch.Tensor:
    """(B, n) discounted sums of (B, n) rewards, the value (B,) of the state behind them at the end."""
    returns = torch.empty_like(rewards)
    following = bootstrap
    for step in range(rewards.shape[1] - 1, -1, -1):
        following = rewards[:, step] + gamma * following
        returns[:, step] = following
    return returns


def policy_losses(
    log_ratio: torch.Tensor, advantage: torch.Tensor, ratio_clip: float
) -> torch.Tensor:
    """The negative clipped surrogate of each transition, Eq. (18)."""
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - ratio_clip, 1 + ratio_clip)
    return -torch.minimum(ratio * advantage, clipped * advantage)


def value_losses(
    value: torch.Tensor, old: torch.Tensor | None, returns: torch.Tensor, ratio_clip: float
) -> torch.Tensor:
    """Squared errors of each transition, clipped around old values where there are any, Eq. (19)."""
    error = (value - returns) ** 2
    if old is None:
        return error
    near = old + (value - old).clamp(-ratio_clip, ratio_clip)
    return torch.maximum(error, (near - returns) ** 2)


def approximate_kl(log_ratio: torch.Tensor) -> torch.Tensor:
    """Of each transition: the unbiased, never negative estimate (r - 1) - log r."""
    return log_ratio.expm1() - log_ratio

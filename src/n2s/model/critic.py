"""The critic: the value of a state from detached embeddings and the best cost so far, Eq. (16), (17)."""

from __future__ import annotations

import torch
from torch import nn

from n2s.kernels.native_decisions import VIEWS
from n2s.model.attention import VanillaAttention
from n2s.model.config import PolicyConfig, Prior
from n2s.model.layers import MLP, instance_norm, uniform
from n2s.model.observation import Progress
from n2s.model.prior import seen


class Critic(nn.Module):
    """One transformer layer with vanilla attention, mean-pool mixing, and an MLP."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.width
        self.attention = VanillaAttention(width, config.heads, config.head_width**-0.5)
        self.feed_forward = MLP(width, width, width)
        self.w_local = uniform(width, width // 2, fan=width)
        self.w_global = uniform(width, width // 2, fan=width)
        self.b = uniform(width // 2, fan=width)
        # A policy that knows its budget acts by it, so the value depends on it too.
        self.views = VIEWS if config.prior is Prior.NATIVE else 0
        self.mlp = MLP(width + 1 + self.views, width, width // 2, 1)

    def forward(
        self, nodes: torch.Tensor, best: torch.Tensor, progress: Progress | None = None
    ) -> torch.Tensor:
        """(B,) values from embeddings (B, N, D) and best costs (B,); the policy gets no gradient.

        With the native prior, ``progress`` counts: what is to be gained is the best cost less the one that
        the search will end with, which the network predicts as a difference to a greedy tour's; behind
        the end of the budget it is nothing.
        """
        y = nodes.detach()
        y = instance_norm(y + self.attention(y))
        y = instance_norm(y + self.feed_forward(y))
        mixed = y @ self.w_local + (y.mean(1) @ self.w_global)[:, None] + self.b  # Eq. (16)
        parts = [mixed.amax(1), mixed.mean(1), best.to(mixed)[:, None]]
        if not self.views:
            value: torch.Tensor = self.mlp(torch.cat(parts, -1))[:, 0]  # Eq. (17)
            return value
        if progress is None:
            raise TypeError("the value of a policy with a budget needs the progress")
        greedy = progress.edge.to(mixed) * nodes.shape[1]
        value = (
            best.to(mixed)
            - greedy
            + self.mlp(torch.cat([*parts, seen(progress).to(mixed)], -1))[:, 0]
        )
        # Shares add up to the end but for rounding: less than half a step is no step.
        return value * (progress.used < 1 - 0.5 / progress.total).to(value)

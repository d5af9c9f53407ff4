"""The critic: the value of a state from detached embeddings and the best cost so far, Eq. (16), (17)."""

from __future__ import annotations

import torch
from torch import nn

from n2s.model.attention import VanillaAttention
from n2s.model.config import PolicyConfig
from n2s.model.layers import MLP, instance_norm, uniform


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
        self.mlp = MLP(width + 1, width, width // 2, 1)

    def forward(self, nodes: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
        """(B,) values from embeddings (B, N, D) and best costs (B,); the policy gets no gradient."""
        y = nodes.detach()
        y = instance_norm(y + self.attention(y))
        y = instance_norm(y + self.feed_forward(y))
        mixed = y @ self.w_local + (y.mean(1) @ self.w_global)[:, None] + self.b  # Eq. (16)
        state = torch.cat([mixed.amax(1), mixed.mean(1), best.to(mixed)[:, None]], -1)  # (B, D + 1)
        value: torch.Tensor = self.mlp(state)[:, 0]  # Eq. (17)
        return value

"""The encoder: node features and positions in tour order to node embeddings (Section 4.1)."""

from __future__ import annotations

from types import ModuleType
from typing import Protocol

import torch
from torch import nn

from n2s.model import plain
from n2s.model.attention import DacAttention, SynthAttention, VanillaAttention
from n2s.model.config import Attention, PolicyConfig
from n2s.model.layers import FeedForward, instance_norm, modules, uniform
from n2s.model.position import positional_table


class Encoder(Protocol):
    """What an encoder offers: one or two streams of embeddings, node embeddings first."""

    streams: int

    def __call__(self, points: torch.Tensor, backend: ModuleType) -> tuple[torch.Tensor, ...]:
        """(B, N, 2) coordinates in tour order to embeddings, each (B, N, D)."""


class SynthEncoder(nn.Module):
    """The paper's encoder: L layers of Synth-Att that share one set of auxiliary scores."""

    streams = 1

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.w_x = uniform(2, config.width, fan=2)
        self.w_q_aux = uniform(config.width, config.width, fan=config.head_width)
        self.w_k_aux = uniform(config.width, config.width, fan=config.head_width)
        self.attention = modules(SynthAttention(config) for _ in range(config.layers))
        self.feed_forward = modules(FeedForward(config.width) for _ in range(config.layers))

    def auxiliary_scores(self, size: int) -> torch.Tensor:
        """(H, N, N) scores of positions, Eq. (5): the same for every tour in tour order."""
        g = positional_table(size, self.config.width, self.config.position).to(self.w_x)
        heads = (self.config.heads, self.config.head_width)
        q = (g @ self.w_q_aux).unflatten(-1, heads).transpose(0, 1)  # (H, N, d)
        k = (g @ self.w_k_aux).unflatten(-1, heads).transpose(0, 1)
        return self.config.score_scale * q @ k.transpose(1, 2)

    def forward(self, points: torch.Tensor, backend: ModuleType) -> tuple[torch.Tensor, ...]:
        """(B, N, 2) to ((B, N, D),)."""
        h = points @ self.w_x  # NFE
        aux = self.auxiliary_scores(points.shape[1])
        # The plain backend computes as the paper writes it.
        source = None if backend is plain else (points, self.w_x)
        for attention, feed_forward in zip(self.attention, self.feed_forward, strict=True):
            h = instance_norm(h + attention(h, aux, backend, source))
            h = instance_norm(h + feed_forward(h))
            source = None
        return (h,)


class VanillaEncoder(nn.Module):
    """Ablation: node features plus positions, plain self-attention."""

    streams = 1

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.w_x = uniform(2, config.width, fan=2)
        self.attention = modules(
            VanillaAttention(config.width, config.heads, config.score_scale)
            for _ in range(config.layers)
        )
        self.feed_forward = modules(FeedForward(config.width) for _ in range(config.layers))

    def forward(self, points: torch.Tensor, backend: ModuleType) -> tuple[torch.Tensor, ...]:
        """(B, N, 2) to ((B, N, D),)."""
        g = positional_table(points.shape[1], self.config.width, self.config.position)
        h = points @ self.w_x + g.to(self.w_x)
        for attention, feed_forward in zip(self.attention, self.feed_forward, strict=True):
            h = instance_norm(h + attention(h))
            h = instance_norm(h + feed_forward(h))
        return (h,)


class DacEncoder(nn.Module):
    """Ablation: node and positional features as two streams that attend to each other (DACT)."""

    streams = 2

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        self.w_x = uniform(2, config.width, fan=2)
        self.attention = modules(DacAttention(config) for _ in range(config.layers))
        self.feed_forward = modules(FeedForward(config.width) for _ in range(2 * config.layers))

    def forward(self, points: torch.Tensor, backend: ModuleType) -> tuple[torch.Tensor, ...]:
        """(B, N, 2) to two streams, each (B, N, D)."""
        table = positional_table(points.shape[1], self.config.width, self.config.position)
        h = points @ self.w_x
        g = table.to(self.w_x).expand(len(points), -1, -1)
        for index, attention in enumerate(self.attention):
            more_h, more_g = attention(h, g)
            h, g = instance_norm(h + more_h), instance_norm(g + more_g)
            h = instance_norm(h + self.feed_forward[2 * index](h))
            g = instance_norm(g + self.feed_forward[2 * index + 1](g))
        return h, g


def make_encoder(config: PolicyConfig) -> SynthEncoder | VanillaEncoder | DacEncoder:
    """The encoder that a configuration names."""
    if config.attention is Attention.SYNTH:
        return SynthEncoder(config)
    return VanillaEncoder(config) if config.attention is Attention.VANILLA else DacEncoder(config)


class MaxPoolMixing(nn.Module):
    """Eq. (11): each embedding plus a projection of the maximum over all of them."""

    def __init__(self, config: PolicyConfig, streams: int) -> None:
        super().__init__()
        width = config.width
        self.w_local = nn.ParameterList(uniform(width, width, fan=width) for _ in range(streams))
        self.w_global = nn.ParameterList(uniform(width, width, fan=width) for _ in range(streams))

    def forward(self, streams: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Embeddings, each (B, N, D), to (B, N, D)."""
        mixed = torch.zeros_like(streams[0])
        for h, w_local, w_global in zip(streams, self.w_local, self.w_global, strict=True):
            mixed = mixed + h @ w_local + (h.amax(1) @ w_global)[:, None]
        return mixed

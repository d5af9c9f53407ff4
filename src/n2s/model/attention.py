"""The encoder's three kinds of attention (Table 5): Synth-Att, vanilla, and DACT's DAC-Att.

All of them read nodes in tour order, so that positions are row numbers.
"""

from __future__ import annotations

from types import ModuleType

import torch
from torch import nn

from n2s.model import fused, plain
from n2s.model.config import PolicyConfig
from n2s.model.layers import uniform


def backend_for(tensor: torch.Tensor, heads: int) -> ModuleType:
    """The implementation of the memory-bound parts: fused kernels where they run, tensors elsewhere."""
    return fused if tensor.device.type == "cpu" and heads == fused.HEADS else plain


class SynthAttention(nn.Module):
    """Synthesis attention, Eq. (6) to (10)."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width, heads = config.width, config.heads
        self.scale = config.score_scale
        self.w_q = uniform(width, width, fan=config.head_width)
        self.w_k = uniform(width, width, fan=config.head_width)
        self.w_v = uniform(width, width, fan=config.head_width)
        self.w_o = uniform(width, width, fan=width)
        self.mlp_w1 = uniform(2 * heads, 2 * heads, fan=2 * heads)
        self.mlp_b1 = uniform(2 * heads, fan=2 * heads)
        self.mlp_w2 = uniform(heads, 2 * heads, fan=2 * heads)
        self.mlp_b2 = uniform(heads, fan=heads)

    def forward(
        self,
        h: torch.Tensor,
        aux: torch.Tensor,
        backend: ModuleType,
        source: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """(B, N, D) features and (H, N, N) auxiliary scores to (B, N, D), Eq. (6).

        Where h = x w with few columns in x, ``source`` (x, w) saves most of the first product.
        """
        weights = torch.cat([self.w_q * self.scale, self.w_k, self.w_v], 1)
        qkv = h @ weights if source is None else source[0] @ (source[1] @ weights)  # (B, N, 3D)
        mlp = (self.mlp_w1, self.mlp_b1, self.mlp_w2, self.mlp_b2)
        heads: torch.Tensor = backend.synth_attention(qkv, aux, *mlp)  # (B, N, D), Eq. (7)-(9)
        return heads @ self.w_o  # Eq. (10)


class VanillaAttention(nn.Module):
    """Multi-head self-attention, for the ablation and the critic."""

    def __init__(self, width: int, heads: int, scale: float) -> None:
        super().__init__()
        self.heads = heads
        self.scale = scale
        self.w_q = uniform(width, width, fan=width // heads)
        self.w_k = uniform(width, width, fan=width // heads)
        self.w_v = uniform(width, width, fan=width // heads)
        self.w_o = uniform(width, width, fan=width)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """(B, N, D) to (B, N, D)."""
        qkv = h @ torch.cat([self.w_q, self.w_k, self.w_v], 1)  # (B, N, 3D)
        q, k, v = (split_heads(part, self.heads) for part in qkv.chunk(3, -1))
        # One fused pass: the (B, H, N, N) scores never reach the memory.
        heads = nn.functional.scaled_dot_product_attention(q, k, v, scale=self.scale)
        return join_heads(heads) @ self.w_o


class DacAttention(nn.Module):
    """Dual-aspect collaborative attention of DACT: each aspect attends by both aspects' scores."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.scale = config.score_scale
        self.w_q = nn.ParameterList(uniform(width, width, fan=config.head_width) for _ in range(2))
        self.w_k = nn.ParameterList(uniform(width, width, fan=config.head_width) for _ in range(2))
        # For each aspect: values weighed by its own scores, and by the other aspect's.
        self.w_v = nn.ParameterList(uniform(width, width, fan=config.head_width) for _ in range(4))
        self.w_o = nn.ParameterList(uniform(2 * width, width, fan=width) for _ in range(2))

    def forward(self, h: torch.Tensor, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Node and positional features, each (B, N, D), to the same."""
        aspects = (h, g)
        weights = []
        for aspect, w_q, w_k in zip(aspects, self.w_q, self.w_k, strict=True):
            q, k = split_heads(aspect @ w_q, self.heads), split_heads(aspect @ w_k, self.heads)
            weights.append((self.scale * q @ k.transpose(2, 3)).softmax(-1))  # (B, H, N, N)
        out = []
        for index, aspect in enumerate(aspects):
            own = split_heads(aspect @ self.w_v[2 * index], self.heads)
            shared = split_heads(aspect @ self.w_v[2 * index + 1], self.heads)
            both = [join_heads(weights[index] @ own), join_heads(weights[1 - index] @ shared)]
            out.append(torch.cat(both, -1) @ self.w_o[index])
        return out[0], out[1]


def split_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """(B, N, D) to (B, H, N, D / H)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join_heads(x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, d) to (B, N, H d)."""
    return x.transpose(1, 2).flatten(2)

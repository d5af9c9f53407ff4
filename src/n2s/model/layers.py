"""Small parts that several rooms of the network share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar, cast

import torch
from torch import nn

M = TypeVar("M", bound=nn.Module)


def uniform(*shape: int, fan: int) -> nn.Parameter:
    """A weight drawn uniformly from +-1/sqrt(fan), as the released code initialises every weight."""
    bound = 1.0 / math.sqrt(fan)
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


def instance_norm(x: torch.Tensor) -> torch.Tensor:
    """Normalise (B, N, D) over the nodes and features of each instance: no parameters, eps 1e-5.

    The released code divides by the unbiased variance, torch's layer norm by the biased one; a factor
    makes them the same.
    """
    count = x.shape[1] * x.shape[2]
    share = (count - 1) / count
    factor = x.new_full(x.shape[1:], math.sqrt(share))  # inside the norm it costs nothing
    return nn.functional.layer_norm(x, x.shape[1:], factor, eps=1e-5 * share)


def side_by_side(w: torch.Tensor) -> torch.Tensor:
    """Projections of heads, (H, D, d), as one (D, H d) matrix."""
    return w.transpose(0, 1).flatten(1)


def modules(parts: Iterable[M]) -> Sequence[M]:
    """A ``ModuleList`` that remembers what kind of modules it holds."""
    return cast("Sequence[M]", nn.ModuleList(parts))


class MLP(nn.Module):
    """Linear layers with ReLU between them."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        pairs = list(pairwise(widths))
        self.weights = nn.ParameterList(uniform(o, i, fan=i) for i, o in pairs)
        self.biases = nn.ParameterList(uniform(o, fan=o) for _, o in pairs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., first width) to (..., last width)."""
        last = len(self.weights) - 1
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = nn.functional.linear(x, weight, bias)
            if index < last:
                x = torch.relu(x)
        return x


class FeedForward(nn.Module):
    """D -> D -> D with ReLU, without biases."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.w1 = uniform(width, width, fan=width)
        self.w2 = uniform(width, width, fan=width)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """(B, N, D) to (B, N, D)."""
        return torch.relu(h @ self.w1) @ self.w2

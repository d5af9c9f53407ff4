"""The same two parts in fused native kernels, with gradients: what a CPU uses.

Each is one pass per tour that keeps its intermediate values in the cache and computes them again in the
backward pass, instead of writing (B, N, N, 8) and (B, N, N, 32) tensors.
"""

from __future__ import annotations

from typing import Any

import numba
import torch

from n2s.kernels import attention as attention_kernel
from n2s.kernels import network as network_kernel
from n2s.kernels import pairs as pair_kernel
from n2s.kernels.arithmetic import padded
from n2s.model.layers import side_by_side
from n2s.model.plain import PairInput, Tail

HEADS = 4
"""The number of heads the attention kernel is written for; others use the plain backend."""


def constant_table(aux: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor) -> torch.Tensor:
    """(2H, N, padded(N)): the auxiliary half of the score MLP's first layer by key and query.

    In tour order it is the same for all tours, Eq. (5) and (8).
    """
    heads, size, _ = aux.shape
    table = torch.einsum("ch,hij->cji", w1[:, heads:], aux) + b1[:, None, None]
    return torch.nn.functional.pad(table, (0, int(padded(size)) - size))


class _SynthAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        qkv: torch.Tensor,
        table: torch.Tensor,
        w1: torch.Tensor,
        w2: torch.Tensor,
        b2: torch.Tensor,
    ) -> torch.Tensor:
        qkv, table, w1, w2 = (t.detach().contiguous() for t in (qkv, table, w1, w2))
        ctx.save_for_backward(qkv, table, w1, w2)
        ctx.bias = b2.shape
        arrays = (t.numpy() for t in (qkv, table, w1, w2))
        return torch.from_numpy(attention_kernel.synth_attention(*arrays, numba.get_num_threads()))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arrays = (t.numpy() for t in (*ctx.saved_tensors, grad.contiguous()))
        grads = attention_kernel.synth_attention_backward(*arrays, numba.get_num_threads())
        # b2 shifts all scores of a query alike and cancels in the softmax: zero, not absent.
        return (*(torch.from_numpy(g) for g in grads), grad.new_zeros(ctx.bias))


def synth_attention(
    qkv: torch.Tensor,
    aux: torch.Tensor,
    w1: torch.Tensor,
    b1: torch.Tensor,
    w2: torch.Tensor,
    b2: torch.Tensor,
) -> torch.Tensor:
    """Eq. (7) to (9); see ``plain.synth_attention``."""
    table = constant_table(aux, w1, b1)
    out: torch.Tensor = _SynthAttention.apply(qkv, table, w1[:, : len(aux)], w2, b2)
    return out


class _Closeness(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, mixed: torch.Tensor, turned: torch.Tensor, reach: int) -> torch.Tensor:
        mixed, turned = mixed.detach().contiguous(), turned.detach().contiguous()
        ctx.save_for_backward(mixed, turned)
        ctx.reach = reach
        return torch.from_numpy(network_kernel.closeness(mixed.numpy(), turned.numpy(), reach))

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        arrays = (t.numpy() for t in (*ctx.saved_tensors, grad.contiguous()))
        grads = network_kernel.closeness_backward(*arrays, ctx.reach)
        return (*(torch.from_numpy(g) for g in grads), None)


def fold(w_q: torch.Tensor, w_k: torch.Tensor) -> torch.Tensor:
    """W^Q W^K^T of all heads side by side, (D, H D): x W^Q (y W^K)^T = (x fold) . y."""
    return side_by_side(w_q @ w_k.transpose(1, 2))


def closeness(
    mixed: torch.Tensor, w_q: torch.Tensor, w_k: torch.Tensor, reach: int
) -> torch.Tensor:
    """(B, H, N) lambda of every position; see ``plain.closeness``."""
    return closeness_of(mixed, fold(w_q, w_k), reach)


def closeness_of(mixed: torch.Tensor, folded: torch.Tensor, reach: int) -> torch.Tensor:
    """The same with folded weights: one projection instead of two, and only neighbours' products."""
    result: torch.Tensor = _Closeness.apply(mixed, mixed @ folded, reach)
    return result


def preferences(
    mixed: torch.Tensor,
    ends: torch.Tensor,
    at: torch.Tensor,
    behind: torch.Tensor,
    by_p: tuple[torch.Tensor, torch.Tensor],
    by_s: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """(B, 4H, M) inputs of MLP_mu; see ``plain.preferences``."""
    return preferences_of(mixed, ends, at, behind, torch.cat([fold(*by_p), fold(*by_s)], 1))


def preferences_of(
    mixed: torch.Tensor,
    ends: torch.Tensor,
    at: torch.Tensor,
    behind: torch.Tensor,
    folded: torch.Tensor,
) -> torch.Tensor:
    """The same with folded weights (D, 2H D): two queries carry W^K^T, so no node has to."""
    batch, _, width = mixed.shape
    query = mixed.gather(1, ends[..., None].expand(-1, -1, width))  # (B, 2, D)
    turned = (query @ folded).view(batch, 2, 2, -1, width)  # end, p or s, head
    scores = turned.transpose(1, 2).flatten(1, 3) @ mixed.transpose(1, 2)  # (B, 4H, N) by position
    both = scores.chunk(2, 1)  # p: pickup's heads, delivery's heads; then s
    return torch.cat(
        [
            part.gather(2, where[:, None].expand(-1, part.shape[1], -1))
            for part, where in zip(both, (behind, at), strict=True)
        ],
        1,
    )


def _tail_arrays(tail: Tail) -> tuple[Any, ...]:
    tensors = (tail.lift, tail.w2, tail.b2, tail.w3, tail.b3)
    return (*(t.detach().contiguous().numpy() for t in tensors), tail.clip)


def _pair_arrays(pairs: PairInput) -> tuple[Any, ...]:
    tensors = (pairs.a, pairs.b, pairs.extra, pairs.prior)
    arrays = (t.detach().contiguous().numpy() for t in tensors)
    return (pairs.variant, pairs.rests, *arrays, _tail_arrays(pairs.tail))


def draw_pairs(
    pairs: PairInput, uniforms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One pair a tour drawn from the softmax of the logits; see ``plain.draw_pairs``."""
    drawn = pair_kernel.draw_pairs(*_pair_arrays(pairs), uniforms.numpy(), numba.get_num_threads())
    j, k, log_prob = (torch.from_numpy(part) for part in drawn)
    return j, k, log_prob


def pair_effects(pairs: PairInput) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean logits by gap of the pickup, by gap of a delivery behind it, and for j = k: see the kernel."""
    found = pair_kernel.pair_effects(*_pair_arrays(pairs), numba.get_num_threads())
    pickup, delivery, together = (torch.from_numpy(part) for part in found)
    return pickup, delivery, together


class _PairLogProbs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, pairs: PairInput, j: torch.Tensor, k: torch.Tensor, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.arguments = (*_pair_arrays(pairs), j.numpy(), k.numpy())
        log_prob, entropy, logits, log_sums = pair_kernel.pair_log_probs(
            *ctx.arguments, numba.get_num_threads()
        )
        ctx.kept = (logits, log_sums, entropy)
        return torch.from_numpy(log_prob), torch.from_numpy(entropy)

    @staticmethod
    def backward(ctx: Any, grad_log: torch.Tensor, grad_entropy: torch.Tensor) -> tuple[Any, ...]:
        grads = pair_kernel.pair_log_probs_backward(
            *ctx.arguments,
            *ctx.kept,
            grad_log.contiguous().numpy(),
            grad_entropy.contiguous().numpy(),
            numba.get_num_threads(),
        )
        return (None, None, None, *(torch.from_numpy(g) for g in grads))


def pair_log_probs(
    pairs: PairInput, j: torch.Tensor, k: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability of a chosen pair and entropy; see ``plain.pair_log_probs``."""
    tail = pairs.tail
    tensors = (pairs.a, pairs.b, pairs.extra, pairs.prior, tail.lift, tail.w2, tail.b2)
    result: tuple[torch.Tensor, torch.Tensor] = _PairLogProbs.apply(
        pairs, j, k, *tensors, tail.w3, tail.b3
    )
    return result

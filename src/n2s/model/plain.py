"""The two memory-bound parts of the network as batched tensor operations, formulas as written.

This backend runs on every device and for every number of heads, and is what ``fused`` is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from n2s import kernels
from n2s.model.layers import side_by_side
from n2s.problem.instance import IntArray


@dataclass(frozen=True)
class Tail:
    """MLP_mu behind its first layer, and what the exact-cost extension adds."""

    lift: torch.Tensor
    """(32,) weights of the delivery's detour: what a pair with j = k adds to its sum."""
    w2: torch.Tensor
    b2: torch.Tensor
    w3: torch.Tensor
    b3: torch.Tensor
    clip: float


@dataclass(frozen=True)
class PairInput:
    """What the pair MLP reads of B tours with M gaps each (see ``kernels.pairs``)."""

    variant: int
    rests: IntArray
    a: torch.Tensor
    """(B, M, 32) first layer, by gap of the pickup."""
    b: torch.Tensor
    """(B, M, 32) first layer, by gap of the delivery."""
    extra: torch.Tensor
    """(B, M) what j = k adds to the delivery's detour."""
    prior: torch.Tensor
    """(B, 3, M) logit of the cost prior: pickup, delivery, both in one gap."""
    tail: Tail


def synth_attention(
    qkv: torch.Tensor,
    aux: torch.Tensor,
    w1: torch.Tensor,
    b1: torch.Tensor,
    w2: torch.Tensor,
    b2: torch.Tensor,
) -> torch.Tensor:
    """Eq. (7) to (9): self scores, the element-wise MLP with the auxiliary scores, softmax, values.

    ``qkv`` (B, N, 3D) with scaled queries, ``aux`` (H, N, N), weights of the MLP 2H -> 2H -> H; to
    (B, N, D), heads side by side.
    """
    batch, size, triple = qkv.shape
    heads = len(aux)
    q, k, v = (
        part.view(batch, size, heads, -1).transpose(1, 2) for part in qkv.split(triple // 3, -1)
    )  # (B, H, N, d)
    scores = q @ k.transpose(2, 3)  # (B, H, N, N)
    both = torch.cat([scores, aux.expand(batch, -1, -1, -1)], 1).permute(
        0, 2, 3, 1
    )  # (B, N, N, 2H)
    hidden = torch.relu(torch.nn.functional.linear(both, w1, b1))
    synth = torch.nn.functional.linear(hidden, w2, b2).permute(0, 3, 1, 2)  # (B, H, N, N)
    out = synth.softmax(-1) @ v  # (B, H, N, d)
    return out.transpose(1, 2).reshape(batch, size, -1)


def closeness(
    mixed: torch.Tensor, w_q: torch.Tensor, w_k: torch.Tensor, reach: int
) -> torch.Tensor:
    """(B, H, N) lambda of every position, Eq. (12): full-width heads (H, D, D), succ ``reach`` ahead."""
    q, k = _project(mixed, w_q), _project(mixed, w_k)  # (B, H, N, D)
    q_pred, k_succ = q.roll(1, 2), k.roll(-reach, 2)
    return (q_pred * k).sum(-1) + (q * k_succ).sum(-1) - (q_pred * k_succ).sum(-1)


def preferences(
    mixed: torch.Tensor,
    ends: torch.Tensor,
    at: torch.Tensor,
    behind: torch.Tensor,
    by_p: tuple[torch.Tensor, torch.Tensor],
    by_s: tuple[torch.Tensor, torch.Tensor],
) -> torch.Tensor:
    """(B, 4H, M) mu^p of pickup and delivery with succ(j), then mu^s with j, for all gaps, Eq. (14).

    ``ends`` (B, 2) are the positions of pickup and delivery, ``at`` and ``behind`` (B, M) those of each
    gap's node and of its successor; ``by_p`` and ``by_s`` hold W^Q and W^K, each (H, D, D).
    """
    batch = torch.arange(len(mixed), device=mixed.device)[:, None]
    query = mixed[batch, ends]  # (B, 2, D)
    parts = []
    for where, (w_q, w_k) in ((behind, by_p), (at, by_s)):
        keys = _project(mixed[batch, where], w_k)  # (B, H, M, D)
        scores = _project(query, w_q) @ keys.transpose(2, 3)  # (B, H, 2, M)
        parts.append(scores.transpose(1, 2).flatten(1, 2))  # pickup's heads, delivery's heads
    return torch.cat(parts, 1)


def _project(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """(B, N, D) through one projection a head, (H, D, D), to (B, H, N, D)."""
    return (x @ side_by_side(w)).unflatten(-1, (len(w), -1)).transpose(1, 2)


def pair_logits(pairs: PairInput) -> torch.Tensor:
    """(B, M, M) logits of all (j, k), Eq. (15); -inf where a pair is not feasible."""
    tail = pairs.tail
    extra = torch.diag_embed(pairs.extra)[..., None] * tail.lift
    hidden = torch.relu(pairs.a[:, :, None] + pairs.b[:, None] + extra)  # (B, M, M, 32)
    hidden = torch.relu(torch.nn.functional.linear(hidden, tail.w2, tail.b2))
    score = torch.nn.functional.linear(hidden, tail.w3[None], tail.b3)[..., 0]  # (B, M, M)
    logits = tail.clip * torch.tanh(score) + prior_logits(pairs.prior)
    return feasible(logits, pairs.variant, pairs.rests)


def prior_logits(prior: torch.Tensor) -> torch.Tensor:
    """(B, M, M) from the terms (B, 3, M) of pickup, delivery and both in one gap."""
    pickup, delivery, both = prior.unbind(1)
    same = torch.eye(prior.shape[-1], dtype=torch.bool, device=prior.device)
    return torch.where(same, both[:, :, None], pickup[:, :, None] + delivery[:, None])


def feasible(logits: torch.Tensor, variant: int, rests: IntArray) -> torch.Tensor:
    """The logits (B, M, M) with -inf where a pair is not feasible."""
    mask = torch.from_numpy(kernels.feasible_mask(variant, rests)).to(logits.device)
    return logits.masked_fill(~mask, -torch.inf)


def draw_pairs(
    pairs: PairInput, uniforms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(j, k, log-probability), each (B,): one pair a tour drawn from the softmax of the logits."""
    return draw_pair(pair_logits(pairs), uniforms)


def draw_pair(
    logits: torch.Tensor, uniforms: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(j, k, log-probability), each (B,), from logits (B, M, M)."""
    log_probs = logits.flatten(1).log_softmax(-1)  # (B, M * M)
    chosen = draw(log_probs.exp(), uniforms)
    gaps = logits.shape[-1]
    return chosen // gaps, chosen % gaps, log_probs.gather(1, chosen[:, None])[:, 0]


def pair_log_probs(
    pairs: PairInput, j: torch.Tensor, k: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability of a chosen pair and entropy, each (B,)."""
    log_probs = pair_logits(pairs).flatten(1).log_softmax(-1)
    index = (j * pairs.a.shape[1] + k)[:, None]
    return log_probs.gather(1, index)[:, 0], entropy(log_probs)


def draw(probabilities: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """(B,) index drawn from each row of (B, X) by one uniform number: inverse distribution function."""
    total = probabilities.double().cumsum(-1)
    # Strictly greater, so that what has no probability is never drawn; u = 1 would find nothing greater.
    target = uniforms.double().clamp(max=1 - 1e-15) * total[:, -1]
    return (total > target[:, None]).int().argmax(-1).long()


def entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """(B,) entropy of rows of log-probabilities; -inf counts nothing."""
    return -(log_probs.exp() * log_probs.clamp(min=-1e30)).sum(-1)

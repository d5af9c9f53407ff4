"""The same probabilities at several times the speed: the policy as a snapshot for searching on a CPU.

Exact savings, no approximation:

* in tour order the auxiliary scores are constant: one table per N enters the score MLP (``fused``);
* node features are linear in two coordinates, so layer 1's scores are u_i . x_j with two numbers each,
  and its values are mixed as coordinates and projected afterwards, W^V W^O folded;
* removal: W^Q W^K^T is folded per head, and only products of neighbours in the tour are formed;
* reinsertion: queries exist for two nodes only, so they carry W^K^T instead of all nodes;
* the pair MLP runs over feasible pairs only (``kernels.pairs``);
* a few tours at a time pass through all layers, so that what one layer writes is still in the cache
  when the next one reads it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numba
import numpy as np
import torch

from n2s import kernels
from n2s.errors import InputError
from n2s.kernels import attention as attention_kernel
from n2s.kernels import network as network_kernel
from n2s.model import fused, plain
from n2s.model.config import Attention, Operator
from n2s.model.encoder import SynthEncoder
from n2s.model.observation import Observation
from n2s.model.policy import Decision, Policy, finite
from n2s.model.prior_policy import PriorPolicy, prior_alone
from n2s.model.reinsertion import LearnedReinsertion
from n2s.model.removal import LearnedRemoval
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

CHUNK = 8
"""Tours that pass through the layers together."""
MOST = 256
"""Tours of one part; larger batches are split."""


@dataclass(frozen=True)
class _Layer:
    """Folded weights of one encoder layer."""

    qkv: torch.Tensor
    """(D, 3D), queries scaled."""
    out: torch.Tensor
    ff1: torch.Tensor
    ff2: torch.Tensor
    mlp_w1: FloatArray
    mlp_w2: FloatArray


class FastPolicy:
    """A frozen copy of a learned policy with Synth-Att, for ``act`` on a CPU."""

    def __init__(self, policy: Policy) -> None:
        if not can_be_fast(policy):
            raise TypeError("only a learned policy with Synth-Att and 4 heads has a fast path")
        policy = copy.deepcopy(policy)  # later training must not change half of a snapshot
        encoder, removal = policy.encoder, policy.removal
        reinsertion, mixing = policy.reinsertion, policy.mixing
        if (
            not isinstance(encoder, SynthEncoder)
            or not isinstance(removal, LearnedRemoval)
            or not isinstance(reinsertion, LearnedReinsertion)
            or mixing is None
        ):
            raise TypeError("only a learned policy with Synth-Att has a fast path")
        for name, parameter in policy.named_parameters():
            if not torch.isfinite(parameter).all():
                raise InputError(f"the weight {name} holds a number that is not finite")
        self.config = policy.config
        self._encoder, self._removal, self._reinsertion = encoder, removal, reinsertion
        heads, depth = self.config.heads, self.config.head_width
        with torch.no_grad():
            first = encoder.attention[0]
            w_x = encoder.w_x
            q = (w_x @ first.w_q * first.scale).view(2, heads, depth)
            k = (w_x @ first.w_k).view(2, heads, depth)
            v = (w_x @ first.w_v).view(2, heads, depth).transpose(0, 1)  # (H, 2, d)
            self._first_form = torch.einsum("xhd,yhd->hxy", q, k).contiguous().numpy()
            folded = (v @ first.w_o.view(heads, depth, -1)).flatten(0, 1)  # (2H, D)
            self._first_out = torch.cat([w_x, folded])  # (2 + 2H, D), residual included
            self._layers = [
                _Layer(
                    torch.cat([a.w_q * a.scale, a.w_k, a.w_v], 1),
                    a.w_o.clone(),
                    f.w1.clone(),
                    f.w2.clone(),
                    a.mlp_w1[:, :heads].contiguous().numpy(),
                    a.mlp_w2.clone().numpy(),
                )
                for a, f in zip(encoder.attention, encoder.feed_forward, strict=True)
            ]
            self._w_local, self._w_global = mixing.w_local[0].clone(), mixing.w_global[0].clone()
            self._closeness = fused.fold(removal.w_q, removal.w_k).contiguous()  # (D, H D)
            by_p = fused.fold(reinsertion.w_q_p, reinsertion.w_k_p)
            by_s = fused.fold(reinsertion.w_q_s, reinsertion.w_k_s)
            self._preferences = torch.cat([by_p, by_s], 1)  # (D, 2H D)
        self._tables: dict[int, list[FloatArray]] = {}

    def _constant_tables(self, size: int) -> list[FloatArray]:
        """One table a layer for this N, kept."""
        if size not in self._tables:
            with torch.no_grad():
                aux = self._encoder.auxiliary_scores(size)
                self._tables[size] = [
                    fused.constant_table(aux, a.mlp_w1, a.mlp_b1).contiguous().numpy()
                    for a in self._encoder.attention
                ]
        return self._tables[size]

    @torch.no_grad()
    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        """Draw a move for every tour; the distribution of ``Policy.act``.

        Large batches are split, so that memory stays bounded.
        """
        parts = observation.parts(MOST)
        ends = np.cumsum([part.batch for part in parts])
        drawn = [
            self._act(part, uniforms[end - part.batch : end])
            for part, end in zip(parts, ends, strict=True)
        ]
        if len(drawn) == 1:
            return drawn[0]
        return Decision(
            np.concatenate([decision.requests for decision in drawn]),
            np.concatenate([decision.j for decision in drawn]),
            np.concatenate([decision.k for decision in drawn]),
            torch.cat([decision.log_prob for decision in drawn]),
        )

    def _act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        batch, size = observation.tours.shape
        mixed = torch.empty(batch, size, self.config.width)
        closeness = torch.empty(batch, self.config.heads, size)
        for begin in range(0, batch, CHUNK):
            part = slice(begin, min(begin + CHUNK, batch))
            self._encode(observation.points[part], observation.tours[part], mixed[part])
            closeness[part] = fused.closeness_of(mixed[part], self._closeness, self._removal.reach)
        log_probs = self._removal.logits(closeness, observation).log_softmax(-1)
        index = plain.draw(log_probs.exp(), uniforms[:, 0])
        requests = (index + 1).numpy()
        rests = kernels.remove_requests(observation.tours, requests)
        places = self._reinsertion.places(observation, requests, rests)
        preferences = fused.preferences_of(mixed, *places, self._preferences)
        pairs = self._reinsertion.pair_input(preferences, observation, requests, rests)
        j, k, log_reinsertion = fused.draw_pairs(pairs, uniforms[:, 1])
        log_removal = log_probs.gather(1, index[:, None])[:, 0]
        return Decision(requests, j.numpy(), k.numpy(), finite(log_removal + log_reinsertion))

    def _encode(self, points: torch.Tensor, tours: IntArray, mixed: torch.Tensor) -> None:
        """Fill ``mixed`` (b, N, D): encoder and max-pool mixing."""
        batch, size = tours.shape
        width = self.config.width
        threads = numba.get_num_threads()
        tables = self._constant_tables(size)
        first = self._layers[0]
        coordinates = network_kernel.first_attention(
            points.numpy(), tours, self._first_form, tables[0], first.mlp_w1, first.mlp_w2, threads
        )  # (b, N, 2 + 2H)
        h = torch.from_numpy(coordinates).view(batch * size, -1) @ self._first_out
        for index, layer in enumerate(self._layers):
            if index > 0:
                qkv = (h @ layer.qkv).view(batch, size, 3 * width)
                heads = attention_kernel.synth_attention(
                    qkv.numpy(), tables[index], layer.mlp_w1, layer.mlp_w2, threads
                )
                h.addmm_(torch.from_numpy(heads).view(batch * size, width), layer.out)
            network_kernel.normalise(h.numpy().reshape(batch, size * width))
            hidden = (h @ layer.ff1).relu_()
            h.addmm_(hidden, layer.ff2)
            network_kernel.normalise(h.numpy().reshape(batch, size * width))
        h3 = h.view(batch, size, width)
        pooled = h3.amax(1) @ self._w_global  # (b, D)
        torch.add((h @ self._w_local).view(batch, size, width), pooled[:, None], out=mixed)


def can_be_fast(policy: Policy) -> bool:
    """Whether a policy has a fast path: Synth-Att with 4 heads, both decoders learned, on a CPU."""
    config = policy.config
    return (
        config.attention is Attention.SYNTH
        and config.heads == fused.HEADS
        and config.removal is Operator.LEARNED
        and config.reinsertion is Operator.LEARNED
        and all(p.device.type == "cpu" and p.dtype == torch.float32 for p in policy.parameters())
    )


def quickest(policy: Policy) -> Policy | FastPolicy | PriorPolicy:
    """The same probabilities in the form that draws fastest, frozen where that is a copy."""
    alone = prior_alone(policy)
    if alone is not None:
        return alone
    return FastPolicy(policy) if can_be_fast(policy) else policy

"""The node-pair reinsertion decoder (Section 4.2) and its hand-made rivals (Table 6)."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Protocol

import numpy as np
import torch
from torch import nn

from n2s import kernels
from n2s.model.config import DECODER_WIDTH, Neighbours, Operator, PolicyConfig, Prior
from n2s.model.layers import uniform
from n2s.model.observation import Observation
from n2s.model.plain import PairInput, Tail
from n2s.model.prior import ReinsertionPrior
from n2s.problem.instance import IntArray

CONTEXT = 3
"""Age of the request, excess and stagnation: inputs that are the same for all places."""

Drawn = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class ReinsertionOperator(Protocol):
    """Chooses the gaps where a request goes back in.

    ``mixed`` (B, N, D) is in the order of the tour with the request, ``rests`` (B, M) without it.
    """

    def draw(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        uniforms: torch.Tensor,
        backend: ModuleType,
    ) -> Drawn:
        """(j, k, log-probability), each (B,)."""

    def log_probs(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        j: torch.Tensor,
        k: torch.Tensor,
        backend: ModuleType,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of given gaps and entropy of the choice, each (B,)."""


class LearnedReinsertion(nn.Module):
    """Eq. (14) and (15): preferences for new neighbours and an MLP over pairs of gaps."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        width, heads, hidden = config.width, config.heads, DECODER_WIDTH
        self.w_q_p = uniform(heads, width, width, fan=width)
        self.w_k_p = uniform(heads, width, width, fan=width)
        self.w_q_s = uniform(heads, width, width, fan=width)
        self.w_k_s = uniform(heads, width, width, fan=width)
        # Inputs of MLP_mu, Eq. (15): mu^p of the pickup, mu^p of the delivery, mu^s of both.
        self.w1 = uniform(4 * heads, hidden, fan=4 * heads)
        self.b1 = uniform(hidden, fan=hidden)
        self.w2 = uniform(hidden, hidden, fan=hidden)
        self.b2 = uniform(hidden, fan=hidden)
        self.w3 = uniform(hidden, fan=hidden)
        self.b3 = uniform(1, fan=1)
        if config.costs:
            self.w_detour = uniform(2, hidden, fan=4 * heads)
            self.w_context = uniform(CONTEXT, hidden, fan=4 * heads)
            if config.prior is Prior.BATH:
                self.beta = nn.Parameter(torch.tensor([config.beta]))
        self.prior = ReinsertionPrior(config.build) if config.prior is Prior.NATIVE else None
        if self.prior is not None:  # what is learned on top of the prior begins as nothing
            nn.init.zeros_(self.w3)
            nn.init.zeros_(self.b3)

    def places(
        self, observation: Observation, requests: IntArray, rests: IntArray
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Positions in the full tour: of pickup and delivery (B, 2), of every gap's node, of its succ."""
        place = kernels.positions(observation.tours)
        both = np.stack([requests, requests + observation.n], 1)
        ends = torch.from_numpy(np.take_along_axis(place, both, 1))
        at = torch.from_numpy(np.take_along_axis(place, rests, 1))  # (B, M)
        if self.config.neighbours is Neighbours.REDUCED:
            return ends, at, at.roll(-1, 1)
        return ends, at, (at + 1) % place.shape[1]

    def pair_input(
        self,
        preferences: torch.Tensor,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
    ) -> PairInput:
        """The first layer of MLP_mu, split into what belongs to j and what belongs to k."""
        heads = self.config.heads
        batch, _, gaps = preferences.shape
        p_pickup, p_delivery, s_pickup, s_delivery = preferences.transpose(1, 2).split(heads, -1)
        w = self.w1.split(heads)
        a = p_pickup @ w[0] + s_pickup @ w[2] + self.b1  # (B, M, 32)
        b = p_delivery @ w[1] + s_delivery @ w[3]
        extra = preferences.new_zeros(batch, gaps)
        prior = preferences.new_zeros(batch, 3, gaps)
        lift = preferences.new_zeros(DECODER_WIDTH)
        if self.config.costs:
            unit = math.sqrt(2 * observation.n + 1)
            costs = kernels.insertion_changes(observation.exact_costs(), rests, requests)
            changes = torch.from_numpy(np.stack(costs, 1)).to(preferences)  # (B, 3, M)
            pickup, delivery, both = (changes * unit).unbind(1)
            context = self._context(observation, requests).to(preferences)
            a = a + pickup[..., None] * self.w_detour[0] + (context @ self.w_context)[:, None]
            b = b + delivery[..., None] * self.w_detour[1]
            # For j = k the two detours must add up to the exact change.
            extra, lift = both - pickup - delivery, self.w_detour[1]
            prior = self._prior(observation, requests, changes)
        tail = Tail(lift, self.w2, self.b2, self.w3, self.b3, self.config.clip)
        return PairInput(observation.variant, rests, a, b, extra, prior, tail)

    def _prior(
        self, observation: Observation, requests: IntArray, changes: torch.Tensor
    ) -> torch.Tensor:
        """(B, 3, M) terms of the exact changes in cost."""
        if self.prior is None:
            return -self.beta * changes * math.sqrt(2 * observation.n + 1)
        terms: torch.Tensor = self.prior(observation, requests, changes)
        return terms

    @staticmethod
    def _context(observation: Observation, requests: IntArray) -> torch.Tensor:
        progress = observation.whole_progress()
        age = progress.age[torch.arange(observation.batch), torch.from_numpy(requests - 1)]
        return torch.stack([age, progress.excess, progress.stagnation], -1)

    def pairs(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        backend: ModuleType,
    ) -> PairInput:
        """What the pair MLP reads, from embeddings."""
        if mixed is None:
            raise TypeError("the learned reinsertion needs embeddings")
        ends, at, behind = (
            where.to(mixed.device) for where in self.places(observation, requests, rests)
        )
        by_p, by_s = (self.w_q_p, self.w_k_p), (self.w_q_s, self.w_k_s)
        preferences = backend.preferences(mixed, ends, at, behind, by_p, by_s)
        return self.pair_input(preferences, observation, requests, rests)

    def draw(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        uniforms: torch.Tensor,
        backend: ModuleType,
    ) -> Drawn:
        """(j, k, log-probability), each (B,)."""
        pairs = self.pairs(mixed, observation, requests, rests, backend)
        drawn: Drawn = backend.draw_pairs(pairs, uniforms)
        return drawn

    def log_probs(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        j: torch.Tensor,
        k: torch.Tensor,
        backend: ModuleType,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of given gaps and entropy of the choice, each (B,)."""
        pairs = self.pairs(mixed, observation, requests, rests, backend)
        result: tuple[torch.Tensor, torch.Tensor] = backend.pair_log_probs(pairs, j, k)
        return result


class HandMadeReinsertion(nn.Module):
    """The cheapest place, or with probability epsilon any feasible one; epsilon = 1 is random."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon

    def _best(
        self, observation: Observation, requests: IntArray, rests: IntArray
    ) -> tuple[IntArray, IntArray]:
        if self.epsilon == 1.0:
            nowhere = np.full(observation.batch, -1)
            return nowhere, nowhere
        costs = observation.exact_costs()
        j, k, _ = kernels.best_reinsertion(observation.variant, costs, rests, requests)
        return j, k

    def draw(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        uniforms: torch.Tensor,
        backend: ModuleType,
    ) -> Drawn:
        """(j, k, log-probability), each (B,)."""
        count = kernels.count_feasible(observation.variant, rests)
        best_j, best_k = self._best(observation, requests, rests)
        u = uniforms.cpu().numpy()
        greedy = u < 1 - self.epsilon
        # What is left of the uniform number is uniform again.
        share = np.clip((u - (1 - self.epsilon)) / max(self.epsilon, 1e-300), 0.0, 1.0)
        rank = np.minimum((share * count).astype(np.int64), count - 1)
        any_j, any_k = kernels.pick_feasible(observation.variant, rests, rank)
        j = torch.from_numpy(np.where(greedy, best_j, any_j))
        k = torch.from_numpy(np.where(greedy, best_k, any_k))
        log_prob, _ = self.log_probs(mixed, observation, requests, rests, j, k, backend)
        return j, k, log_prob

    def log_probs(
        self,
        mixed: torch.Tensor | None,
        observation: Observation,
        requests: IntArray,
        rests: IntArray,
        j: torch.Tensor,
        k: torch.Tensor,
        backend: ModuleType,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of given gaps and entropy of the choice, each (B,)."""
        count = torch.from_numpy(kernels.count_feasible(observation.variant, rests)).double()
        best_j, best_k = self._best(observation, requests, rests)
        is_best = (j == torch.from_numpy(best_j)) & (k == torch.from_numpy(best_k))
        other = self.epsilon / count
        peak = other + 1 - self.epsilon
        probability = torch.where(is_best, peak, other)
        peaked = 0.0 if self.epsilon == 1.0 else 1.0
        rest = torch.special.xlogy(other, other) * (count - peaked)
        entropy = -(rest + peaked * torch.special.xlogy(peak, peak))
        return probability.log().float(), entropy.float()


def make_reinsertion(config: PolicyConfig) -> LearnedReinsertion | HandMadeReinsertion:
    """The reinsertion operator that a configuration names."""
    if config.reinsertion is Operator.LEARNED:
        return LearnedReinsertion(config)
    return HandMadeReinsertion(1.0 if config.reinsertion is Operator.RANDOM else config.epsilon)

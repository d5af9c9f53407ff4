"""The node-pair removal decoder (Section 4.2) and its hand-made rivals (Table 6)."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Protocol

import torch
from torch import nn

from n2s import kernels
from n2s.model.config import DECODER_WIDTH, FLAGS, Operator, PolicyConfig, Prior, Successor
from n2s.model.layers import MLP, uniform
from n2s.model.observation import Observation
from n2s.model.prior import RemovalPrior

COST_FEATURES = 5
"""Detours of pickup and delivery, age, excess and stagnation."""


class RemovalOperator(Protocol):
    """Chooses a request to take out."""

    def log_probs(
        self, mixed: torch.Tensor | None, observation: Observation, backend: ModuleType
    ) -> torch.Tensor:
        """(B, n) log-probability of each request; ``mixed`` (B, N, D) is in tour order."""


class LearnedRemoval(nn.Module):
    """Eq. (12) and (13): how well a pair fits where it is, its history, and an MLP."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.config = config
        width, heads = config.width, config.heads
        self.w_q = uniform(heads, width, width, fan=width)
        self.w_k = uniform(heads, width, width, fan=width)
        extra = COST_FEATURES if config.costs else 0
        inputs = 2 * heads + 1 + FLAGS + extra
        self.mlp = MLP(inputs, DECODER_WIDTH, DECODER_WIDTH, 1)
        self.prior = RemovalPrior(config.build) if config.prior is Prior.NATIVE else None
        if self.prior is not None:  # what is learned on top of the prior begins as nothing
            nn.init.zeros_(self.mlp.weights[-1])
            nn.init.zeros_(self.mlp.biases[-1])

    @property
    def reach(self) -> int:
        """How many positions ahead succ(x) stands in Eq. (12)."""
        return 1 if self.config.successor is Successor.DIRECT else 2

    def scores(self, closeness: torch.Tensor, observation: Observation) -> torch.Tensor:
        """(B, n) C * tanh(MLP_lambda) of lambda (B, H, N), Eq. (13): the network's own part."""
        n = observation.n
        place = torch.from_numpy(kernels.positions(observation.tours)).to(closeness.device)
        index = place[:, None].expand(-1, self.config.heads, -1)
        by_node = closeness.gather(2, index)  # (B, H, N)
        features = [
            by_node[:, :, 1 : n + 1].transpose(1, 2),
            by_node[:, :, n + 1 :].transpose(1, 2),
            observation.frequency.to(closeness)[..., None],
            self._flags(observation).to(closeness),
        ]
        if self.config.costs:
            features.append(self._cost_features(observation).to(closeness))
        return self.config.clip * torch.tanh(self.mlp(torch.cat(features, -1))[..., 0])

    def logits(self, closeness: torch.Tensor, observation: Observation) -> torch.Tensor:
        """(B, n) the network's scores and the prior; -inf for the last one removed."""
        logits = self.scores(closeness, observation)
        if self.prior is not None:
            logits = logits + self.prior(observation)
        if self.config.mask_last and observation.n > 1:
            logits = logits.masked_fill(
                self._flags(observation)[..., 0].to(logits.device), -torch.inf
            )
        return logits

    @staticmethod
    def _flags(observation: Observation) -> torch.Tensor:
        """(B, n, 3) whether a request was removed one, two and three steps ago."""
        requests = torch.arange(1, observation.n + 1)
        return torch.from_numpy(observation.recent)[:, None] == requests[:, None]

    def log_probs(
        self, mixed: torch.Tensor | None, observation: Observation, backend: ModuleType
    ) -> torch.Tensor:
        """(B, n) log-probability of each request."""
        if mixed is None:
            raise TypeError("the learned removal needs embeddings")
        closeness = backend.closeness(mixed, self.w_q, self.w_k, self.reach)
        return self.logits(closeness, observation).log_softmax(-1)

    @staticmethod
    def _cost_features(observation: Observation) -> torch.Tensor:
        """(B, n, 5) exact detours in units of the mean distance, age, excess and stagnation."""
        n = observation.n
        detours = kernels.detours(observation.exact_costs(), observation.tours)
        detour = torch.from_numpy(detours) * math.sqrt(2 * n + 1)
        progress = observation.whole_progress()
        return torch.stack(
            [
                detour[:, 1 : n + 1],
                detour[:, n + 1 :],
                progress.age.double(),
                progress.excess.double()[:, None].expand(-1, n),
                progress.stagnation.double()[:, None].expand(-1, n),
            ],
            -1,
        )


class RandomRemoval(nn.Module):
    """Any request, all alike."""

    def log_probs(
        self, mixed: torch.Tensor | None, observation: Observation, backend: ModuleType
    ) -> torch.Tensor:
        """(B, n) the same log-probability everywhere."""
        return torch.full((observation.batch, observation.n), -math.log(observation.n))


class EpsilonGreedyRemoval(nn.Module):
    """The request whose removal saves most, or with probability epsilon any request."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon

    def log_probs(
        self, mixed: torch.Tensor | None, observation: Observation, backend: ModuleType
    ) -> torch.Tensor:
        """(B, n) log-probabilities with one peak."""
        gains = kernels.removal_gains(observation.exact_costs(), observation.tours)
        best = torch.from_numpy(gains).argmax(-1)
        probability = torch.full((observation.batch, observation.n), self.epsilon / observation.n)
        probability[torch.arange(observation.batch), best] += 1 - self.epsilon
        return probability.log()


def make_removal(config: PolicyConfig) -> LearnedRemoval | RandomRemoval | EpsilonGreedyRemoval:
    """The removal operator that a configuration names."""
    if config.removal is Operator.LEARNED:
        return LearnedRemoval(config)
    return (
        RandomRemoval()
        if config.removal is Operator.RANDOM
        else EpsilonGreedyRemoval(config.epsilon)
    )

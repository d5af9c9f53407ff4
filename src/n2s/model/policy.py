"""The N2S policy: an encoder and two decoders behind three verbs, ``encode``, ``act``, ``log_prob``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
import torch
from torch import nn

from n2s import kernels
from n2s.errors import InputError
from n2s.model import plain
from n2s.model.attention import backend_for
from n2s.model.config import Operator, PolicyConfig
from n2s.model.encoder import MaxPoolMixing, make_encoder
from n2s.model.observation import Observation
from n2s.model.reinsertion import make_reinsertion
from n2s.model.removal import make_removal
from n2s.problem.instance import IntArray


@dataclass(frozen=True)
class Embedding:
    """What the network knows of B tours, in tour order."""

    nodes: torch.Tensor
    """(B, N, D) the encoder's last layer: what the critic reads."""
    mixed: torch.Tensor
    """(B, N, D) after max-pool mixing: what the decoders read."""


@dataclass(frozen=True)
class Decision:
    """One move a tour: request and the gaps of its pickup and delivery, in the tour without it."""

    requests: IntArray
    j: IntArray
    k: IntArray
    log_prob: torch.Tensor
    """(B,) of the whole decision."""


@dataclass(frozen=True)
class Assessment:
    """How likely given decisions are, with gradients."""

    log_prob: torch.Tensor
    removal_entropy: torch.Tensor
    reinsertion_entropy: torch.Tensor


def finite(log_prob: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of drawn moves, which are numbers unless weights or inputs are not."""
    if not torch.isfinite(log_prob).all():
        raise InputError("the policy's weights or inputs hold a number that is not finite")
    return log_prob


class Policy(nn.Module):
    """pi(request) * pi(j, k | request) of the paper, Section 4."""

    def __init__(self, config: PolicyConfig | None = None) -> None:
        super().__init__()
        self.config = config or PolicyConfig()
        self.removal = make_removal(self.config)
        self.reinsertion = make_reinsertion(self.config)
        self.learned = Operator.LEARNED in (self.config.removal, self.config.reinsertion)
        self.encoder = make_encoder(self.config) if self.learned else None
        self.mixing = (
            None if self.encoder is None else MaxPoolMixing(self.config, self.encoder.streams)
        )

    def encode(self, observation: Observation, backend: ModuleType | None = None) -> Embedding:
        """Embeddings of the tours; ``backend`` is chosen by the device unless given."""
        if self.encoder is None or self.mixing is None:
            raise TypeError("a policy without learned operators has no encoder")
        backend = backend or backend_for(observation.points, self.config.heads)
        tours = torch.from_numpy(observation.tours).to(observation.points.device)
        points = observation.points.gather(1, tours[..., None].expand(-1, -1, 2))  # tour order
        streams = self.encoder(points, backend)
        return Embedding(streams[0], self.mixing(streams))

    def _mixed(self, observation: Observation, embedding: Embedding | None, backend: ModuleType):  # type: ignore[no-untyped-def]
        if not self.learned:
            return None
        return (embedding or self.encode(observation, backend)).mixed

    @torch.no_grad()
    def act(
        self,
        observation: Observation,
        uniforms: torch.Tensor,
        embedding: Embedding | None = None,
        backend: ModuleType | None = None,
    ) -> Decision:
        """Draw a move for every tour from ``uniforms`` (B, 2) of the caller's generator."""
        backend = backend or backend_for(observation.points, self.config.heads)
        mixed = self._mixed(observation, embedding, backend)
        log_probs = self.removal.log_probs(mixed, observation, backend)  # (B, n)
        index = plain.draw(log_probs.exp(), uniforms[:, 0].to(log_probs.device))
        requests = (index + 1).cpu().numpy()
        rests = kernels.remove_requests(observation.tours, requests)
        j, k, log_reinsertion = self.reinsertion.draw(
            mixed, observation, requests, rests, uniforms[:, 1].to(log_probs.device), backend
        )
        log_removal = log_probs.gather(1, index[:, None])[:, 0]
        log_prob = finite(log_removal + log_reinsertion)
        return Decision(requests, j.cpu().numpy(), k.cpu().numpy(), log_prob)

    def log_prob(
        self,
        observation: Observation,
        decision: Decision,
        embedding: Embedding | None = None,
        backend: ModuleType | None = None,
    ) -> Assessment:
        """Log-probabilities of given decisions, differentiable in the weights."""
        backend = backend or backend_for(observation.points, self.config.heads)
        mixed = self._mixed(observation, embedding, backend)
        log_probs = self.removal.log_probs(mixed, observation, backend)
        index = torch.from_numpy(decision.requests - 1).to(log_probs.device)
        rests = kernels.remove_requests(observation.tours, decision.requests)
        log_reinsertion, reinsertion_entropy = self.reinsertion.log_probs(
            mixed,
            observation,
            decision.requests,
            rests,
            torch.from_numpy(np.ascontiguousarray(decision.j)).to(log_probs.device),
            torch.from_numpy(np.ascontiguousarray(decision.k)).to(log_probs.device),
            backend,
        )
        log_removal = log_probs.gather(1, index[:, None])[:, 0]
        return Assessment(
            log_removal + log_reinsertion, plain.entropy(log_probs), reinsertion_entropy
        )

    def with_clip(self, clip: float) -> Policy:
        """A copy whose decoders use another C."""
        config = replace(self.config, clip=clip)
        other = Policy(config)
        other.load_state_dict(self.state_dict())
        return other

    def count_parameters(self) -> int:
        """The number of weights."""
        return sum(parameter.numel() for parameter in self.parameters())

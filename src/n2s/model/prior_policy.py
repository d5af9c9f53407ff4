"""The native prior's decisions without a network: what a policy does whose network says nothing.

A network with zeros in the last layers of both decoders, as all begin with ``prior = "native"``, scores
every request and every place 0, whatever it makes of the tour. So nothing has to be made of it.
"""

from __future__ import annotations

import copy

import numpy as np
import torch

from n2s import kernels
from n2s.model import plain
from n2s.model.observation import Observation
from n2s.model.policy import Decision, Policy, finite
from n2s.model.prior import ReinsertionPrior, RemovalPrior
from n2s.model.reinsertion import LearnedReinsertion
from n2s.model.removal import LearnedRemoval
from n2s.problem.instance import IntArray


class PriorPolicy:
    """Draws from the two priors, on a CPU."""

    def __init__(
        self, removal: RemovalPrior, reinsertion: ReinsertionPrior, mask_last: bool = True
    ) -> None:
        self._removal, self._reinsertion = removal, reinsertion
        self._mask_last = mask_last

    @torch.no_grad()
    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        """Draw a move for every tour from ``uniforms`` (B, 2) of the caller's generator."""
        log_probs = self._removal_logits(observation).log_softmax(-1)
        index = plain.draw(log_probs.exp(), uniforms[:, 0])
        requests = index.numpy() + 1
        j, k, log_reinsertion = self._reinsert(observation, requests, uniforms[:, 1])
        log_removal = log_probs.gather(1, index[:, None])[:, 0]
        log_prob = finite((log_removal + log_reinsertion).float())
        return Decision(requests, j, k, log_prob)

    def _removal_logits(self, observation: Observation) -> torch.Tensor:
        """(B, n), -inf for the last one removed."""
        logits: torch.Tensor = self._removal(observation)
        if self._mask_last and observation.n > 1:
            last = torch.from_numpy(observation.recent)[:, :1]
            logits = logits.masked_fill(torch.arange(1, observation.n + 1) == last, -torch.inf)
        return logits

    def _reinsert(
        self, observation: Observation, requests: IntArray, uniforms: torch.Tensor
    ) -> tuple[IntArray, IntArray, torch.Tensor]:
        """(j, k, log-probability), each (B,); a scan of the gaps, no matrix of pairs."""
        rests = kernels.remove_requests(observation.tours, requests)
        changes = kernels.insertion_changes(observation.exact_costs(), rests, requests)
        terms = self._reinsertion(observation, requests, torch.from_numpy(np.stack(changes, 1)))
        drawn = kernels.draw_by_terms(
            observation.variant, rests, terms.double().numpy(), uniforms.numpy()
        )
        return drawn[0], drawn[1], torch.from_numpy(drawn[2])


def prior_alone(policy: Policy) -> PriorPolicy | None:
    """The priors of a policy whose network says nothing, as they are now; else nothing."""
    removal, reinsertion = policy.removal, policy.reinsertion
    if not isinstance(removal, LearnedRemoval) or not isinstance(reinsertion, LearnedReinsertion):
        return None
    if removal.prior is None or reinsertion.prior is None:
        return None
    outs = (removal.mlp.weights[-1], removal.mlp.biases[-1], reinsertion.w3, reinsertion.b3)
    if any(bool(out.any()) or out.device.type != "cpu" for out in outs):
        return None
    if not all(torch.isfinite(parameter).all() for parameter in policy.parameters()):
        return None  # who computes the network will say which
    priors = copy.deepcopy(
        (removal.prior, reinsertion.prior)
    )  # later training must not change them
    return PriorPolicy(*priors, policy.config.mask_last)

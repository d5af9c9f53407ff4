"""The network's own part of the decoders, for one tour, as terms that a separable sampler can add.

MLP_mu scores pairs of places; such a sampler takes one term for the pickup and one for the delivery. So the
scores of a request are reduced to main effects over its feasible (j, k), each grouped by the node that the
stop will stand right behind, which for a delivery with j = k is its own pickup:

    pickup[i, u]   = mean of score(j, k) over pairs whose pickup goes right behind u     - mean of all
    delivery[i, u] = mean of score(j, k) over pairs whose delivery goes right behind u   - mean of all

Priors are left out: whoever adds these terms has priors of its own. So is what changes faster than such
tables are made anew, the latest removals: the network is shown a search in which all requests have been
removed equally often and the tour is the best one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
import torch

from n2s import kernels
from n2s.errors import InputError
from n2s.model import fused
from n2s.model.attention import backend_for
from n2s.model.config import FLAGS
from n2s.model.observation import Observation, Progress
from n2s.model.policy import Policy
from n2s.model.reinsertion import LearnedReinsertion
from n2s.model.removal import LearnedRemoval
from n2s.problem import Variant
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

_TURN = threading.Lock()
"""Chains ask from several threads: one after the other, as a pass uses all cores by itself."""


@dataclass(frozen=True)
class Scores:
    """Of one tour."""

    removal: FloatArray
    """(n,) C * tanh(MLP_lambda) of every request."""
    pickup: FloatArray
    """(n, N) for each request, by the node its pickup goes right behind; its own stops have 0."""
    delivery: FloatArray
    """(n, N) the same for its delivery; that of its own pickup is of j = k."""


class Scorer:
    """A policy's scores for tours of one instance."""

    def __init__(
        self, policy: Policy, variant: Variant, points: FloatArray, costs: FloatArray
    ) -> None:
        """``points`` (N, 2) are what the network sees, ``costs`` (N, N) are in their units."""
        removal, reinsertion = policy.removal, policy.reinsertion
        if not isinstance(removal, LearnedRemoval) or not isinstance(
            reinsertion, LearnedReinsertion
        ):
            raise InputError("only a policy whose two decoders are learned has scores to add")
        self.policy = policy
        self._removal, self._reinsertion = removal, reinsertion
        self._variant = variant.code
        self._points = torch.from_numpy(np.ascontiguousarray(points, dtype=np.float32))
        self._costs = costs[None]
        self._backend = backend_for(self._points, policy.config.heads)

    @torch.no_grad()
    def __call__(self, tour: IntArray) -> Scores:
        """The scores of a tour: one pass of the encoder, and MLP_mu over all places of all requests."""
        with _TURN:
            seen = self._observe(tour, 1)
            mixed = self.policy.encode(seen, self._backend).mixed
            closeness = self._backend.closeness(
                mixed, self._removal.w_q, self._removal.w_k, self._removal.reach
            )
            removal = self._removal.scores(closeness, seen)[0]
            pickup, delivery = self._places(mixed, tour)
        if not all(torch.isfinite(part).all() for part in (removal, pickup, delivery)):
            raise InputError("the policy's weights or inputs hold a number that is not finite")
        return Scores(*(part.double().numpy() for part in (removal, pickup, delivery)))

    def _places(self, mixed: torch.Tensor, tour: IntArray) -> tuple[torch.Tensor, torch.Tensor]:
        """The two tables, each (n, N)."""
        requests = np.arange(1, len(tour) // 2 + 1)
        seen = self._observe(tour, len(requests))
        rests = kernels.remove_requests(seen.tours, requests)
        pairs = self._reinsertion.pairs(
            mixed.expand(len(requests), -1, -1), seen, requests, rests, self._backend
        )
        pairs = replace(pairs, prior=torch.zeros_like(pairs.prior))
        by_pickup, by_delivery, together = fused.pair_effects(pairs)  # for any number of heads
        behind = torch.from_numpy(rests)  # (n, M) the node of every gap
        pickup, delivery = torch.zeros(2, *seen.tours.shape, dtype=torch.float64)
        pickup.scatter_(1, behind, by_pickup)
        delivery.scatter_(1, behind, by_delivery)
        delivery.scatter_(1, torch.from_numpy(requests)[:, None], together[:, None])
        return pickup, delivery

    def _observe(self, tour: IntArray, copies: int) -> Observation:
        """The tour in a search where nothing but the tour is special."""
        n = len(tour) // 2
        alike, none = torch.ones(copies, n), torch.zeros(copies)
        return Observation(
            variant=self._variant,
            points=self._points.expand(copies, -1, -1),
            tours=np.repeat(tour[None], copies, 0),
            frequency=alike / n,
            recent=np.zeros((copies, FLAGS), np.int64),
            best=none,
            costs=self._costs,
            # Ages and traces are their means under random removals; the rest is for priors.
            progress=Progress(alike, alike, none, none, none + 1, none, none + 1, alike > 0),
        )

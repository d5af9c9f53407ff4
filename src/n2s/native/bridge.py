"""A bridge to the transformer: a network's scores as further terms of the native policy's steps.

The network is asked once for an instance, about a tour that is quickly annealed, and then again by every
chain about its own tour after so many steps; in between its scores are tables (``model.scores``). With
weights w of the policy (its block "bridge") and lengths in mean edges they enter as

    logit of taking out i             + w[0] * removal[i]
    cost of a pickup right behind u   - w[1] * edge * pickup[i, u]
    cost of a delivery behind u       - w[2] * edge * delivery[i, u]

and the sampler stays as it is: separable, and exact for what it samples from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from n2s.errors import InputError
from n2s.local import ChainMaker, Landscape, Outset, reach_of
from n2s.local.chain import annealed
from n2s.local.plan import settings_of
from n2s.native.chain import NativeChain
from n2s.native.policy import NativePolicy
from n2s.native.price import in_singles
from n2s.problem.instance import IntArray

if TYPE_CHECKING:
    from n2s.model.scores import Scores  # which loads torch

GOOD = 30
"""Annealed iterations for each request behind the tour that the network is first asked about."""
AGAIN, MORE = 15_000, 5
"""A chain asks again after AGAIN + MORE n^2 steps: what the network reads grows with n cubed and a step
with n, so that its share of the time is about the same at all sizes."""
LARGEST = 301
"""Nodes up to which all places of all requests are scored, which must not take longer than a second."""

ScoresOf = Callable[[IntArray], "Scores"]


@dataclass(frozen=True)
class Bridge:
    """What chains of one instance share of a network."""

    scores_of: ScoresOf
    first: Scores
    every: int
    """R, the steps after which a chain asks again."""


def check_size(size: int) -> None:
    """Refuse what a network cannot score in time, before anything large is made for it."""
    if size > LARGEST:
        raise InputError(
            f"a bridge to a network scores all places of all requests: at most {LARGEST} nodes, "
            f"not {size}"
        )


def build(land: Landscape, scores_of: ScoresOf, every: int | None = None) -> Bridge:
    """The bridge of an instance, its first scores from a tour that is always the same."""
    check_size(land.size)
    generator = np.random.default_rng(0)
    start = land.start(generator)
    steps = GOOD * land.n
    chain = annealed(settings_of(land.variant))(
        land, Outset(start, 0, land.edge(start), False, steps)
    )
    chain.advance(steps, 0.0, 1.0)
    return Bridge(scores_of, scores_of(chain.best_tour), every or AGAIN + MORE * land.n**2)


class BridgedChain(NativeChain):
    """Steps of a policy that hears a network."""

    def __init__(
        self, land: Landscape, outset: Outset, policy: NativePolicy, bridge: Bridge
    ) -> None:
        super().__init__(land, outset, policy)
        self.bridge = bridge
        self.weights = policy.bridge
        self.due = bridge.every
        self._hear(bridge.first)

    def _hear(self, scores: Scores) -> None:
        """Take the terms of these scores from here on."""
        removal, pickup, delivery = self.weights
        self.bias = (removal * scores.removal).astype(np.float32)
        self.reach = reach_of(
            self.short.legs,
            -pickup * self.scale * scores.pickup,
            -delivery * self.scale * scores.delivery,
        )

    def _run(self, steps: int, progress: float, pace: float, toil: float) -> None:
        """Steps in parts, with the network asked in between."""
        left = steps
        while left > 0 and not (toil > 0.0 and progress >= 1.0):
            if self.due == 0:
                self._hear(self.bridge.scores_of(self.tour))
                self.due = self.bridge.every
            part = min(left, self.due)
            progress = self._steps(part, progress, pace, toil)
            left -= part
            self.due -= part


def bridged_chains(policy: NativePolicy, bridge: Bridge) -> ChainMaker:
    """Chains of a policy with weights for a bridge."""
    return lambda land, outset: BridgedChain(
        land, in_singles(outset, policy, land.n), policy, bridge
    )

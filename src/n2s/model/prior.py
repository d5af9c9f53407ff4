"""The native policy's terms as the prior of the two decoders: what the network learns is the rest.

The formulas are those of ``kernels.native_decisions`` for a step that takes out one request
(docs/native.md), as tensors with gradients. Weights begin as a native policy's (:func:`adopt`) or, fresh,
as a heat bath that cools down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from n2s import kernels
from n2s.errors import InputError
from n2s.kernels.native_decisions import (
    BEGIN,
    COLD,
    FARTHEST,
    FEATURES,
    HEAT,
    HIDDEN,
    HOT,
    LAYOUT,
    MOST,
    MOST_SAVING,
    MOST_WARMTH,
    OUTLOOK,
    PARAMETERS,
    VIEWS,
    builds,
    rebuilt_share,
    rounds_of,
)
from n2s.model.observation import Observation, Progress
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

if TYPE_CHECKING:
    from n2s.model.policy import Policy

REMOVAL = ("linear", "features", "views", "bias", "out")
BATH = ("range", "views", "bias", "out")
"""Names of weights as a native policy's blocks have them."""
HIDDEN_GAP = -1e9
"""Logit of a gap that is not in sight: no probability, but a number."""
SPREAD = 0.5
"""Of a fresh first layer's weights: the layer behind it, all zeros, has something to use."""


def _fresh(*shape: int) -> nn.Parameter:
    return nn.Parameter(SPREAD * torch.randn(*shape))


def _zeros(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(*shape))


def seen(progress: Progress) -> torch.Tensor:
    """(B, VIEWS) what the policy sees of the whole; the network's searches always count steps."""
    size = progress.size
    excess = (progress.above / (4.0 * progress.edge)).clamp(max=MOST)
    stagnation = (progress.stalled / (2.0 * size)).clamp(max=MOST)
    budget = (torch.log2((progress.total / (size // 2)).clamp(min=1.0)) - 7.0) / 4.0
    return torch.stack(
        [excess, stagnation, progress.used, budget, torch.zeros_like(excess)], -1
    ).float()


def features(observation: Observation) -> torch.Tensor:
    """(B, n, FEATURES) what the policy sees of each request."""
    progress = observation.whole_progress()
    costs, tours, n = observation.exact_costs(), observation.tours, observation.n
    size = tours.shape[1]
    per_edge = (1.0 / progress.edge.double())[:, None]
    detours = torch.from_numpy(kernels.detours(costs, tours)) * per_edge
    detours = detours.clamp(-FARTHEST, FARTHEST)
    place = kernels.positions(tours)
    pickups = (tours > 0) & (tours <= n)
    # Loads on board before each stop: what was picked up and not delivered yet.
    load = np.cumsum(np.where(tours > n, -1, pickups.astype(np.int64)), 1) - pickups
    depth = np.take_along_axis(load, place[:, 1 : n + 1], 1)
    requests = np.arange(1, n + 1)
    lengths = np.repeat(costs[:, requests, requests + n], len(tours) // len(costs), 0)
    age = progress.age.double()
    return torch.stack(
        [
            detours[:, 1 : n + 1],
            detours[:, n + 1 :],
            age,
            1.0 / (1.0 + 4.0 * age),
            progress.trace.double(),
            (0.2 * torch.from_numpy(lengths) * per_edge).clamp(max=FARTHEST),
            torch.from_numpy((place[:, n + 1 :] - place[:, 1 : n + 1]) / size),
            0.2 * torch.from_numpy(depth).double(),
        ],
        -1,
    ).float()


def outlook(observation: Observation, temperature: torch.Tensor) -> torch.Tensor:
    """(B, n, OUTLOOK) what each request could save elsewhere, in mean edges and in temperatures (B,)."""
    costs, tours = observation.exact_costs(), observation.tours
    savings = -torch.from_numpy(kernels.outlooks(observation.variant, costs, tours))
    edge = observation.whole_progress().edge.double()
    in_edges = (savings / edge[:, None]).to(temperature)
    # Bounded before it is divided: a request without other places must not make gradients NaN.
    finite = in_edges.clamp(-FARTHEST, FARTHEST)
    warmth = temperature / edge.to(temperature)
    in_temperatures = (finite / warmth[:, None]).clamp(-MOST_WARMTH, MOST_WARMTH)
    return torch.stack([in_edges.clamp(-MOST_SAVING, MOST_SAVING), in_temperatures], -1)


class Heat(nn.Module):
    """How warm it is, by what is seen of the whole."""

    def __init__(self) -> None:
        super().__init__()
        self.range = _zeros(2)
        self.views = _fresh(HEAT, VIEWS)
        self.bias = _fresh(HEAT)
        self.out = _zeros(HEAT)

    def forward(self, observation: Observation) -> torch.Tensor:
        """(B,) the temperature in the units of the observation's costs."""
        progress = observation.whole_progress()
        whole = seen(progress).to(self.range)
        z = whole @ self.views.T + self.bias
        heat = HOT + self.range[0] + (COLD - HOT + self.range[1]) * whole[:, 2]
        heat = heat + nn.functional.softsign(z) @ self.out
        return progress.edge.to(heat) * heat.clamp(-12.0, 6.0).exp()


class RemovalPrior(nn.Module):
    """Which request: linear and a small MLP over local features and views.

    With ``build``, as long as there are requests to be built anew: one of these, any alike.
    """

    def __init__(self, build: bool = False) -> None:
        super().__init__()
        self.build = build
        self.linear = _zeros(FEATURES)
        self.features = _fresh(HIDDEN, FEATURES)
        self.views = _fresh(HIDDEN, VIEWS)
        self.bias = _fresh(HIDDEN)
        self.out = _zeros(HIDDEN)
        self.outlook = _zeros(1 + HIDDEN, OUTLOOK)
        """Of what requests could save elsewhere: linear, then for each unit."""
        self.heat = Heat()
        """The unit of savings: begins as the bath's, with weights of its own."""

    def forward(self, observation: Observation) -> torch.Tensor:
        """(B, n) logits."""
        local = features(observation).to(self.linear)
        whole = seen(observation.whole_progress()).to(self.linear)
        shift = whole @ self.views.T + self.bias  # (B, HIDDEN)
        direct, inner = local @ self.linear, local @ self.features.T
        if torch.is_grad_enabled() or self.outlook.any():
            around = outlook(observation, self.heat(observation)).to(self.linear)
            direct = direct + around @ self.outlook[0]
            inner = inner + around @ self.outlook[1:].T
        logits = direct + torch.relu(inner + shift[:, None]) @ self.out
        if not self.build:
            return logits
        settled = observation.whole_progress().settled.to(logits.device)
        one_left = torch.zeros_like(logits).masked_fill(settled, -torch.inf)
        return torch.where(settled.all(1, keepdim=True), logits, one_left)


class ReinsertionPrior(nn.Module):
    """A heat bath, and what the old places are worth.

    With ``build``, as long as there are requests to be built anew: a heat bath of its own, among the
    settled ones, as if the others were not there.
    """

    def __init__(self, build: bool = False) -> None:
        super().__init__()
        self.building = _zeros(LAYOUT["build"]) if build else None
        """As the block "build": the bath's temperature, how budgets are divided into rounds, and how
        much of the tour a round builds anew."""
        self.heat = Heat()
        self.places = _zeros(4)

    def forward(
        self, observation: Observation, requests: IntArray, changes: torch.Tensor
    ) -> torch.Tensor:
        """(B, 3, M) terms of pickup, delivery and both in one gap, from the ``changes`` in cost."""
        place = kernels.positions(observation.tours)
        rows = np.arange(len(requests))
        # Gaps of the tour without the request: its delivery has lost two stops before it.
        j = place[rows, requests] - 1
        k = place[rows, requests + observation.n] - 2
        old = torch.zeros(changes.shape)
        old[rows, 0, j] = 1.0
        old[rows, 1, k] = 1.0
        old[rows, 2, j] = torch.from_numpy((j == k).astype(np.float32))
        bonus = old.to(changes) * self.places[:3, None]
        bonus = bonus + self.places[3] * torch.tensor([0.0, 0.0, 1.0]).to(changes)[:, None]
        terms = bonus - changes / self.heat(observation)[:, None, None]
        if self.building is None:
            return terms
        settled = observation.whole_progress().settled
        if bool(settled.all()):
            return terms
        edge = observation.whole_progress().edge.to(self.building)
        bath = edge * self.building[0].clamp(-10.0, 10.0).exp()
        building = _building(observation, requests, settled.numpy(), bath)
        return torch.where(
            settled.all(1)[:, None, None].to(terms.device), terms, building.to(terms)
        )


def _building(
    observation: Observation, requests: IntArray, settled: NDArray[np.bool_], bath: torch.Tensor
) -> torch.Tensor:
    """(B, 3, M) terms at temperatures (B,) while a tour is built of the (B, n) ``settled`` requests."""
    rests = kernels.remove_requests(observation.tours, requests)
    seen = np.concatenate([np.ones((len(rests), 1), bool), settled, settled], 1)  # by node
    hidden = ~np.take_along_axis(seen, rests, 1)
    # The tour of the settled ones, and home: what is behind it is nowhere.
    order = np.argsort(hidden, 1, kind="stable")
    part = np.where(np.take_along_axis(hidden, order, 1), 0, np.take_along_axis(rests, order, 1))
    changes = np.stack(kernels.insertion_changes(observation.exact_costs(), part, requests), 1)
    terms = np.empty_like(changes)
    np.put_along_axis(terms, np.repeat(order[:, None], 3, 1), changes, 2)
    found = -torch.from_numpy(terms).to(bath) / bath[:, None, None]
    return found.masked_fill(torch.from_numpy(hidden)[:, None].to(bath.device), HIDDEN_GAP)


def adopt(policy: Policy, blocks: Mapping[str, Sequence[float]]) -> None:
    """Begin with a native policy's terms for single requests, its parameters given by block.

    The network's own part is left as it is.
    """
    removal = getattr(policy.removal, "prior", None)
    reinsertion = getattr(policy.reinsertion, "prior", None)
    if removal is None or reinsertion is None:
        raise InputError('only a policy with prior = "native" can begin with a native policy')
    if ("build" in blocks) != policy.config.build:
        raise InputError(
            "the native policy builds tours, but build is false"
            if "build" in blocks
            else "build is true, but the native policy builds no tours"
        )
    enter(removal, reinsertion, blocks)


def rounds_in(policy: Policy, budget: float) -> int:
    """Into how many rounds a policy divides a budget, given in steps for each request."""
    theta = _block(policy)
    return int(rounds_of(theta, max(1.0, budget))) if builds(theta) else 1


def rebuilt_in(policy: Policy) -> float:
    """The share of the requests that a round builds anew, behind the first."""
    return float(rebuilt_share(_block(policy)))


def _block(policy: Policy) -> FloatArray:
    """Parameters of a native policy with the block "build" alone."""
    building = getattr(getattr(policy.reinsertion, "prior", None), "building", None)
    theta = np.zeros(PARAMETERS)
    if building is not None:
        theta[BEGIN["build"] :][: LAYOUT["build"]] = building.detach().cpu().double().numpy()
    return theta


def enter(
    removal: RemovalPrior, reinsertion: ReinsertionPrior, blocks: Mapping[str, Sequence[float]]
) -> None:
    """Put a native policy's parameters into the two priors."""
    zeros = [0.0] * removal.outlook.numel()  # a policy that does not look around has no such block
    entries = [
        *((getattr(removal, name), blocks[f"removal/{name}"]) for name in REMOVAL),
        *((getattr(removal.heat, name), blocks[f"heat/{name}"]) for name in BATH),
        *((getattr(reinsertion.heat, name), blocks[f"heat/{name}"]) for name in BATH),
        (removal.outlook, blocks.get("outlook", zeros)),
        (reinsertion.places, blocks["places"]),
    ]
    if reinsertion.building is not None:
        entries.append((reinsertion.building, blocks["build"]))
    with torch.no_grad():
        for weight, block in entries:
            weight.copy_(torch.tensor(block).view(weight.shape))

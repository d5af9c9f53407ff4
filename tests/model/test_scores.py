"""The network's scores as tables: what is in them, against the decoders pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oracles
from model.observations import policy_of
from n2s import kernels
from n2s.errors import InputError
from n2s.model import Observation, Policy, Progress, plain
from n2s.model.scores import Scorer
from n2s.problem import Instance, Variant, random_tour

SIZES = pytest.mark.parametrize("n", [1, 2, 7])
FIELDS = pytest.mark.parametrize(
    "fields",
    [
        {},
        {"costs": True},
        {"costs": True, "prior": "native"},
        {"heads": 2},
        {"attention": "dac"},
        {"neighbours": "full", "successor": "second"},
    ],
    ids=str,
)


class Case:
    """A policy with weights everywhere, an instance and a tour."""

    def __init__(self, n: int, variant: Variant, **fields: object) -> None:
        rng = np.random.default_rng([n, 5])
        self.n, self.variant = n, variant
        self.policy = policy_of(3, **fields)
        with torch.no_grad():  # with a native prior the last layers begin as zeros
            for parameter in self.policy.parameters():
                parameter += 0.1 * torch.randn(parameter.shape)
        self.points = rng.random((2 * n + 1, 2))
        self.costs = Instance(coordinates=self.points).costs
        self.tour = random_tour(n, variant, rng)
        self.scorer = Scorer(self.policy, variant, self.points, self.costs)

    def observe(self, batch: int) -> Observation:
        """The tour of a search that has removed all requests equally often and found nothing better."""
        n = self.n
        return Observation(
            variant=self.variant.code,
            points=torch.tensor(self.points, dtype=torch.float32).repeat(batch, 1, 1),
            tours=np.repeat(self.tour[None], batch, 0),
            frequency=torch.full((batch, n), 1 / n),
            recent=np.zeros((batch, 3), np.int64),
            best=torch.zeros(batch),
            costs=np.repeat(self.costs[None], batch, 0),
            progress=Progress(
                age=torch.ones(batch, n),
                trace=torch.ones(batch, n),
                above=torch.zeros(batch),
                stalled=torch.zeros(batch),
                edge=torch.full((batch,), 0.2),
                used=torch.zeros(batch),
                total=torch.full((batch,), 100.0),
                settled=torch.ones(batch, n, dtype=torch.bool),
            ),
        )

    def pair_scores(self) -> list[dict[tuple[int, int], float]]:
        """By request: C * tanh(MLP_mu) of every feasible (j, k), prior taken off again."""
        found = []
        with torch.no_grad():
            mixed = self.policy.encode(self.observe(1), plain).mixed
            for request in range(1, self.n + 1):
                requests = np.array([request])
                rests = kernels.remove_requests(self.tour[None], requests)
                pairs = self.policy.reinsertion.pairs(  # type: ignore[union-attr]
                    mixed, self.observe(1), requests, rests, plain
                )
                logits = plain.pair_logits(pairs)[0].double().numpy()
                x, y, z = pairs.prior[0].double().numpy()
                places = oracles.feasible_gaps(rests[0].tolist(), request, self.variant)
                found.append(
                    {(j, k): logits[j, k] - (z[j] if j == k else x[j] + y[k]) for j, k in places}
                )
        return found


def effects(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The two tables by their definition: put the request in, see behind which node each stop stands."""
    n = case.n
    pickup, delivery = np.zeros((2, n, 2 * n + 1))
    for i, scores in enumerate(case.pair_scores()):
        rest = oracles.without(case.tour.tolist(), i + 1)
        mean = np.mean(list(scores.values()))
        for table, stop in ((pickup, i + 1), (delivery, i + 1 + n)):
            by_node: dict[int, list[float]] = {}
            for (j, k), score in scores.items():
                tour = [*rest[: j + 1], i + 1, *rest[j + 1 : k + 1], i + 1 + n, *rest[k + 1 :]]
                by_node.setdefault(tour[tour.index(stop) - 1], []).append(score)
            for node, values in by_node.items():
                table[i, node] = np.mean(values) - mean
    return pickup, delivery


@FIELDS
@SIZES
def test_places_are_main_effects_of_the_pair_scores(
    n: int, fields: dict[str, object], variant: Variant
) -> None:
    case = Case(n, variant, **fields)
    found = case.scorer(case.tour)
    pickup, delivery = effects(case)
    assert found.pickup == pytest.approx(pickup, abs=1e-4)
    assert found.delivery == pytest.approx(delivery, abs=1e-4)
    if n == 7:
        assert np.abs(pickup).max() > 1e-2
        assert np.abs(delivery).max() > 1e-2


@SIZES
def test_effects_are_centred_over_the_places_of_each_request(n: int, variant: Variant) -> None:
    """A stop stands somewhere in every feasible pair: over all of them the effects cancel."""
    case = Case(n, variant)
    found = case.scorer(case.tour)
    for i in range(n):
        rest = oracles.without(case.tour.tolist(), i + 1)
        places = oracles.feasible_gaps(rest, i + 1, variant)
        sums = [
            sum(found.pickup[i, rest[j]] for j, _ in places),
            sum(found.delivery[i, i + 1 if j == k else rest[k]] for j, k in places),
        ]
        assert sums == pytest.approx([0, 0], abs=1e-5)
        assert found.pickup[i, [i + 1, i + 1 + n]].tolist() == [0, 0]
        assert found.delivery[i, i + 1 + n] == 0


@FIELDS
@SIZES
def test_removal_is_the_decoders_own_part(
    n: int, fields: dict[str, object], variant: Variant
) -> None:
    case = Case(n, variant, **fields)
    seen, decoder = case.observe(1), case.policy.removal
    with torch.no_grad():
        mixed = case.policy.encode(seen, plain).mixed
        closeness = plain.closeness(mixed, decoder.w_q, decoder.w_k, decoder.reach)  # type: ignore[union-attr]
        logits = decoder.logits(closeness, seen)[0]  # type: ignore[union-attr]
        if decoder.prior is not None:  # type: ignore[union-attr]
            logits = logits - decoder.prior(seen)[0]  # type: ignore[union-attr]
    found = case.scorer(case.tour).removal
    assert found == pytest.approx(logits.numpy(), abs=1e-4)
    assert n < 7 or np.ptp(found) > 1e-3


@pytest.mark.parametrize("part", ["removal", "reinsertion"])
def test_hand_made_operators_have_no_scores(part: str, variant: Variant) -> None:
    policy: Policy = policy_of(**{part: "random"})
    with pytest.raises(InputError, match="whose two decoders are learned has scores to add"):
        Scorer(policy, variant, np.zeros((5, 2)), np.zeros((5, 5)))


def test_numbers_that_are_none(variant: Variant) -> None:
    case = Case(2, variant, costs=True)
    scorer = Scorer(case.policy, variant, case.points, np.full((5, 5), 1e300))
    with pytest.raises(InputError, match="hold a number that is not finite"):
        scorer(case.tour)

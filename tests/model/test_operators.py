"""The hand-made operators of Table 6 and the encoders of Table 5."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oracles
from model.observations import observe, policy_of, uniforms
from n2s import kernels
from n2s.errors import InputError
from n2s.model import Policy, PolicyConfig
from n2s.model.position import positional_table
from n2s.problem import Variant

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)
HAND_MADE = ["random", "epsilon-greedy"]


@VARIANTS
@pytest.mark.parametrize("removal", ["learned", *HAND_MADE])
@pytest.mark.parametrize("reinsertion", ["learned", *HAND_MADE])
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (7, 5)])
def test_every_pair_of_operators_makes_feasible_moves_with_honest_probabilities(
    batch: int, n: int, removal: str, reinsertion: str, variant: Variant
) -> None:
    policy = policy_of(removal=removal, reinsertion=reinsertion)
    observation = observe(batch, n, variant)
    decision = policy.act(observation, uniforms(batch))
    moved = kernels.apply_moves(observation.tours, decision.requests, decision.j, decision.k)
    assert all(oracles.is_feasible(tour.tolist(), n, variant) for tour in moved)
    again = policy.log_prob(observation, decision)
    torch.testing.assert_close(again.log_prob.detach(), decision.log_prob, atol=1e-5, rtol=1e-5)


@VARIANTS
def test_random_is_uniform_over_requests_and_feasible_places(variant: Variant) -> None:
    policy = Policy(PolicyConfig(removal="random", reinsertion="random"))  # type: ignore[arg-type]
    observation = observe(7, 5, variant)
    decision = policy.act(observation, uniforms(7))
    for b in range(7):
        rest = oracles.without(observation.tours[b].tolist(), int(decision.requests[b]))
        places = oracles.feasible_gaps(rest, int(decision.requests[b]), variant)
        expected = -np.log(5) - np.log(len(places))
        assert float(decision.log_prob[b]) == pytest.approx(expected, abs=1e-6)
    assert sum(p.numel() for p in policy.parameters()) == 0


@VARIANTS
def test_greedy_takes_the_largest_gain_and_the_cheapest_place(variant: Variant) -> None:
    policy = Policy(
        PolicyConfig(removal="epsilon-greedy", reinsertion="epsilon-greedy", epsilon=0.0)  # type: ignore[arg-type]
    )
    observation = observe(7, 5, variant)
    decision = policy.act(observation, uniforms(7))
    for b in range(7):
        costs, tour = observation.costs[b], observation.tours[b].tolist()  # type: ignore[index]
        after = {r: oracles.cost(costs, oracles.without(tour, r)) for r in range(1, 6)}
        request = min(after, key=lambda r: after[r])
        assert decision.requests[b] == request
        places = oracles.reinsertion_changes(
            costs, oracles.without(tour, request), request, variant
        )
        chosen = places[int(decision.j[b]), int(decision.k[b])]
        assert chosen == pytest.approx(min(places.values()))
    assert (decision.log_prob == 0).all()


def test_epsilon_is_the_share_of_random_choices() -> None:
    """With epsilon 0.4 and many draws: best place 0.6 + 0.4 / places, any other 0.4 / places."""
    policy = Policy(PolicyConfig(removal="random", reinsertion="epsilon-greedy", epsilon=0.4))  # type: ignore[arg-type]
    observation = observe(7, 5, Variant.LIFO)
    greedy = 0
    draws = 300
    for seed in range(draws):
        decision = policy.act(observation, uniforms(7, seed))
        rests = kernels.remove_requests(observation.tours, decision.requests)
        j, k, _ = kernels.best_reinsertion(
            observation.variant, observation.costs, rests, decision.requests
        )
        greedy += int(((decision.j == j) & (decision.k == k)).sum())
    assert 0.6 < greedy / (7 * draws) < 0.75


def test_operators_that_need_costs_say_so() -> None:
    policy = Policy(PolicyConfig(removal="epsilon-greedy", reinsertion="random"))  # type: ignore[arg-type]
    observation = observe(1, 2, Variant.PDTSP)
    blind = type(observation)(
        **{
            name: getattr(observation, name)
            for name in ("variant", "points", "tours", "frequency", "recent", "best")
        }
    )
    with pytest.raises(InputError, match="needs the exact costs"):
        policy.act(blind, uniforms(1))


@pytest.mark.parametrize("attention", ["vanilla", "dac"])
def test_the_ablation_encoders_see_positions_and_learn(attention: str) -> None:
    policy = policy_of(attention=attention)
    observation = observe(7, 5, Variant.PDTSP)
    nodes = policy.encode(observation).nodes
    # Another order of the same nodes is another encoding, also after sorting by node.
    other = type(observation)(
        **{
            **{f: getattr(observation, f) for f in observation.__dataclass_fields__},
            "tours": np.concatenate([observation.tours[:, :1], observation.tours[:, :0:-1]], 1),
        }
    )
    reversed_nodes = policy.encode(other).nodes.flip(1).roll(1, 1)
    assert (nodes - reversed_nodes).abs().max() > 1e-3
    decision = policy.act(observation, uniforms(7))
    policy.log_prob(observation, decision).log_prob.sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in policy.parameters())


@pytest.mark.parametrize("attention", ["vanilla", "dac"])
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 5)])
def test_the_ablation_encoders_number_by_number(batch: int, n: int, attention: str) -> None:
    policy = policy_of(attention=attention)
    observation = observe(batch, n, Variant.PDTSP)
    weights = {name: p.detach().double() for name, p in policy.named_parameters()}
    embedding = policy.encode(observation)
    g = positional_table(2 * n + 1, 16, policy.config.position).double()
    for b in range(batch):
        arguments = (
            policy.config,
            observation.points[b].double(),
            observation.tours[b].tolist(),
            g,
        )
        if attention == "vanilla":
            streams = [oracles.vanilla_one(weights, *arguments)]
        else:
            streams = oracles.dac_one(weights, *arguments)
        mixed = sum(
            h @ weights[f"mixing.w_local.{i}"] + h.max(0).values @ weights[f"mixing.w_global.{i}"]
            for i, h in enumerate(streams)
        )
        torch.testing.assert_close(embedding.nodes[b].double(), streams[0], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(embedding.mixed[b].double(), mixed, atol=1e-5, rtol=1e-5)

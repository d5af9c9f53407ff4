"""The policy against the plain equations: logits, log-probabilities, values and gradients."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest
import torch

import oracles
from model.observations import SIZES, observe, policy_of, uniforms
from n2s import kernels
from n2s.model import Critic, Observation, Policy, PolicyConfig, fused, plain
from n2s.model.policy import Decision
from n2s.model.position import positional_table
from n2s.problem import Variant

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)
BACKENDS = pytest.mark.parametrize("backend", [plain, fused], ids=["plain", "fused"])
RELEASED = {
    "scale_scores": False,
    "position": "released",
    "successor": "second",
    "neighbours": "full",
    "mask_last": False,
}


def doubled(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The module's weights by name, in double precision, ready for gradients of their own."""
    return {
        name: parameter.detach().double().requires_grad_()
        for name, parameter in module.named_parameters()
    }


def removal_features(policy: Policy, observation: Observation, b: int) -> torch.Tensor:
    """(n, F) what stands behind the lambdas in Eq. (13), from the definitions."""
    n = observation.n
    rows = []
    for request in range(1, n + 1):
        row = [float(observation.frequency[b, request - 1])]
        row += [1.0 if observation.recent[b, ago] == request else 0.0 for ago in range(3)]
        if policy.config.costs:
            costs, tour = observation.costs[b], observation.tours[b].tolist()  # type: ignore[index]
            for node in (request, request + n):
                alone = oracles.cost(costs, [other for other in tour if other != node])
                row.append((oracles.cost(costs, tour) - alone) * math.sqrt(2 * n + 1))
            progress = observation.progress
            assert progress is not None
            row += [float(progress.age[b, request - 1])]
            row += [float(progress.excess[b]), float(progress.stagnation[b])]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64)


def oracle(policy: Policy, weights, observation: Observation, decision: Decision):
    """(log-probability, removal entropy, reinsertion entropy, embeddings) by the plain equations."""
    config = policy.config
    size = observation.tours.shape[1]
    g = positional_table(size, config.width, config.position).double()
    result = []
    variant = list(Variant)[observation.variant]
    for b in range(observation.batch):
        tour = observation.tours[b].tolist()
        points = observation.points[b].double()
        h = oracles.encode_one(weights, config, points, tour, g)
        mixed = oracles.mix_one(weights, h)
        request = int(decision.requests[b])
        removal = oracles.removal_logits_one(
            weights,
            config,
            mixed,
            tour,
            removal_features(policy, observation, b),
            int(observation.recent[b, 0]),
        ).log_softmax(0)
        context = None
        if config.costs:
            progress = observation.progress
            assert progress is not None
            values = [progress.age[b, request - 1], progress.excess[b], progress.stagnation[b]]
            context = torch.stack(values).double()
        places = oracles.reinsertion_logits_one(
            weights, config, mixed, tour, request, variant, observation.costs[b], context
        )
        logits = torch.stack(list(places.values())).log_softmax(0)
        index = list(places).index((int(decision.j[b]), int(decision.k[b])))
        entropies = [-(p.exp() * p.clamp(min=-1e30)).sum() for p in (removal, logits)]
        result.append((removal[request - 1] + logits[index], *entropies, h))
    return tuple(torch.stack(part) for part in zip(*result, strict=True))


@VARIANTS
@BACKENDS
@pytest.mark.parametrize(("batch", "n"), SIZES)
@pytest.mark.parametrize("costs", [False, True], ids=["paper", "costs"])
def test_log_probabilities_and_gradients(
    batch: int, n: int, costs: bool, variant: Variant, backend: ModuleType
) -> None:
    policy = policy_of(costs=costs)
    observation = observe(batch, n, variant, matrix=costs)
    decision = policy.act(observation, uniforms(batch), backend=backend)
    found = policy.log_prob(observation, decision, backend=backend)
    weights = doubled(policy)
    log_prob, removal_entropy, reinsertion_entropy, _ = oracle(
        policy, weights, observation, decision
    )
    close = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(found.log_prob.double(), log_prob, **close)
    torch.testing.assert_close(decision.log_prob.double(), log_prob.detach(), **close)
    torch.testing.assert_close(found.removal_entropy.double(), removal_entropy, **close)
    torch.testing.assert_close(found.reinsertion_entropy.double(), reinsertion_entropy, **close)

    # Different factors, so that no error can hide behind a symmetric sum.
    factor = torch.linspace(0.5, 1.5, batch, dtype=torch.float64)
    total = (factor * (log_prob + 0.3 * removal_entropy + 0.2 * reinsertion_entropy)).sum()
    total.backward()
    mine = found.log_prob + 0.3 * found.removal_entropy + 0.2 * found.reinsertion_entropy
    (factor.float() * mine).sum().backward()
    largest = max(1.0, *(float(w.grad.abs().max()) for w in weights.values() if w.grad is not None))
    for name, parameter in policy.named_parameters():
        expected = weights[name].grad
        assert parameter.grad is not None, name
        if expected is None:
            expected = torch.zeros_like(weights[name])
        torch.testing.assert_close(
            parameter.grad.double(), expected, atol=1e-5 * largest, rtol=1e-4, msg=name
        )


@VARIANTS
@BACKENDS
def test_the_released_code_reads_the_paper_differently(
    variant: Variant, backend: ModuleType
) -> None:
    """All of the released code's readings at once, still equal to the equations written out."""
    policy = policy_of(**RELEASED)
    observation = observe(7, 5, variant)
    decision = policy.act(observation, uniforms(7), backend=backend)
    log_prob, *_ = oracle(policy, doubled(policy), observation, decision)
    torch.testing.assert_close(decision.log_prob.double(), log_prob.detach(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("option", sorted(RELEASED))
def test_every_reading_changes_something(option: str) -> None:
    """An option without effect would be a dead one."""
    paper, released = policy_of(), policy_of(**{option: RELEASED[option]})
    observation = observe(7, 5, Variant.PDTSP)
    decision = paper.act(observation, uniforms(7))
    first = paper.log_prob(observation, decision).log_prob
    second = released.log_prob(observation, decision).log_prob
    assert (first - second).abs().max() > 1e-4


@VARIANTS
@pytest.mark.parametrize(("batch", "n"), SIZES)
def test_values_and_their_gradients(batch: int, n: int, variant: Variant) -> None:
    policy = policy_of()
    torch.manual_seed(1)
    critic = Critic(policy.config)
    observation = observe(batch, n, variant)
    nodes = policy.encode(observation).nodes
    value = critic(nodes, observation.best)
    weights = doubled(critic)
    expected = torch.stack(
        [
            oracles.value_one(weights, policy.config, nodes[b].detach().double(), best)
            for b, best in enumerate(observation.best.double())
        ]
    )
    torch.testing.assert_close(value.double(), expected, atol=1e-5, rtol=1e-5)
    value.sum().backward()
    expected.sum().backward()
    for name, parameter in critic.named_parameters():
        torch.testing.assert_close(
            parameter.grad.double(), weights[name].grad, atol=2e-5 * batch, rtol=1e-4, msg=name
        )
    # The critic's loss must not reach the policy.
    assert all(parameter.grad is None for parameter in policy.parameters())


@pytest.mark.parametrize("batch", [1, 2, 7])
def test_values_with_a_budget_begin_at_a_greedy_tour(batch: int) -> None:
    """A critic that says nothing: the best cost less N mean edges of a greedy tour, or 0 at the end."""
    policy = policy_of(costs=True, prior="native")
    critic = Critic(policy.config)
    torch.nn.init.zeros_(critic.mlp.weights[-1])
    torch.nn.init.zeros_(critic.mlp.biases[-1])
    observation = observe(batch, 5, Variant.PDTSP)
    progress = observation.whole_progress()
    progress.used[-1] = 1.0
    value = critic(policy.encode(observation).nodes, observation.best, progress)
    expected = observation.best - 11 * progress.edge.float()
    expected[-1] = 0.0
    assert value.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


@VARIANTS
@BACKENDS
@pytest.mark.parametrize("costs", [False, True], ids=["paper", "costs"])
def test_a_tours_result_does_not_depend_on_its_companions(
    costs: bool, variant: Variant, backend: ModuleType
) -> None:
    policy = policy_of(costs=costs)
    observation = observe(7, 5, variant)
    together = policy.act(observation, uniforms(7), backend=backend)
    for b in range(7):
        one = slice(b, b + 1)
        progress = observation.progress
        assert progress is not None
        alone = Observation(
            variant=variant.code,
            points=observation.points[one],
            tours=observation.tours[one],
            frequency=observation.frequency[one],
            recent=observation.recent[one],
            best=observation.best[one],
            costs=observation.costs[one],  # type: ignore[index]
            progress=type(progress)(**{name: t[one] for name, t in progress.by_name().items()}),
        )
        decision = policy.act(alone, uniforms(7)[one], backend=backend)
        assert decision.requests[0] == together.requests[b]
        assert (decision.j[0], decision.k[0]) == (together.j[b], together.k[b])
        assert float(decision.log_prob[0]) == pytest.approx(float(together.log_prob[b]), abs=2e-6)


@pytest.mark.parametrize(
    ("width", "attention", "millions"),
    # The parameters that Table 5 of the paper reports.
    [
        (64, "vanilla", 0.18),
        (64, "dac", 0.31),
        (64, "synth", 0.19),
        (128, "vanilla", 0.72),
        (128, "dac", 1.25),
        (128, "synth", 0.76),
    ],
)
def test_parameter_counts_are_those_of_the_paper(
    width: int, attention: str, millions: float
) -> None:
    count = Policy(PolicyConfig(width=width, attention=attention)).count_parameters()  # type: ignore[arg-type]
    assert round(count / 1e6, 2) == millions


@VARIANTS
def test_drawn_moves_are_feasible_and_cover_what_is_likely(variant: Variant) -> None:
    policy = policy_of()
    one = observe(1, 3, variant)
    copies = 4000
    observation = Observation(
        variant=variant.code,
        points=one.points.expand(copies, -1, -1),
        tours=np.repeat(one.tours, copies, 0),
        frequency=one.frequency.expand(copies, -1),
        recent=np.repeat(one.recent, copies, 0),
        best=one.best.expand(copies),
        costs=one.costs,
    )
    decision = policy.act(observation, uniforms(copies, seed=3))
    moved = kernels.apply_moves(observation.tours, decision.requests, decision.j, decision.k)
    assert all(oracles.is_feasible(tour.tolist(), 3, variant) for tour in moved[:200])
    # Frequencies of whole decisions agree with the probabilities they claim.
    actions = np.stack([decision.requests, decision.j, decision.k], 1)
    _, index, count = np.unique(actions, axis=0, return_index=True, return_counts=True)
    claimed = decision.log_prob.exp().numpy()[index]
    error = np.sqrt(claimed * (1 - claimed) / copies)
    assert (np.abs(count / copies - claimed) < 5 * error + 1e-3).all()
    assert claimed.sum() > 0.98


def test_the_request_removed_last_rests_unless_it_is_the_only_one() -> None:
    policy = policy_of()
    observation = observe(7, 5, Variant.PDTSP)
    log_probs = policy.removal.log_probs(policy.encode(observation).mixed, observation, plain)
    last = torch.from_numpy(observation.recent[:, 0] - 1)
    assert (log_probs.gather(1, last[:, None]) == -torch.inf).all()
    assert torch.isfinite(log_probs).sum() == 7 * 4
    only = observe(2, 1, Variant.PDTSP)
    assert (policy.removal.log_probs(policy.encode(only).mixed, only, plain) == 0).all()

"""One PPO update against the same update written out in loops, in double precision."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import torch

import oracles
from model.observations import policy_of
from model.test_policy import doubled, oracle
from n2s.model import Decision, FastPolicy, Observation, PolicyConfig, fused, plain
from n2s.problem import Variant, random_tours
from n2s.search.state import SearchState
from n2s.train.config import PPO
from n2s.train.learner import ActorCritic, Learner, Losses, TrainingError
from n2s.train.rollout import Rollout
from n2s.train.starts import Budget, search_state

CPU = torch.device("cpu")
COSTS = pytest.mark.parametrize("costs", [False, True], ids=["paper", "costs"])
BATCH, N_STEP, N = 3, 4, 3


@pytest.fixture
def double() -> Iterator[None]:
    """Everything that is allocated is in double precision."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def networks_of(costs: bool = False, heads: int = 4, width: int = 16, seed: int = 0) -> ActorCritic:
    torch.manual_seed(seed)
    return ActorCritic(PolicyConfig(width=width, heads=heads, layers=2, costs=costs))


def searches(batch: int, n: int, variant: Variant, seed: int = 2) -> SearchState:
    rng = np.random.default_rng(seed)
    points = rng.random((batch, 2 * n + 1, 2)).astype(np.float32).astype(np.float64)
    return search_state(variant, points, random_tours(n, variant, batch, rng))


class Deciding:
    """A policy that sees points in the precision of the test."""

    def __init__(self, networks: ActorCritic) -> None:
        self.policy = networks.policy

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        return self.policy.act(in_precision(observation), uniforms)


def in_precision(observation: Observation) -> Observation:
    return replace(observation, points=observation.points.to(torch.get_default_dtype()))


def collected(
    networks: ActorCritic, batch: int, n: int, n_step: int, variant: Variant, noise: float = 0.3
) -> Rollout:
    """A rollout whose old log-probabilities are some way off, so that ratios leave the clip range."""
    rollout = Rollout(batch, 2 * n + 1, n_step, CPU)
    rollout.collect(searches(batch, n, variant), Deciding(networks), np.random.default_rng(1))
    assert rollout.last is not None
    rollout.last = in_precision(rollout.last)
    generator = torch.Generator().manual_seed(2)
    rollout.log_prob += noise * torch.randn(batch, n_step, generator=generator)
    return rollout


def copied(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights of its own, in double precision."""
    return doubled(copy.deepcopy(module))


def number(tensor: torch.Tensor) -> float:
    return float(tensor.detach())


class ByHand:
    """The update as Section 4.4 and Algorithm 1 say it, one transition after the other."""

    def __init__(self, networks: ActorCritic, ppo: PPO) -> None:
        self.networks, self.ppo = networks, ppo
        self.groups = [
            (copied(networks.policy), ppo.policy_rate),
            (copied(networks.critic), ppo.critic_rate),
        ]
        self.moments: dict[int, list[torch.Tensor]] = {}
        self.seen: set[str] = set()
        self.losses: list[dict[str, float]] = []

    def value(self, observation: Observation, b: int, h: torch.Tensor) -> torch.Tensor:
        config = self.networks.policy.config
        return oracles.value_one(
            self.groups[1][0], config, h.detach(), observation.best[b].double()
        )

    def assess(self, observation: Observation, decision: Decision):
        return oracle(self.networks.policy, self.groups[0][0], observation, decision)

    def update(self, steps: list[tuple[Observation, Decision]], rewards, last: Observation) -> None:
        ppo = self.ppo
        first_values: dict[tuple[int, int], float] = {}
        batch, n_step = rewards.shape
        for step in range(1, ppo.updates + 1):
            for weights, _ in self.groups:
                for weight in weights.values():
                    weight.grad = None
            # The state behind the rollout has no decision; any feasible one lets the oracle run.
            *_, nodes = self.assess(last, _some_decision(last))
            returns = np.zeros((batch, n_step))
            for b in range(batch):
                following = number(self.value(last, b, nodes[b]))
                for t in reversed(range(n_step)):
                    following = float(rewards[b, t]) + ppo.gamma * following
                    returns[b, t] = following
            terms = []
            for t, (observation, decision) in enumerate(steps):
                log_prob, removal, reinsertion, nodes = self.assess(observation, decision)
                for b in range(batch):
                    value = self.value(observation, b, nodes[b])
                    log_ratio = log_prob[b] - float(decision.log_prob[b])
                    advantage = returns[b, t] - number(value)
                    entropies = number(removal[b]), number(reinsertion[b])
                    terms.append((b, t, log_ratio, advantage, value, entropies))
            advantages = [advantage for *_, advantage, _, _ in terms]
            mean = sum(advantages) / len(terms)
            deviation = math.sqrt(sum((a - mean) ** 2 for a in advantages) / len(terms))
            policy_sum, value_sum, plain_policy_sum = 0.0, 0.0, 0.0
            for b, t, log_ratio, advantage, value, _ in terms:
                scaled = advantage / deviation if ppo.normalise else advantage
                policy_loss = self.policy_loss(log_ratio, scaled)
                policy_sum = policy_sum + policy_loss
                plain_policy_sum += number(policy_loss) * (deviation if ppo.normalise else 1.0)
                old = first_values.get((b, t))
                value_sum = value_sum + self.value_loss(value, old, returns[b, t])
            count = len(terms)
            ((policy_sum + value_sum) / count).backward()  # type: ignore[union-attr]
            if step == 1:
                first_values = {(b, t): number(value) for b, t, _, _, value, _ in terms}
            log_ratios = [number(log_ratio) for _, _, log_ratio, _, _, _ in terms]
            beyond = [abs(math.exp(x) - 1) > ppo.ratio_clip for x in log_ratios]
            self.losses.append(
                {
                    "policy_loss": plain_policy_sum / count,
                    "value_loss": number(value_sum) / count,
                    "kl": sum(math.exp(x) - 1 - x for x in log_ratios) / count,
                    "clip_fraction": sum(beyond) / count,
                    "removal_entropy": sum(e[0] for *_, e in terms) / count,
                    "reinsertion_entropy": sum(e[1] for *_, e in terms) / count,
                    "value": sum(number(value) for *_, value, _ in terms) / count,
                    "advantage": deviation,
                }
            )
            for name, (weights, rate) in zip(("policy", "critic"), self.groups, strict=True):
                self.losses[-1][f"{name}_norm"] = self.descend(weights, rate, step)

    def policy_loss(self, log_ratio: torch.Tensor, advantage: float) -> torch.Tensor:
        ratio, clip = log_ratio.exp(), self.ppo.ratio_clip
        if number(ratio) > 1 + clip and advantage > 0:
            self.seen.add("ratio above")
            return -(1 + clip) * torch.tensor(advantage)
        if number(ratio) < 1 - clip and advantage < 0:
            self.seen.add("ratio below")
            return -(1 - clip) * torch.tensor(advantage)
        self.seen.add("ratio free beyond" if abs(number(ratio) - 1) > clip else "ratio inside")
        return -ratio * advantage

    def value_loss(self, value: torch.Tensor, old: float | None, returns: float) -> torch.Tensor:
        error = (value - returns) ** 2
        if old is None:
            self.seen.add("value first")
            return error
        clip = self.ppo.ratio_clip
        near = max(old - clip, min(old + clip, number(value)))
        if near != number(value) and (near - returns) ** 2 > number(error):
            self.seen.add("value clipped")
            return torch.tensor((near - returns) ** 2)
        self.seen.add("value inside" if near == number(value) else "value free beyond")
        return error

    def descend(self, weights: dict[str, torch.Tensor], rate: float, step: int) -> float:
        """Clip the norm of the group's gradient, then one step of Adam; the norm before clipping."""
        gradients = [
            torch.zeros_like(weight) if weight.grad is None else weight.grad
            for weight in weights.values()
        ]
        norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))
        factor = min(1.0, self.ppo.max_norm / (norm + 1e-6))
        self.seen.add("norm clipped" if factor < 1 else "norm free")
        with torch.no_grad():
            for weight, whole in zip(weights.values(), gradients, strict=True):
                gradient = whole * factor
                m, v = self.moments.setdefault(
                    id(weight), [torch.zeros_like(weight), torch.zeros_like(weight)]
                )
                m.mul_(0.9).add_(0.1 * gradient)
                v.mul_(0.999).add_(0.001 * gradient**2)
                m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.999**step)
                weight -= rate * m_hat / (v_hat.sqrt() + 1e-8)
        return norm


def _some_decision(observation: Observation) -> Decision:
    count = observation.batch
    zeros = np.zeros(count, np.int64)
    return Decision(np.ones(count, np.int64), zeros, zeros, torch.zeros(count))


def replayed(
    rollout: Rollout, networks: ActorCritic, variant: Variant
) -> tuple[list[tuple[Observation, Decision]], np.ndarray, Observation]:
    """The rollout's searches again, step by step, with its old log-probabilities."""
    state, rng = searches(BATCH, N, variant), np.random.default_rng(1)
    steps, rewards = [], []
    for t in range(N_STEP):
        observation = state.observe()
        decision = Deciding(networks).act(observation, torch.from_numpy(rng.random((BATCH, 2))))
        steps.append((observation, replace(decision, log_prob=rollout.log_prob[:, t])))
        rewards.append(state.apply(decision))
    return steps, np.stack(rewards, 1), state.observe()


# Together they meet both sides of every clip: slow and fast critics, tight and wide norms.
SETTINGS = {
    "slow": PPO(policy_rate=1e-3, critic_rate=2e-3, max_norm=0.02, gamma=0.9, ratio_clip=0.05),
    "wide": PPO(policy_rate=1e-2, critic_rate=1e-2, max_norm=0.3, gamma=0.999),
    "overshooting": PPO(policy_rate=1e-3, critic_rate=3e-2, max_norm=0.1, gamma=0.3),
    "normalised": PPO(policy_rate=1e-3, critic_rate=1e-2, max_norm=1.0, normalise=True),
    "one pass": PPO(policy_rate=1e-3, critic_rate=1e-3, max_norm=0.2, updates=1),
}
SIDES = {
    *("ratio above", "ratio below", "ratio inside", "ratio free beyond"),
    *("value first", "value clipped", "value inside", "value free beyond"),
    *("norm clipped", "norm free"),
}


@COSTS
@pytest.mark.usefixtures("double")
def test_an_update_is_the_one_computed_by_hand(costs: bool, variant: Variant) -> None:
    met: set[str] = set()
    for name, setting in SETTINGS.items():
        ppo = replace(setting, steps=N_STEP, n_step=N_STEP)
        networks = networks_of(costs, heads=2, width=8)  # two heads: tensors, not float32 kernels
        rollout = collected(networks, BATCH, N, N_STEP, variant)
        by_hand = ByHand(networks, ppo)
        by_hand.update(*replayed(rollout, networks, variant))
        before = {key: weight.detach().clone() for key, weight in networks.named_parameters()}
        found = Learner(networks, ppo, 512, CPU).update(rollout)
        met |= by_hand.seen

        assert len(found) == ppo.updates
        for losses, expected in zip(found, by_hand.losses, strict=True):
            assert vars(losses) == pytest.approx(expected, rel=1e-7, abs=1e-10), name
        after = dict(networks.named_parameters())
        for (weights, rate), part in zip(by_hand.groups, ("policy", "critic"), strict=True):
            for key, weight in weights.items():
                mine = after[f"{part}.{key}"].detach()
                torch.testing.assert_close(mine, weight.detach(), atol=1e-6 * rate, rtol=1e-9)
            # And that says something: the weights have moved, by far more than the tolerance.
            steps = [after[key].detach() - before[key] for key in after if key.startswith(part)]
            assert max(float(step.abs().max()) for step in steps) > 0.5 * rate, name
    assert met == SIDES  # otherwise the comparison would say nothing about a side not met


def gradients(learner: Learner) -> dict[str, torch.Tensor]:
    return {
        name: parameter.grad.clone()
        for name, parameter in learner.networks.named_parameters()
        if parameter.grad is not None
    }


def one_pass(networks: ActorCritic, rollout: Rollout, **options) -> tuple[Learner, Losses]:
    """The gradients of one update, not clipped."""
    ppo = PPO(updates=1, max_norm=1e9, **options.pop("ppo", {}))
    learner = Learner(networks, ppo, options.pop("part", 512), CPU, **options)
    (losses,) = learner.update(rollout)
    return learner, losses


@COSTS
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 2), (7, 5)])
def test_fused_gradients_are_those_of_the_plain_tensors(
    batch: int, n: int, costs: bool, variant: Variant
) -> None:
    rollout = collected(networks_of(costs), batch, n, 5, variant)
    learner, losses = one_pass(networks_of(costs), rollout, backend=plain)
    expected = gradients(learner)
    backends: list[ModuleType | None] = [fused, None]  # without a choice, a CPU uses the fused one
    for backend in backends:
        learner, mine = one_pass(networks_of(costs), rollout, backend=backend)
        assert vars(mine) == pytest.approx(vars(losses), rel=1e-4, abs=1e-5)
        found = gradients(learner)
        assert found.keys() == expected.keys()
        largest = max(float(gradient.abs().max()) for gradient in expected.values())
        for name, gradient in found.items():
            torch.testing.assert_close(
                gradient, expected[name], atol=2e-5 * max(1.0, largest), rtol=1e-3, msg=name
            )


@COSTS
@pytest.mark.parametrize("part", [1, 3, 5, 7, 10, 34])
@pytest.mark.usefixtures("double")
def test_gradients_add_up_over_parts(part: int, costs: bool, variant: Variant) -> None:
    """35 transitions, 5 an instance: parts within instances, of whole ones, and all but one."""
    make = {"costs": costs, "heads": 2, "width": 8}
    rollout = collected(networks_of(**make), 7, 3, 5, variant)
    for normalise in (False, True):
        ppo = {"normalise": normalise}
        whole, losses = one_pass(networks_of(**make), rollout, ppo=ppo)
        apart, same = one_pass(networks_of(**make), rollout, ppo=ppo, part=part)
        assert vars(same) == pytest.approx(vars(losses), rel=1e-9)
        expected, found = gradients(whole), gradients(apart)
        assert found.keys() == expected.keys()
        for name, gradient in found.items():
            torch.testing.assert_close(gradient, expected[name], atol=1e-12, rtol=1e-9, msg=name)


@pytest.mark.usefixtures("double")
def test_normalising_divides_the_policys_gradient_by_the_deviation_and_leaves_the_critics() -> None:
    make = {"heads": 2, "width": 8}
    rollout = collected(networks_of(**make), 7, 3, 5, Variant.PDTSP)
    plainly, losses = one_pass(networks_of(**make), rollout)
    divided, same = one_pass(networks_of(**make), rollout, ppo={"normalise": True})
    assert same.policy_norm == pytest.approx(losses.policy_norm / losses.advantage)
    assert same.critic_norm == losses.critic_norm
    expected, found = gradients(plainly), gradients(divided)
    for name, gradient in found.items():
        factor = losses.advantage if name.startswith("policy.") else 1.0
        torch.testing.assert_close(gradient * factor, expected[name], atol=1e-12, rtol=1e-9)


def test_rates_decay_once_for_every_epoch_behind_us() -> None:
    learner = Learner(networks_of(), PPO(), 512, CPU)
    rates = []
    for epoch in (1, 2, 11):
        learner.set_epoch(epoch)
        rates.append([group["lr"] for group in learner.optimiser.param_groups])
    assert rates[0] == [8e-5, 2e-5]
    assert rates[1] == pytest.approx([8e-5 * 0.985, 2e-5 * 0.985])
    assert rates[2] == pytest.approx([8e-5 * 0.985**10, 2e-5 * 0.985**10])


def test_the_policy_waits_for_the_critic() -> None:
    """For as many epochs as the configuration says: not a bit of it changes, then it learns."""
    networks = networks_of()
    learner = Learner(networks, PPO(critic_first=2, policy_rate=1e-3, critic_rate=1e-3), 512, CPU)
    rollout = collected(networks, 3, 3, 4, Variant.PDTSP)
    for epoch, waits in ((1, True), (2, True), (3, False)):
        if epoch > 1:
            learner.set_epoch(epoch)
        policy, critic = (
            [parameter.detach().clone() for parameter in module.parameters()]
            for module in (networks.policy, networks.critic)
        )
        learner.update(rollout)
        for module, before, same in (
            (networks.policy, policy, waits),
            (networks.critic, critic, False),
        ):
            kept = [torch.equal(a, b) for a, b in zip(module.parameters(), before, strict=True)]
            assert all(kept) == same


def test_a_rollout_that_was_not_collected_cannot_be_learned_from() -> None:
    with pytest.raises(TypeError, match="empty"):
        Learner(networks_of(), PPO(), 512, CPU).update(Rollout(2, 5, 5, CPU))


def test_numbers_that_are_not_finite_are_told_before_a_step() -> None:
    networks = networks_of()
    rollout = collected(networks, 2, 2, 5, Variant.PDTSP)
    rollout.rewards[0, 0] = torch.nan
    learner = Learner(networks, PPO(), 512, CPU)
    before = {name: p.detach().clone() for name, p in networks.named_parameters()}
    with pytest.raises(TrainingError, match=r"^policy_loss is not a finite number$"):
        learner.update(rollout)
    for name, parameter in networks.named_parameters():
        assert torch.equal(parameter, before[name]), name


def test_policies_of_one_learned_operator_learn_too(variant: Variant) -> None:
    """Every weight there is gets a gradient: data-parallel training waits for all of them."""
    for removal, reinsertion in (("learned", "random"), ("random", "learned")):
        torch.manual_seed(0)
        networks = ActorCritic(policy_of(removal=removal, reinsertion=reinsertion).config)
        rollout = collected(networks, 2, 3, 5, variant)
        learner, _ = one_pass(networks, rollout)
        assert gradients(learner).keys() == dict(networks.named_parameters()).keys()


def test_behind_the_end_of_a_budget_nothing_is_to_be_gained() -> None:
    """With the native prior the value knows the budget; at its end it is exactly 0, before it is not."""
    config = PolicyConfig(width=16, costs=True, prior="native")  # type: ignore[arg-type]
    torch.manual_seed(0)
    networks = ActorCritic(config)
    points = np.random.default_rng(0).random((4, 9, 2))
    tours = random_tours(4, Variant.LIFO, 4, np.random.default_rng(1))
    budget = Budget(np.full(4, 20.0), np.array([0.2, 0.2, 0.9, 1.0]), np.ones(4, bool))
    state = search_state(Variant.LIFO, points[[0, 0, 0, 0]], tours[[0, 0, 0, 0]], budget)
    values = networks.value(state.observe(), None).tolist()
    assert values[3] == 0.0
    assert values[0] == pytest.approx(values[1])
    assert abs(values[0] - values[2]) > 1e-4
    assert 0.0 not in values[:3]
    # An episode that is stepped to the end of its search gets there, whatever rounding does to the shares.
    for total in (300.0, 1777.7, 3000.0):
        walk = search_state(
            Variant.LIFO,
            points,
            tours,
            Budget(np.full(4, total), np.full(4, 1 - 100 / total), np.ones(4, bool)),
        )
        policy = FastPolicy(networks.policy)
        for _ in range(99):
            walk.apply(policy.act(walk.observe(), torch.full((4, 2), 0.5)))
        assert (networks.value(walk.observe(), None) != 0).all(), total
        walk.apply(policy.act(walk.observe(), torch.full((4, 2), 0.5)))
        assert (networks.value(walk.observe(), None) == 0).all(), total
    # Without that prior the budget does not count.
    paper = ActorCritic(PolicyConfig(width=16)).value(state.observe(), None)
    assert paper.tolist() == pytest.approx([float(paper[0])] * 4)

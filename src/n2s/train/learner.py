"""Policy, critic and optimiser: kappa updates from one rollout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Adam

from n2s.errors import N2SError
from n2s.model import Assessment, Critic, Decision, Observation, Policy, PolicyConfig
from n2s.model.policy import Embedding
from n2s.train.config import PPO
from n2s.train.loss import approximate_kl, n_step_returns, policy_losses, value_losses
from n2s.train.rollout import Rollout


class TrainingError(N2SError):
    """The run cannot go on."""


class ActorCritic(nn.Module):
    """Both networks behind one forward pass, as data-parallel training needs it."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.policy = Policy(config)
        self.critic = Critic(config)

    def forward(
        self, observation: Observation, decision: Decision, backend: ModuleType | None
    ) -> tuple[Assessment, torch.Tensor]:
        """How likely the decisions are, and the values of the states."""
        embedding = self.policy.encode(observation, backend)
        assessment = self.policy.log_prob(observation, decision, embedding, backend)
        return assessment, self._value(embedding, observation)

    @torch.no_grad()
    def value(self, observation: Observation, backend: ModuleType | None) -> torch.Tensor:
        """(B,) values, without gradients."""
        embedding = self.policy.encode(observation, backend)
        return self._value(embedding, observation)

    def _value(self, embedding: Embedding, observation: Observation) -> torch.Tensor:
        value: torch.Tensor = self.critic(embedding.nodes, observation.best, observation.progress)
        return value


@dataclass(frozen=True)
class Losses:
    """Means over the transitions of one update, and norms before clipping."""

    policy_loss: float
    value_loss: float
    kl: float
    clip_fraction: float
    removal_entropy: float
    reinsertion_entropy: float
    policy_norm: float
    critic_norm: float
    value: float
    advantage: float
    """Standard deviation."""


Goal = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
"""Losses and log-ratios of decisions, from their log-probabilities, now and when drawn, and advantages."""


def _cross_entropy(
    log_prob: torch.Tensor, _: torch.Tensor, __: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of a teacher's decisions, which were not drawn from an older policy: no ratio."""
    return -log_prob, torch.zeros_like(log_prob)


class Learner:
    """Learns from rollouts; one of them in every process of a distributed run."""

    def __init__(
        self,
        networks: ActorCritic,
        ppo: PPO,
        part: int,
        device: torch.device,
        parallel: bool = False,
        backend: ModuleType | None = None,
    ) -> None:
        self.networks = networks.to(device)
        self.ppo = ppo
        self.part = part
        self.backend = backend
        self._parallel = DistributedDataParallel(self.networks) if parallel else None
        self.groups = list(networks.policy.parameters()), list(networks.critic.parameters())
        self.optimiser = Adam(
            [
                {"params": self.groups[0], "lr": ppo.policy_rate},
                {"params": self.groups[1], "lr": ppo.critic_rate},
            ]
        )
        self.set_epoch(1)

    def set_epoch(self, epoch: int) -> None:
        """Decay the learning rates: once for every epoch behind us; the policy may have to wait."""
        factor = self.ppo.decay ** (epoch - 1)
        waits = epoch <= self.ppo.critic_first
        rates = 0.0 if waits else self.ppo.policy_rate, self.ppo.critic_rate
        for group, rate in zip(self.optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * factor

    def update(self, rollout: Rollout) -> list[Losses]:
        """Make kappa updates; returns and advantages are those of the critic as it is at each of them."""
        old: torch.Tensor | None = None
        losses = []
        for _ in range(self.ppo.updates):
            values, loss = self._pass(rollout, old, self._surrogate, self.ppo.normalise)
            losses.append(loss)
            if old is None:  # v_old of Eq. (19): nothing to be clipped around in the first pass
                old = values
        return losses

    def study(self, rollout: Rollout) -> list[Losses]:
        """One update towards a teacher's decisions; the critic learns what the searches are worth."""
        return [self._pass(rollout, None, _cross_entropy, normalise=False)[1]]

    def _surrogate(
        self, log_prob: torch.Tensor, old: torch.Tensor, advantage: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Eq. (18) and the logarithm of its ratio; normalised advantages scale the gradient later."""
        return policy_losses(log_prob - old, advantage, self.ppo.ratio_clip), log_prob - old

    def _pass(
        self, rollout: Rollout, old: torch.Tensor | None, goal: Goal, normalise: bool
    ) -> tuple[torch.Tensor, Losses]:
        """One update: gradients over all transitions, clipped per group, one step of Adam."""
        if rollout.last is None:
            raise TypeError("the rollout is empty")
        clip = self.ppo.ratio_clip
        device = rollout.device
        bootstrap = self.values(rollout.last)
        returns = n_step_returns(rollout.rewards.to(device), bootstrap, self.ppo.gamma).flatten()
        observations = rollout.observation().parts(self.part)
        decision = rollout.decision()
        total = len(returns)
        self.optimiser.zero_grad()
        values, sums, end = [], torch.zeros(8, device=device), 0
        for index, observation in enumerate(observations):
            part = slice(end, end := end + observation.batch)
            chosen = Decision(
                decision.requests[part], decision.j[part], decision.k[part], decision.log_prob[part]
            )
            last = index == len(observations) - 1
            assessment, value = self._forward(observation, chosen, last)
            advantage = returns[part] - value.detach()
            policy_loss, log_ratio = goal(
                assessment.log_prob, chosen.log_prob.to(device), advantage
            )
            before = None if old is None else old[part]
            value_loss = value_losses(value, before, returns[part], clip)
            ((policy_loss.sum() + value_loss.sum()) / total).backward()
            values.append(value.detach())
            with torch.no_grad():
                outside = (log_ratio.expm1().abs() > clip).float()
                terms = [policy_loss, value_loss, approximate_kl(log_ratio), outside]
                terms += [assessment.removal_entropy, assessment.reinsertion_entropy]
                terms += [advantage, advantage**2]
                sums += torch.stack([term.sum() for term in terms]) / total
        if normalise:
            self._normalise(sums[-2:])
        norms = [float(nn.utils.clip_grad_norm_(group, self.ppo.max_norm)) for group in self.groups]
        policy_mean, value_mean, kl, beyond, removal, reinsertion, mean, square = sums.tolist()
        every = torch.cat(values)
        losses = Losses(
            policy_loss=policy_mean,
            value_loss=value_mean,
            kl=kl,
            clip_fraction=beyond,
            removal_entropy=removal,
            reinsertion_entropy=reinsertion,
            policy_norm=norms[0],
            critic_norm=norms[1],
            value=float(every.mean()),
            advantage=math.sqrt(max(0.0, square - mean**2)),
        )
        self._check(losses)
        self.optimiser.step()
        return every, losses

    def _forward(
        self, observation: Observation, decision: Decision, last: bool
    ) -> tuple[Assessment, torch.Tensor]:
        if self._parallel is None:
            result = self.networks(observation, decision, self.backend)
        elif last:
            result = self._parallel(observation, decision, self.backend)
        else:
            with self._parallel.no_sync():  # gradients travel once, with the last part
                result = self._parallel(observation, decision, self.backend)
        assessment, value = result
        return assessment, value

    def values(self, observation: Observation) -> torch.Tensor:
        """(B,) values of states, without gradients."""
        parts = observation.parts(self.part)
        return torch.cat([self.networks.value(part, self.backend) for part in parts])

    def _normalise(self, sums: torch.Tensor) -> None:
        """Divide by the advantages' deviation: the policy's gradient is linear in them, and alone so."""
        mean, square = sums
        if self._parallel is not None:
            both = torch.stack([mean, square])
            distributed.all_reduce(both)
            mean, square = both / distributed.get_world_size()
        deviation = float((square - mean**2).clamp(min=0).sqrt())
        for parameter in self.groups[0]:
            if parameter.grad is not None:
                parameter.grad /= max(deviation, 1e-8)

    @staticmethod
    def _check(losses: Losses) -> None:
        for name, value in vars(losses).items():
            if not math.isfinite(value):
                raise TrainingError(f"{name} is not a finite number")

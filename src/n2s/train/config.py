"""What a training run is told: frozen dataclasses, read from TOML presets; an unknown key is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from n2s.errors import InputError, quoted
from n2s.model.config import Operator, PolicyConfig, config_from
from n2s.problem import Variant
from n2s.problem.generate import Distribution
from n2s.train.preset import positive, read_config, section

BOTH_LEARNED = (Operator.LEARNED, Operator.LEARNED)
LONGEST = 10**9
"""Steps of a search that an episode can pretend to be part of."""
LARGEST = 1e30
"""Of rates and bounds: with room for what single precision makes of them."""


@dataclass(frozen=True)
class Data:
    """Which instances are trained on, generated on the fly."""

    variant: Variant = Variant.PDTSP
    sizes: tuple[int, ...] = (21,)
    """N of the instances: every batch has one of these sizes."""
    since: tuple[int, ...] = (1,)
    """The epoch from which on each size is drawn; the sizes in use are equally likely."""
    batch: tuple[int, ...] = (600,)
    """Instances of a batch, for each size; of one process."""
    distribution: Distribution = Distribution.UNIFORM
    seed: int = 1

    def __post_init__(self) -> None:
        positive(self.sizes, "data.sizes")
        for size in self.sizes:
            if size < 3 or size % 2 == 0:
                raise InputError(f"data.sizes must be odd numbers from 3 on, not {size}")
        for name in ("since", "batch"):
            values = getattr(self, name)
            if len(values) == 1:
                object.__setattr__(self, name, values * len(self.sizes))
            elif len(values) != len(self.sizes):
                raise InputError(
                    f"data.{name} has {len(values)} entries, data.sizes {len(self.sizes)}"
                )
            positive(values, f"data.{name}")
        if min(self.since) != 1:
            raise InputError("data.since must let some size begin in epoch 1")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"data.seed must be between 0 and 2**63 - 1, not {self.seed}")

    def active(self, epoch: int) -> list[int]:
        """Indices of the sizes in use."""
        return [index for index, since in enumerate(self.since) if since <= epoch]


@dataclass(frozen=True)
class PPO:
    """Algorithm 1: how much is seen, and how the weights follow."""

    epochs: int = 200
    batches: int = 20
    """Batches of an epoch."""
    steps: int = 250
    """T_train, steps of an episode."""
    n_step: int = 5
    updates: int = 3
    """kappa, passes over every n-step rollout."""
    ratio_clip: float = 0.1
    """epsilon of the clipped ratio and the clipped value."""
    gamma: float = 0.999
    policy_rate: float = 8e-5
    critic_rate: float = 2e-5
    decay: float = 0.985
    """Factor on both rates, per epoch."""
    critic_first: int = 0
    """Epochs at the beginning in which the critic alone learns: a good policy is not led by a fresh one."""
    max_norm: float = 0.05
    """Of the gradients, policy and critic each."""
    normalise: bool = False
    """Divide the advantages of an update by their standard deviation."""
    most_kl: float = 1.0
    """A larger approximate KL in an update means that the run has exploded."""

    def __post_init__(self) -> None:
        for name in ("epochs", "batches", "steps", "n_step", "updates"):
            positive((getattr(self, name),), f"ppo.{name}")
        for name in ("policy_rate", "critic_rate", "decay", "max_norm", "most_kl", "ratio_clip"):
            if not 0 < getattr(self, name) < LARGEST:
                raise InputError(
                    f"ppo.{name} must be between 0 and {LARGEST:g}, not {getattr(self, name)}"
                )
        if self.critic_first < 0:
            raise InputError(f"ppo.critic_first must be at least 0, not {self.critic_first}")
        if not 0 <= self.gamma <= 1:
            raise InputError(f"ppo.gamma must be between 0 and 1, not {self.gamma}")
        if self.steps % self.n_step:
            raise InputError(
                f"ppo.steps {self.steps} must be a multiple of ppo.n_step {self.n_step}"
            )


@dataclass(frozen=True)
class Starts:
    """Where episodes begin: shares of a batch, and how the tours are improved before."""

    random: float = 0.0
    policy: float = 1.0
    """Improved by the current policy for epoch / divisor steps (the paper's curriculum)."""
    annealed: float = 0.0
    """Improved by the native heat bath up to some point of a search that cools down."""
    divisor: float = 2.0
    """rho of the curriculum."""
    horizon: tuple[int, ...] = (300, 3000)
    """Least and most steps of the searches that episodes pretend to be parts of."""

    def __post_init__(self) -> None:
        for name in ("random", "policy", "annealed"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"starts.{name} must be a share, not {getattr(self, name)}")
        if abs(self.random + self.policy + self.annealed - 1) > 1e-9:
            raise InputError("the shares of starts (random, policy, annealed) must add up to 1")
        if not 1e-9 <= self.divisor < math.inf:
            raise InputError(f"starts.divisor must be positive, not {self.divisor}")
        positive(self.horizon, "starts.horizon")
        if len(self.horizon) != 2 or not self.horizon[0] <= self.horizon[1] <= LONGEST:
            raise InputError(
                "starts.horizon must be the least and the most steps, two numbers up to 1e9"
            )

    def improvement(self, epoch: int) -> int:
        """Steps of the policy before training steps begin."""
        return int(epoch / self.divisor)


@dataclass(frozen=True)
class Lessons:
    """The first epochs, in which a teacher's decisions are learned; PPO has the others."""

    teacher: str = ""
    """A native policy by its name in the package or its file."""
    epochs: int = 0
    at: float = 0.5
    """The share of its budget that the teacher believes to be used up, whatever a search has used."""
    steps: int = 1000
    """Of the budget that the teacher believes in."""

    def __post_init__(self) -> None:
        positive((self.steps,), "lessons.steps")
        if self.epochs < 0:
            raise InputError(f"lessons.epochs must not be negative, not {self.epochs}")
        if self.epochs and not self.teacher:
            raise InputError("lessons.teacher must name who teaches for lessons.epochs epochs")
        if not 0 <= self.at <= 1:
            raise InputError(f"lessons.at must be a share, not {self.at}")


@dataclass(frozen=True)
class Validation:
    """A fixed set, searched with the search's own code."""

    count: int = 64
    """Instances of each size."""
    steps: int = 300
    every: int = 1
    """Epochs between two validations."""
    seed: int = 20_220
    sizes: tuple[int, ...] = ()
    """N; none: those of the training data."""

    def __post_init__(self) -> None:
        for name in ("count", "steps", "every"):
            positive((getattr(self, name),), f"validation.{name}")
        for size in self.sizes:
            if size < 3 or size % 2 == 0:
                raise InputError(f"validation.sizes must be odd numbers from 3 on, not {size}")
        if self.seed < 0:
            raise InputError(f"validation.seed must not be negative, not {self.seed}")


@dataclass(frozen=True)
class Run:
    """How the run is watched and kept."""

    log_every: int = 10
    """Updates that one line of the metrics averages over."""
    checkpoint_minutes: float = 5.0
    threads: int = 0
    """Of each process; 0: all cores, shared between the processes."""
    part: int = 512
    """Transitions that go through the network at once; gradients add up over the parts."""

    def __post_init__(self) -> None:
        positive((self.log_every,), "run.log_every")
        positive((self.part,), "run.part")
        if not 0 <= self.checkpoint_minutes < math.inf:
            raise InputError(
                f"run.checkpoint_minutes must be a number of minutes, not {self.checkpoint_minutes}"
            )
        if self.threads < 0:
            raise InputError(f"run.threads must not be negative, not {self.threads}")


@dataclass(frozen=True)
class TrainConfig:
    """Everything that shapes a run; travels inside its checkpoints."""

    policy: PolicyConfig = field(default_factory=PolicyConfig)
    data: Data = field(default_factory=Data)
    ppo: PPO = field(default_factory=PPO)
    starts: Starts = field(default_factory=Starts)
    lessons: Lessons = field(default_factory=Lessons)
    validation: Validation = field(default_factory=Validation)
    run: Run = field(default_factory=Run)

    def __post_init__(self) -> None:
        if Operator.LEARNED not in (self.policy.removal, self.policy.reinsertion):
            raise InputError("a policy without a learned operator cannot be trained")
        if self.lessons.epochs and (self.policy.removal, self.policy.reinsertion) != BOTH_LEARNED:
            raise InputError("lessons are for policies whose operators are both learned")
        if self.lessons.epochs and self.ppo.critic_first:
            raise InputError(
                "ppo.critic_first has no meaning with lessons, where the critic learns"
            )

    def as_table(self) -> dict[str, Any]:
        """As TOML or JSON would hold it."""
        return asdict(self)


SECTIONS = {
    "data": Data,
    "ppo": PPO,
    "starts": Starts,
    "lessons": Lessons,
    "validation": Validation,
    "run": Run,
}


def config_of(table: Mapping[str, object]) -> TrainConfig:
    """A configuration from a table of tables, every key and type checked."""
    parts: dict[str, Any] = {}
    for name, values in table.items():
        if name not in SECTIONS and name != "policy":
            raise InputError(
                f"there is no section {quoted(name)} (there are policy, {', '.join(SECTIONS)})"
            )
        if not isinstance(values, Mapping):
            raise InputError(f"{name} must be a section, not {quoted(values)}")
        parts[name] = (
            config_from(values) if name == "policy" else section(SECTIONS[name], name, values)
        )
    return TrainConfig(**parts)


def read_preset(path: str | Path, changes: Sequence[str] = ()) -> TrainConfig:
    """A preset file with ``section.key=value`` changes on top, values as in TOML."""
    return read_config(path, changes, config_of)

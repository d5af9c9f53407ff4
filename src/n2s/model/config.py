"""The policy's configuration: the paper's by default, every departure one named field.

Where paper and released code disagree there is one field with both answers; ``docs/fidelity.md`` lists
them with reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from n2s.errors import InputError, quoted

FLAGS = 3
"""How many of the last removals the removal decoder sees one by one (Eq. 13)."""
DECODER_WIDTH = 32
"""Hidden width of MLP_lambda and MLP_mu."""
LARGEST = {"width": 4096, "heads": 64, "layers": 64}
"""Far beyond any use; a file that asks for more is broken, and must not be allocated for."""


class Attention(StrEnum):
    """How the encoder combines node features and positions (Table 5 of the paper)."""

    SYNTH = "synth"
    VANILLA = "vanilla"
    DAC = "dac"


class Operator(StrEnum):
    """Who removes, and who reinserts (Table 6 of the paper)."""

    LEARNED = "learned"
    RANDOM = "random"
    EPSILON_GREEDY = "epsilon-greedy"


class Position(StrEnum):
    """The cyclic positional encoding: as printed, or as released."""

    PAPER = "paper"
    RELEASED = "released"


class Successor(StrEnum):
    """Whose key stands for succ(x) in the removal score, Eq. (12)."""

    DIRECT = "direct"
    SECOND = "second"
    """The successor's successor, as in the released code."""


class Neighbours(StrEnum):
    """In which tour the reinsertion decoder looks up succ(j), Eq. (15)."""

    REDUCED = "reduced"
    """The tour without the request, as the paper says."""
    FULL = "full"
    """The tour before the removal, as in the released code."""


class Prior(StrEnum):
    """What the logits of a policy with exact costs begin with."""

    BATH = "bath"
    """Reinsertion: a heat bath of one learned temperature."""
    NATIVE = "native"
    """Both decoders: the terms of the native policy (docs/native.md), learned further."""


@dataclass(frozen=True)
class PolicyConfig:
    """Everything that shapes the network; travels inside its checkpoint."""

    width: int = 128
    """D, of node and positional features."""
    heads: int = 4
    layers: int = 3
    attention: Attention = Attention.SYNTH
    removal: Operator = Operator.LEARNED
    reinsertion: Operator = Operator.LEARNED
    epsilon: float = 0.1
    """Share of random choices of the epsilon-greedy operators."""
    clip: float = 6.0
    """C of C * tanh: bounds both decoders' logits."""
    position: Position = Position.PAPER
    scale_scores: bool = True
    """Divide self and auxiliary attention scores by sqrt(d_k)."""
    successor: Successor = Successor.DIRECT
    neighbours: Neighbours = Neighbours.REDUCED
    mask_last: bool = True
    """A request just removed is not removed again at the next step (n = 1 excepted)."""
    costs: bool = False
    """Give the decoders exact detours, ages and the state of the search, and the cost prior."""
    beta: float = 3.3
    """Start of the learned inverse temperature of the heat bath."""
    prior: Prior = Prior.BATH
    """Of a policy with costs."""
    build: bool = False
    """With the native prior: rounds of a search begin by building a tour."""

    def __post_init__(self) -> None:
        for name, kind in _ENUMS.items():
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, kind(value))
            except ValueError:
                choices = ", ".join(kind)
                raise InputError(f"{name} is {quoted(value)}, not one of {choices}") from None
        for name, largest in LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise InputError(f"{name} must be a positive whole number, not {quoted(value)}")
            if value > largest:
                raise InputError(f"{name} must be at most {largest}, not {quoted(value)}")
        for name in ("scale_scores", "mask_last", "costs", "build"):
            value = getattr(self, name)
            if type(value) is not bool:
                raise InputError(f"{name} must be true or false, not {quoted(value)}")
        for name in ("epsilon", "clip", "beta"):
            # Always a float: of a whole number torch would make a whole weight.
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        if self.width % (2 * self.heads):
            raise InputError(
                f"width {self.width} must be a multiple of twice the {self.heads} heads"
            )
        if not 0 <= self.epsilon <= 1:
            raise InputError(f"epsilon must be a share between 0 and 1, not {self.epsilon}")
        if self.prior is Prior.NATIVE and not self.costs:
            raise InputError("the native prior needs costs = true")
        if self.build and self.prior is not Prior.NATIVE:
            raise InputError('build = true needs prior = "native"')
        if not self.clip > 0:
            raise InputError(f"clip must be positive, not {self.clip}")

    @property
    def head_width(self) -> int:
        """d_k = d_q = d_v = D / H."""
        return self.width // self.heads

    @property
    def score_scale(self) -> float:
        """Factor on attention scores, Eq. (5) and (7)."""
        return self.head_width**-0.5 if self.scale_scores else 1.0


_ENUMS = {
    "attention": Attention,
    "removal": Operator,
    "reinsertion": Operator,
    "position": Position,
    "successor": Successor,
    "neighbours": Neighbours,
    "prior": Prior,
}


def _number(name: str, value: object) -> float:
    """An option as a number that a float32 can hold."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if abs(number) < 2.0**127:  # false for nan
            return number
    raise InputError(f"{name} must be a finite number, not {quoted(value)}")


def config_from(values: Mapping[str, object]) -> PolicyConfig:
    """A configuration from a TOML table or checkpoint; an unknown key is an error."""
    if not isinstance(values, Mapping):
        raise InputError(f"the policy's options must be a table, not {quoted(values)}")
    known = {field.name for field in fields(PolicyConfig)}
    for key in values:
        if key not in known:
            raise InputError(f"the policy has no option {quoted(key)}")
    return PolicyConfig(**values)  # type: ignore[arg-type]

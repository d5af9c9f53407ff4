"""When a search ends: any combination of time, steps, no improvement and a target cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from n2s.errors import InputError

MOST_STEPS = 10**15
"""Of a budget, as policies see it: what is more is all the same."""


@dataclass(frozen=True)
class Standing:
    """How far a search is."""

    step: int
    seconds: float
    best: float
    last_improvement: int
    """The step of the last improvement."""
    begun: float = 0.0
    """Seconds that were over when the first step was made: they say nothing about the pace."""


class Stop(Protocol):
    """A reason to end."""

    def reason(self, standing: Standing) -> str | None:
        """What the search ends by, or None while it should go on."""

    def share(self, standing: Standing) -> float:
        """How much of what it allows is used up, between 0 and 1."""

    def left(self, standing: Standing) -> float | None:
        """How many steps it still allows, as far as known."""


@dataclass(frozen=True)
class Seconds:
    """A time limit, counted from the start of the search."""

    limit: float

    def __post_init__(self) -> None:
        if not (self.limit > 0 and math.isfinite(self.limit)):
            raise InputError(f"a time limit must be a positive number of seconds, not {self.limit}")

    def reason(self, standing: Standing) -> str | None:
        """``time`` when it is over."""
        return "time" if standing.seconds >= self.limit else None

    def share(self, standing: Standing) -> float:
        """Of the time."""
        return min(standing.seconds / self.limit, 1.0)

    def left(self, standing: Standing) -> float | None:
        """At the pace so far."""
        made = standing.seconds - standing.begun
        if standing.step == 0 or made <= 0:
            return None
        return max(0.0, self.limit - standing.seconds) * standing.step / made


@dataclass(frozen=True)
class Steps:
    """A number of steps; 0 judges the start."""

    limit: int

    def __post_init__(self) -> None:
        if type(self.limit) is not int:
            raise InputError(f"the number of steps must be a whole number, not {self.limit!r}")
        if self.limit < 0:
            raise InputError(f"the number of steps must not be negative, not {self.limit}")

    def reason(self, standing: Standing) -> str | None:
        """``steps`` when they are done."""
        return "steps" if standing.step >= self.limit else None

    def share(self, standing: Standing) -> float:
        """Of the steps."""
        return min(standing.step / max(self.limit, 1), 1.0)

    def left(self, standing: Standing) -> float | None:
        """What the limit leaves."""
        return float(min(self.limit - standing.step, MOST_STEPS))


@dataclass(frozen=True)
class NoImprovement:
    """A number of steps without a better tour."""

    steps: int

    def __post_init__(self) -> None:
        if type(self.steps) is not int:
            raise InputError(f"patience must be a whole number of steps, not {self.steps!r}")
        if self.steps < 1:
            raise InputError(f"patience must be at least 1 step, not {self.steps}")

    def reason(self, standing: Standing) -> str | None:
        """``no improvement`` after that many steps without one."""
        stalled = standing.step - standing.last_improvement >= self.steps
        return "no improvement" if stalled else None

    def share(self, standing: Standing) -> float:
        """Of the steps made and those that would be made without another improvement."""
        return min(standing.step / (standing.last_improvement + self.steps), 1.0)

    def left(self, standing: Standing) -> float | None:
        """Without another improvement."""
        return float(min(standing.last_improvement + self.steps - standing.step, MOST_STEPS))


@dataclass(frozen=True)
class Target:
    """A cost that is good enough."""

    cost: float

    def __post_init__(self) -> None:
        if math.isnan(self.cost):
            raise InputError("the target cost is not a number")

    def reason(self, standing: Standing) -> str | None:
        """``target`` when it is reached."""
        return "target" if standing.best <= self.cost * (1 + 1e-12) else None

    def share(self, standing: Standing) -> float:
        """Nothing: nobody knows how far it is."""
        return 0.0

    def left(self, standing: Standing) -> float | None:
        """Nobody knows."""
        return None


@dataclass(frozen=True)
class AnyOf:
    """The first of several rules that applies."""

    rules: tuple[Stop, ...]

    def reason(self, standing: Standing) -> str | None:
        """The reason of the first rule that has one."""
        for rule in self.rules:
            found = rule.reason(standing)
            if found is not None:
                return found
        return None

    def share(self, standing: Standing) -> float:
        """Of the rule that is nearest to its end."""
        return max((rule.share(standing) for rule in self.rules), default=0.0)

    def left(self, standing: Standing) -> float | None:
        """By the rule that allows least."""
        known = [left for rule in self.rules if (left := rule.left(standing)) is not None]
        return min(known, default=None)


def make_stop(
    time_limit: float | None,
    steps: int | None,
    no_improvement: int | None,
    target: float | None,
) -> AnyOf:
    """The rules asked for.

    Raises
    ------
    InputError
        If there is none that surely ends, or one that makes no sense.
    """
    rules: list[Stop] = []
    if steps is not None:
        rules.append(Steps(steps))
    if time_limit is not None:
        rules.append(Seconds(time_limit))
    if no_improvement is not None:
        rules.append(NoImprovement(no_improvement))
    if not rules:
        raise InputError("a search needs a limit: a time, a number of steps or a patience")
    if target is not None:
        rules.append(Target(target))
    return AnyOf(tuple(rules))

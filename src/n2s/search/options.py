"""What a search is asked for, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from n2s.errors import InputError

if TYPE_CHECKING:
    from n2s.search.library import NamedPolicy

E = TypeVar("E", bound=StrEnum)


class Method(StrEnum):
    """How to search."""

    AUTO = "auto"
    """What is best for size and variant by measurement (docs/solver.md)."""
    ANNEAL = "anneal"
    """The native search alone: ruin and recreate under annealing."""
    NATIVE = "native"
    """The native search with steps decided by the native policy (docs/native.md)."""
    NATIVE_N2S = "native+n2s"
    """The same with a network's scores as further terms (docs/native.md)."""
    N2S = "n2s"
    """One tour, steps sampled from the policy."""
    N2S_A = "n2s-a"
    """Algorithm 2: many copies under symmetries of the square, the best of all."""

    @property
    def neural(self) -> bool:
        """Whether a network makes the steps."""
        return self in NETWORKS


NETWORKS = (Method.N2S, Method.N2S_A)
POLICIES = (Method.NATIVE, Method.NATIVE_N2S)
"""Methods of the native search whose steps a native policy decides."""
BELONGS = {
    "augments": NETWORKS,
    "clip": NETWORKS,
    "checkpoint": (*NETWORKS, *POLICIES),
    "start": (*NETWORKS, *POLICIES),
    "threads": (Method.AUTO, Method.ANNEAL, *POLICIES),
    "native": (Method.NATIVE_N2S,),
    "every": (Method.NATIVE_N2S,),
}
"""The methods that an option means something to."""


class Start(StrEnum):
    """Where a search with a policy begins without an initial route."""

    RANDOM = "random"
    GREEDY = "greedy"


@dataclass(frozen=True)
class Options:
    """Everything but the instance and the limits."""

    method: Method
    augments: int | None = None
    """A, the number of copies of N2S-A; default floor(N / 2)."""
    seed: int = 1
    checkpoint: str | Path | NamedPolicy | None = None
    start: Start | None = None
    clip: float | None = None
    """C of the decoders; default: the policy's own at its training sizes, 10 elsewhere."""
    threads: int | None = None
    """Of the native search; default: all cores this process may use."""
    native: str | Path | None = None
    """The native policy of native+n2s, where ``checkpoint`` is the network; default: the shipped one."""
    every: int | None = None
    """R, the steps after which a chain of native+n2s asks the network again."""

    def __post_init__(self) -> None:
        for name in ("seed", "augments", "threads", "every"):
            value = getattr(self, name)
            if type(value) is not int and not (name != "seed" and value is None):
                raise InputError(f"{name} must be a whole number, not {value!r}")
        if self.augments is not None and self.augments < 1:
            raise InputError(f"the number of augments must be at least 1, not {self.augments}")
        if self.augments is not None and self.method is Method.N2S and self.augments != 1:
            raise InputError("n2s searches one tour: augments belong to n2s-a")
        if self.seed < 0:
            raise InputError(f"the seed must not be negative, not {self.seed}")
        if self.clip is not None and not self.clip > 0:
            raise InputError(f"the clip must be positive, not {self.clip}")
        if self.threads is not None and self.threads < 1:
            raise InputError(f"the number of threads must be at least 1, not {self.threads}")
        if self.every is not None and self.every < 1:
            raise InputError(f"every must be at least 1 step, not {self.every}")
        for name, methods in BELONGS.items():
            if getattr(self, name) is not None and self.method not in methods:
                *most, last = methods
                listed = f"methods {', '.join(most)} and {last}" if most else f"method {last}"
                raise InputError(f"{name} belongs to the {listed}, not to {self.method}")

    @property
    def native_policy(self) -> str | Path | None:
        """Name or file of the native policy."""
        if self.method is Method.NATIVE_N2S:
            return self.native
        if self.checkpoint is None or isinstance(self.checkpoint, str | Path):
            return self.checkpoint
        raise InputError("the method native takes the name or file of a native policy")

    def copies(self, size: int) -> int:
        """Tours searched for one instance of N nodes."""
        if self.method is not Method.N2S_A:
            return 1
        return size // 2 if self.augments is None else self.augments

    @property
    def cores(self) -> int:
        """Threads of the native search."""
        if self.threads is not None:
            return self.threads
        return usable_cores()


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def member(kind: type[E], value: str, what: str) -> E:
    """The member of a kind that a text names."""
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"the {what} is {value!r}, not one of {', '.join(kind)}") from None

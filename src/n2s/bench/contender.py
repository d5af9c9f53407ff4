"""Who takes part: ``NAME[:BUDGET][@POLICY]``, one of our methods or one of the peers.

``lkh``, ``lkh:10000`` (steps, which peers call trials), ``anneal:2s`` (seconds),
``n2s-a:3000@epsilon-greedy``, ``native@policy.json``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from n2s.bench.ours import our_peer
from n2s.errors import InputError
from n2s.peers import PEERS, Peer
from n2s.problem import Instance, Variant
from n2s.search.options import BELONGS, Method, Options

_SPELLING = re.compile(r"(?P<name>[^:@]+)(?::(?P<budget>[^@]+))?(?:@(?P<policy>.+))?")


@dataclass(frozen=True)
class Budget:
    """What a run may take: wall-clock seconds with its start-up, or a number of steps."""

    seconds: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if (self.seconds is None) == (self.steps is None):
            raise InputError("a budget is seconds or steps, one of the two")
        value = self.steps if self.seconds is None else self.seconds
        if value is None or not 0 < value < float("inf"):
            raise InputError(f"a budget must be positive, not {value}")

    def __str__(self) -> str:
        """As it is written behind the name of a method."""
        return f"{self.seconds:g}s" if self.seconds is not None else str(self.steps)

    @property
    def words(self) -> str:
        """As a table says it."""
        return f"{self.seconds:g} s" if self.seconds is not None else f"{self.steps:,} steps"

    @staticmethod
    def parse(text: str) -> Budget:
        """``10000`` is steps, ``2s`` and ``0.5s`` are seconds."""
        try:
            if text.endswith("s"):
                return Budget(seconds=float(text[:-1]))
            return Budget(steps=int(text))
        except ValueError:
            raise InputError(
                f"a budget is a number of steps (10000) or of seconds (2s), not {text!r}"
            ) from None


@dataclass(frozen=True)
class Entry:
    """A method as it is named for a whole suite."""

    name: str
    budget: Budget
    policy: str | None = None

    @staticmethod
    def parse(text: str, budget: Budget) -> Entry:
        """An entry as it is spelled, with ``budget`` where it names none of its own."""
        found = _SPELLING.fullmatch(text.strip())
        if found is None:
            raise InputError(f"a method is NAME[:BUDGET][@POLICY], not {text!r}")
        name, own, policy = found.group("name", "budget", "policy")
        if name not in method_names():
            raise InputError(f"there is no method {name!r}, only {', '.join(method_names())}")
        if policy is not None and name not in BELONGS["checkpoint"]:
            raise InputError(f"{name} uses no policy, so {policy!r} has no meaning for it")
        return Entry(name, Budget.parse(own) if own else budget, policy)


@dataclass(frozen=True)
class Contender:
    """An entry for one instance: what is started."""

    label: str
    """As the tables name it."""
    peer: Peer
    budget: Budget
    policy: str = ""
    """Name and hash of the policy that will be used; empty if none is."""
    stand_in: bool = False
    """Whether there is no policy trained for this size, and another one takes its place."""


def method_names() -> list[str]:
    """Everything that can take part, our own methods first."""
    return [*Method, *PEERS]


def contender(entry: Entry, instance: Instance) -> Contender:
    """What an entry means for an instance: without a policy named, the nearest one that is shipped."""
    if entry.name in PEERS:
        return Contender(entry.name, PEERS[entry.name], entry.budget)
    method = Method(entry.name)
    if not method.neural:
        label = f"{entry.name}@{Path(entry.policy).stem}" if entry.policy else entry.name
        peer = our_peer(method, entry.policy)
        return Contender(label, peer, entry.budget, _native(method, entry.policy, instance))
    name, policy, sizes = _policy(entry.policy, instance.variant, instance.size)
    stand_in = entry.policy is None and instance.size not in sizes
    # A trained policy that was found by size is what the method stands for; any other is named.
    shown = entry.policy is not None or not sizes
    label = f"{entry.name}@{name}" if shown else entry.name
    peer = our_peer(method, entry.policy or name)
    return Contender(label, peer, entry.budget, policy, stand_in)


def _native(method: Method, name: str | None, instance: Instance) -> str:
    """Name and hash of the native policy that will be used, behind the network; empty if none is."""
    from n2s.search.native_search import chosen

    if method is Method.NATIVE_N2S:
        network = _network(name, instance.variant, instance.size)
        return f"{network}, {_native_policy(None, instance.variant)}"
    uses = chosen(Options(method), instance) is Method.NATIVE
    return _native_policy(name, instance.variant) if uses else ""


@cache
def _native_policy(name: str | None, variant: Variant) -> str:
    from n2s.native import find

    return f"native {find(name, variant).sha256[:12]}"


@cache
def _network(name: str | None, variant: Variant, size: int) -> str:
    from n2s.search.bridging import network

    return network(name, variant, size).label


@cache
def _policy(name: str | None, variant: Variant, size: int) -> tuple[str, str, tuple[int, ...]]:
    """Name, label with hash, and training sizes of the policy that will be used."""
    from n2s.search import library

    found = library.find(name, variant, size)
    return found.name, found.label, found.sizes

"""The policies one can name: checkpoints in the package, files, and the hand-made ones."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from n2s.errors import InputError
from n2s.model import Checkpoint, Operator, Policy, PolicyConfig, load
from n2s.native import load as native_load
from n2s.native import names as native_names
from n2s.problem import Variant

SUFFIX = ".safetensors"
HAND_MADE = {
    "epsilon-greedy": PolicyConfig(
        removal=Operator.EPSILON_GREEDY, reinsertion=Operator.EPSILON_GREEDY
    ),
    "random": PolicyConfig(removal=Operator.RANDOM, reinsertion=Operator.RANDOM),
    "random+epsilon-greedy": PolicyConfig(
        removal=Operator.RANDOM, reinsertion=Operator.EPSILON_GREEDY
    ),
    "epsilon-greedy+random": PolicyConfig(
        removal=Operator.EPSILON_GREEDY, reinsertion=Operator.RANDOM
    ),
}
"""Operators that need no training, removal and reinsertion: the ablation rows of the paper (Table 6)."""
DEFAULT = "epsilon-greedy"
"""What is used where no trained policy for the variant is shipped."""


@dataclass(frozen=True)
class NamedPolicy:
    """A policy ready to search with."""

    name: str
    policy: Policy
    variants: tuple[Variant, ...]
    sizes: tuple[int, ...]
    """N of its training instances; empty for hand-made policies."""
    sha256: str
    trained: str
    """How, in a few words."""

    @property
    def label(self) -> str:
        """Name and hash, as a result records them."""
        return f"{self.name} {self.sha256[:12]}".strip()


def names() -> list[str]:
    """All policies that can be named: the shipped ones first."""
    return [*sorted(shipped()), *HAND_MADE]


def find(name: str | Path | NamedPolicy | None, variant: Variant, size: int) -> NamedPolicy:
    """The policy of a name or file; without one, the shipped one trained nearest to ``size``."""
    if name is None:
        return _nearest(variant, size)
    if isinstance(name, NamedPolicy):
        return name
    if str(name) in HAND_MADE:
        return _hand_made(str(name))
    inside = shipped()
    if str(name) in inside:
        found = _from(load(inside[str(name)]), str(name))
    elif Path(name).suffix == SUFFIX or Path(name).exists():
        found = _from(load(name), Path(name).stem)
    else:
        raise InputError(f"there is no checkpoint {str(name)!r} (there are {', '.join(names())})")
    if variant not in found.variants:
        trained = ", ".join(found.variants)
        raise InputError(f"the checkpoint {found.name} is for {trained}, the instance is {variant}")
    return found


def every() -> list[NamedPolicy]:
    """All policies that can be named, loaded."""
    return [
        *(_from(load(path), name) for name, path in sorted(shipped().items())),
        *map(_hand_made, HAND_MADE),
    ]


def described() -> list[dict[str, Any]]:
    """All policies that can be named, as ``n2s models`` and the service list them; native ones last."""
    networks = [
        {
            "name": named.name,
            "variants": [variant.value for variant in named.variants],
            "sizes": list(named.sizes),
            "width": named.policy.config.width if named.sizes else None,
            "parameters": named.policy.count_parameters(),
            "trained": named.trained,
            "sha256": named.sha256,
        }
        for named in every()
    ]
    native = [(name, native_load(path)) for name, path in native_names().items()]
    return networks + [
        {
            "name": name,
            "variants": [policy.variant.value],
            "sizes": [],
            "width": None,
            "parameters": sum(map(len, policy.blocks.values())),
            "trained": str(policy.record.get("preset", "")),
            "sha256": policy.sha256,
        }
        for name, policy in native
    ]


def shipped() -> dict[str, Path]:
    """The checkpoints in the package."""
    folder = Path(str(resources.files("n2s"))) / "checkpoints"
    return {path.stem: path for path in folder.glob(f"*{SUFFIX}")}


def _nearest(variant: Variant, size: int) -> NamedPolicy:
    usable = [p for p in every() if variant in p.variants and p.sizes]
    if not usable:
        return _hand_made(DEFAULT)

    def distance(named: NamedPolicy) -> tuple[int, bool]:
        """How far from its training, then whether it does without exact costs, which cost it routes."""
        return min(abs(trained - size) for trained in named.sizes), not named.policy.config.costs

    return min(usable, key=distance)


def _from(checkpoint: Checkpoint, name: str) -> NamedPolicy:
    trained = str(checkpoint.record.get("preset", checkpoint.record.get("imported from", "")))
    return NamedPolicy(
        name,
        checkpoint.policy,
        (checkpoint.variant,),
        checkpoint.sizes,
        checkpoint.sha256,
        trained,
    )


def _hand_made(name: str) -> NamedPolicy:
    return NamedPolicy(name, Policy(HAND_MADE[name]), tuple(Variant), (), "", "by hand")

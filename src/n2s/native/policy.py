"""The parameters of a native policy, and the small JSON file that holds them."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from n2s.errors import InputError, located, quoted
from n2s.formats.registry import store
from n2s.kernels.native_decisions import LAYOUT, PARAMETERS
from n2s.problem import Variant
from n2s.problem.distance import FloatArray

KIND = "n2s native policy"
FORMAT = 3
OPTIONAL = ("outlook", "build", "bridge")
"""Blocks that files and hashes leave out where they are all zeros."""
LARGEST = 1e6
"""Of a parameter, in absolute value."""


@dataclass(frozen=True)
class NativePolicy:
    """Parameters for one variant, and how they came about."""

    variant: Variant
    theta: FloatArray
    """(PARAMETERS,) all of them, in the order of ``kernels.native_decisions.LAYOUT``."""
    record: dict[str, Any] = field(default_factory=dict)
    """Of the training: preset, generations, minutes, figures."""

    def __post_init__(self) -> None:
        theta = np.array(self.theta, dtype=np.float64)
        if theta.shape != (PARAMETERS,):
            raise InputError(f"a native policy has {PARAMETERS} parameters, not {theta.size}")
        if not (np.abs(theta) <= LARGEST).all():
            raise InputError("a parameter of the native policy is not a number of sensible size")
        theta.setflags(write=False)
        object.__setattr__(self, "theta", theta)

    @property
    def blocks(self) -> dict[str, list[float]]:
        """The parameters by name; what is optional and all zeros is none, in files and hashes neither."""
        ends = np.cumsum(list(LAYOUT.values()))
        parts = np.split(self.theta, ends[:-1])
        blocks = {name: part.tolist() for name, part in zip(LAYOUT, parts, strict=True)}
        return {name: part for name, part in blocks.items() if name not in OPTIONAL or any(part)}

    @property
    def bridge(self) -> FloatArray:
        """(3,) weights of a network's removal, pickup and delivery scores (``native.bridge``)."""
        return self.theta[-LAYOUT["bridge"] :]

    @property
    def sha256(self) -> str:
        """Of variant and parameters: what decides about its steps."""
        text = json.dumps([self.variant.value, self.blocks])
        return hashlib.sha256(text.encode()).hexdigest()


def untrained(variant: Variant) -> NativePolicy:
    """All zeros: a heat bath that cools down."""
    return NativePolicy(variant, np.zeros(PARAMETERS), {"preset": "untrained"})


def save(policy: NativePolicy, path: str | Path) -> None:
    """Write a policy aside, then rename."""
    content = {
        "kind": KIND,
        "format": FORMAT,
        "variant": policy.variant.value,
        "sha256": policy.sha256,
        "training": policy.record,
        "parameters": policy.blocks,
    }
    store(Path(path), (json.dumps(content, indent=1) + "\n").encode())


def load(path: str | Path) -> NativePolicy:
    """Read what :func:`save` wrote, whole and unchanged."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", str(path)) from error
    except ValueError as error:  # no name of a file: a NUL in it
        raise InputError(f"cannot be read ({error})") from error
    with located(str(path)):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"is not JSON ({error})") from None
        return _policy(content)


def _policy(content: object) -> NativePolicy:
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise InputError("is not a native policy")
    if content.get("format") != FORMAT:
        raise InputError(f"is of format {quoted(content.get('format'))}, not {FORMAT}")
    if content.get("variant") not in list(Variant):
        raise InputError(f"is for the variant {quoted(content.get('variant'))}, which is unknown")
    blocks, record = content.get("parameters"), content.get("training")
    if not isinstance(blocks, dict) or not isinstance(record, dict):
        raise InputError("holds no parameters or no record of the training")
    if list(blocks) != [name for name in LAYOUT if name in blocks or name not in OPTIONAL]:
        raise InputError(f"has other blocks of parameters than {', '.join(LAYOUT)}")
    blocks = {name: blocks.get(name, [0.0] * LAYOUT[name]) for name in LAYOUT}
    for name, length in LAYOUT.items():
        block = blocks[name]
        fits = isinstance(block, list) and len(block) == length
        if not fits or not all(type(value) in (int, float) for value in block):
            raise InputError(f"the block {name} must hold {length} numbers")
        if not all(abs(value) <= LARGEST for value in block):
            raise InputError(f"a number in the block {name} is not one of sensible size")
    theta = np.array([value for name in LAYOUT for value in blocks[name]])
    policy = NativePolicy(Variant(content["variant"]), theta, record)
    if policy.sha256 != content.get("sha256"):
        raise InputError("its parameters are not those that its hash was made of")
    return policy


def names() -> dict[str, Path]:
    """The policies in the package."""
    folder = Path(str(resources.files("n2s.native"))) / "policies"
    return {f"native-{path.stem}": path for path in sorted(folder.glob("*.json"))}


def read(name: str | Path) -> NativePolicy:
    """The policy of a name in the package, or of a file."""
    known = names()
    path = known.get(str(name), Path(name))
    if not os.path.exists(path):  # which, unlike Path.exists, never raises
        raise InputError(
            f"there is no such file, and the package has no native policy of that name "
            f"(it has {', '.join(known)})",
            str(name),
        )
    return load(path)


def find(name: str | Path | None, variant: Variant) -> NativePolicy:
    """The policy of a name or file for a variant; without one, the shipped one.

    A variant without its own gets that of LIFO, the stricter rule.
    """
    if name is None:
        known = names()
        own = f"native-{variant.value}"
        return load(known[own if own in known else f"native-{Variant.LIFO.value}"])
    policy = read(name)
    if policy.variant is not variant:
        raise InputError(f"the policy is for {policy.variant}, not for {variant}", str(name))
    return policy

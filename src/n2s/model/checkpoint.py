"""Checkpoints: weights as safetensors, everything else as JSON in the same file, one hash over both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as render_tensors

import n2s
from n2s.errors import InputError, located
from n2s.formats.registry import store
from n2s.model.config import PolicyConfig, config_from
from n2s.model.critic import Critic
from n2s.model.policy import Policy
from n2s.problem import Variant

KEY = "n2s"
"""The entry of the file's metadata that holds ours."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained policy and how it came to be."""

    policy: Policy
    variant: Variant
    sizes: tuple[int, ...]
    """N of the instances it was trained on."""
    critic: Critic | None = None
    record: Mapping[str, object] = field(default_factory=dict)
    """How it was trained: preset, seeds, transitions, hours, hardware, ..."""
    version: str = n2s.__version__
    """The package that wrote it."""
    sha256: str = ""
    """Of the weights and the metadata; empty until it is saved or loaded."""


def save(checkpoint: Checkpoint, path: str | Path) -> str:
    """Write a checkpoint, whole or not at all; returns its hash."""
    tensors = _tensors(checkpoint)
    with located(str(path)):
        _check_finite(tensors)
    metadata = {
        "config": asdict(checkpoint.policy.config),
        "variant": checkpoint.variant.value,
        "sizes": list(checkpoint.sizes),
        "record": dict(checkpoint.record),
        "version": checkpoint.version,
    }
    digest = _digest(tensors, metadata)
    text = json.dumps({**metadata, "sha256": digest}, sort_keys=True)
    store(path, render_tensors(tensors, {KEY: text}))
    return digest


def load(path: str | Path) -> Checkpoint:
    """Read a checkpoint; anything missing, left over, of another shape or changed is an error."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    with located(str(path)):
        return _parse(data)


def _parse(data: bytes) -> Checkpoint:
    try:
        tensors = parse_tensors(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (SafetensorError, ValueError, MemoryError, OverflowError) as error:
        raise InputError(f"this is not a complete safetensors file ({error})") from None
    text = header.get("__metadata__", {}).get(KEY)
    if text is None:
        raise InputError("this is a safetensors file, but no n2s checkpoint")
    try:
        metadata = json.loads(text)
        expected = metadata.pop("sha256")
        variant, sizes = Variant(metadata["variant"]), tuple(map(int, metadata["sizes"]))
        config, record = config_from(metadata["config"]), dict(metadata["record"])
        version = str(metadata["version"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the checkpoint's metadata cannot be used ({error})") from None
    digest = _digest(tensors, metadata)
    if digest != expected:
        raise InputError(
            f"the hash is {digest[:12]}, not {str(expected)[:12]}: the file was changed"
        )
    _check_finite(tensors)
    policy = Policy(config)
    critic = Critic(config) if any(name.startswith("critic.") for name in tensors) else None
    parts: dict[str, torch.nn.Module | None] = {"policy": policy, "critic": critic}
    for name, module in parts.items():
        if module is not None:
            _fill(module, _part(tensors, name), name)
    return Checkpoint(policy, variant, sizes, critic, record, version, digest)


def _tensors(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    parts = {"policy": checkpoint.policy, "critic": checkpoint.critic}
    return {
        f"{part}.{name}": tensor.detach().cpu().contiguous()
        for part, module in parts.items()
        if module is not None
        for name, tensor in module.state_dict().items()
    }


def _part(tensors: Mapping[str, torch.Tensor], part: str) -> dict[str, torch.Tensor]:
    prefix = f"{part}."
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


def _fill(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], what: str) -> None:
    """Load strictly, naming the first weight that does not fit."""
    own = module.state_dict()
    for name in sorted(own.keys() | tensors.keys()):
        if name not in tensors:
            raise InputError(f"the weight {what}.{name} is missing")
        if name not in own:
            raise InputError(f"the weight {what}.{name} does not belong to this configuration")
        if own[name].shape != tensors[name].shape:
            raise InputError(
                f"the weight {what}.{name} has shape {tuple(tensors[name].shape)}, "
                f"not {tuple(own[name].shape)}"
            )
        if own[name].dtype != tensors[name].dtype:
            raise InputError(f"the weight {what}.{name} is {tensors[name].dtype}")
    module.load_state_dict(dict(tensors))


def _check_finite(tensors: Mapping[str, torch.Tensor]) -> None:
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise InputError(f"the weight {name} holds a number that is not finite")


def _digest(tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, object]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()


def empty(config: PolicyConfig, variant: Variant, seed: int) -> Checkpoint:
    """An untrained policy of a configuration, drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Checkpoint(Policy(config), variant, (), Critic(config), {"seed": seed})

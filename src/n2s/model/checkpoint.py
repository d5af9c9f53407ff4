"""Checkpoints: weights as safetensors, everything else as JSON in the same file, one hash over both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as render_tensors

import n2s
from n2s.errors import InputError, located, quoted
from n2s.formats.registry import store
from n2s.model.config import PolicyConfig, config_from
from n2s.model.critic import Critic
from n2s.model.policy import Policy
from n2s.problem import Variant

KEY = "n2s"
"""The entry of the file's metadata that holds ours."""
ENTRIES = ("config", "variant", "sizes", "record", "version")
"""What ours holds, besides the hash over it."""


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
    with located(str(path)):
        digest, data = _render(checkpoint)
    store(path, data)
    return digest


def _render(checkpoint: Checkpoint) -> tuple[str, bytes]:
    tensors = _tensors(checkpoint)
    _check_kind(tensors)
    _check_finite(tensors)
    try:
        metadata = {
            "config": asdict(checkpoint.policy.config),
            "variant": checkpoint.variant.value,
            "sizes": list(_sizes(list(checkpoint.sizes))),
            "record": dict(checkpoint.record),
            "version": _version(checkpoint.version),
        }
        # As it will be read back: JSON turns keys into text and tuples into lists.
        metadata = json.loads(json.dumps(metadata, allow_nan=False))
        digest = _digest(tensors, metadata)
        text = json.dumps({**metadata, "sha256": digest}, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"JSON cannot hold the checkpoint's record ({error})") from None
    data = render_tensors(tensors, {KEY: text})
    _read(data)  # what could not be loaded again is not written
    return digest, data


def load(path: str | Path) -> Checkpoint:
    """Read a checkpoint; anything missing, left over, of another shape or changed is an error."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    with located(str(path)):
        return _parse(data)


@dataclass(frozen=True)
class _Content:
    """What a file holds, checked, before any network is built."""

    tensors: dict[str, torch.Tensor]
    config: PolicyConfig
    variant: Variant
    sizes: tuple[int, ...]
    record: dict[str, object]
    version: str
    digest: str

    @property
    def critic(self) -> bool:
        return any(name.startswith("critic.") for name in self.tensors)


def _parse(data: bytes) -> Checkpoint:
    content = _read(data)
    policy = Policy(content.config)
    policy.load_state_dict(_part(content.tensors, "policy"))
    critic = Critic(content.config) if content.critic else None
    if critic is not None:
        critic.load_state_dict(_part(content.tensors, "critic"))
    return Checkpoint(
        policy,
        content.variant,
        content.sizes,
        critic,
        content.record,
        content.version,
        content.digest,
    )


def _read(data: bytes) -> _Content:
    tensors, text = _unpack(data)
    try:
        metadata = json.loads(text, parse_constant=_no_number)
        json.dumps(metadata, allow_nan=False)  # 1e999 is read as infinity
    except (ValueError, RecursionError) as error:
        raise InputError(f"the checkpoint's metadata cannot be used ({error})") from None
    if not isinstance(metadata, dict):
        raise InputError("the checkpoint's metadata cannot be used (it is not an object)")
    _check_keys(metadata, {*ENTRIES, "sha256"}, "metadata")
    expected = metadata.pop("sha256")
    try:
        variant = Variant(metadata["variant"])
    except ValueError:
        raise InputError(
            "the checkpoint's metadata cannot be used "
            f"(there is no variant {quoted(metadata['variant'])})"
        ) from None
    sizes, version = _sizes(metadata["sizes"]), _version(metadata["version"])
    record = metadata["record"]
    if not isinstance(record, dict):
        raise InputError(f"the checkpoint's record must be an object, not {quoted(record)}")
    # An option that is missing came later than the checkpoint and has its default; an unknown one fails.
    config = config_from(metadata["config"])
    digest = _digest(tensors, metadata)
    if digest != expected:
        found = expected[:12] if isinstance(expected, str) else quoted(expected)
        raise InputError(f"the hash is {digest[:12]}, not {found}: the file was changed")
    _check_finite(tensors)
    content = _Content(tensors, config, variant, sizes, record, version, digest)
    _check_weights(content)
    return content


_UNREADABLE = (
    SafetensorError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,  # RecursionError is one
    TypeError,
    ValueError,
)
"""What bytes that are no safetensors file make the readers raise."""


def _unpack(data: bytes) -> tuple[dict[str, torch.Tensor], str]:
    """The weights of a file, all float32, and our metadata as text."""
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        for name, entry in header.items():
            # Before the reader, which does not know every kind.
            if name != "__metadata__" and entry["dtype"] != "F32":
                raise InputError(f"the weight {name} is {quoted(entry['dtype'])}, not 'F32'")
        tensors = parse_tensors(data)
    except _UNREADABLE as error:
        raise InputError(f"this is not a complete safetensors file ({error})") from None
    ours = header.get("__metadata__")
    if not isinstance(ours, dict) or not isinstance(ours.get(KEY), str):
        raise InputError("this is a safetensors file, but no n2s checkpoint")
    _check_keys(ours, {KEY}, "file")
    return tensors, ours[KEY]


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _check_keys(values: Mapping[str, object], known: set[str], what: str) -> None:
    for name in sorted(known ^ values.keys()):
        problem = "has no entry" if name in known else "has an unknown entry"
        raise InputError(f"the checkpoint's {what} {problem} {quoted(name)}")


def _sizes(values: object) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(size) is not int or size < 3 for size in values):
        raise InputError(
            f"the checkpoint's sizes must be whole numbers from 3 on, not {quoted(values)}"
        )
    return tuple(values)


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


def _version(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(f"the checkpoint's version must be text, not {quoted(value)}")
    return value


def _check_weights(content: _Content) -> None:
    """Compare with the configuration, naming the first weight that does not fit."""
    with torch.device("meta"):  # shapes without memory: the configuration may be anything
        modules: dict[str, torch.nn.Module] = {"policy": Policy(content.config)}
        if content.critic:
            modules["critic"] = Critic(content.config)
    shapes = {
        f"{part}.{name}": tensor.shape
        for part, module in modules.items()
        for name, tensor in module.state_dict().items()
    }
    for name in sorted(shapes.keys() | content.tensors.keys()):
        if name not in content.tensors:
            raise InputError(f"the weight {name} is missing")
        if name not in shapes:
            raise InputError(f"the weight {name} does not belong to this configuration")
        if shapes[name] != content.tensors[name].shape:
            raise InputError(
                f"the weight {name} has shape {tuple(content.tensors[name].shape)}, "
                f"not {tuple(shapes[name])}"
            )


def _check_kind(tensors: Mapping[str, torch.Tensor]) -> None:
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float32:
            raise InputError(f"the weight {name} is {tensor.dtype}, not torch.float32")


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

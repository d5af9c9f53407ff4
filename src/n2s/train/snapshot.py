"""The whole state of a run in one file: a resumed run goes on exactly as if it had never stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as render_tensors

from n2s.errors import InputError
from n2s.formats.registry import store

FILE = "state.safetensors"
FORMAT = 4


@dataclass
class Position:
    """Where a run stands."""

    epoch: int = 1
    batch: int = 0
    """Batches of this epoch that are done."""
    update: int = 0
    """Rollouts learned from, in all."""
    transitions: int = 0
    """Steps of single tours learned from, in all."""
    seconds: float = 0.0
    """Of training, in all."""
    best_validation: float = 1e300
    """The least mean logarithm of the validations' costs so far."""


@dataclass(frozen=True)
class Snapshot:
    """Everything that a run needs to go on."""

    config: dict[str, Any]
    preset: str
    start: str
    """The policy that it began with, by name and hash."""
    teacher: dict[str, Any]
    """Label and parameters of the teacher; empty if there is none."""
    position: Position
    threads: int
    processes: list[dict[str, Any]]
    """Generators of every process, as JSON holds them."""
    networks: dict[str, torch.Tensor]
    optimiser: dict[str, torch.Tensor]
    searches: list[dict[str, np.ndarray]]
    """Of every process: the points and the memory of the episode in progress; empty between two."""
    means: dict[str, Any] = field(default_factory=dict)
    best_known: dict[str, list[float]] = field(default_factory=dict)


def save(snapshot: Snapshot, folder: Path) -> None:
    """Write aside, then rename: a kill leaves the old file or the new one."""
    tensors = {f"networks.{name}": tensor for name, tensor in snapshot.networks.items()}
    tensors |= {f"optimiser.{name}": tensor for name, tensor in snapshot.optimiser.items()}
    for rank, search in enumerate(snapshot.searches):
        tensors |= {f"search.{rank}.{name}": torch.tensor(array) for name, array in search.items()}
    rest = {
        "format": FORMAT,
        "config": snapshot.config,
        "preset": snapshot.preset,
        "start": snapshot.start,
        "teacher": snapshot.teacher,
        "position": vars(snapshot.position),
        "threads": snapshot.threads,
        "processes": snapshot.processes,
        "means": snapshot.means,
        "best_known": snapshot.best_known,
    }
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    store(folder / FILE, render_tensors(tensors, {"n2s": json.dumps(rest)}))


def load(folder: str | Path) -> Snapshot:
    """Read what :func:`save` wrote."""
    path = Path(folder) / FILE
    if not path.exists():
        raise InputError("there is no run to resume: the folder holds no " + FILE, str(folder))
    try:
        with safe_open(path, "pt") as file:
            rest = json.loads(file.metadata()["n2s"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if rest.pop("format") != FORMAT:
            raise InputError("was written by another version of the trainer", str(path))
        rest.setdefault("teacher", {})  # runs begun before there were any
        rest["position"] = Position(**rest["position"])
        searches: list[dict[str, np.ndarray]] = [{} for _ in rest["processes"]]
        for name, tensor in tensors.items():
            if name.startswith("search."):
                _, rank, key = name.split(".", 2)
                searches[int(rank)][key] = tensor.numpy()
        return Snapshot(
            **rest,
            networks=_part(tensors, "networks."),
            optimiser=_part(tensors, "optimiser."),
            searches=searches,
        )
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"is not a complete state of a run ({error})", str(path)) from None


def _part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

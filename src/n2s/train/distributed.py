"""The processes of a run: one, or several started by torchrun, each with its own share of the data."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import distributed

from n2s.errors import InputError


@dataclass(frozen=True)
class World:
    """Which of how many processes this is, and where it computes."""

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def writer(self) -> bool:
        """Whether this process writes the files of the run."""
        return self.rank == 0

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """Whether any process says so: all go on, stop and save together."""
        if self.size == 1:
            return flags
        told = torch.tensor(flags, dtype=torch.int32, device=self.device)
        distributed.all_reduce(told, distributed.ReduceOp.MAX)
        return tuple(bool(flag) for flag in told.tolist())

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, at the writer; nothing elsewhere."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        distributed.gather_object(value, values if self.writer else None)
        return values if self.writer else []

    def mean(self, values: list[float]) -> list[float]:
        """Means over the processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return [float(value) for value in total / self.size]


@contextmanager
def world() -> Iterator[World]:
    """The process group that torchrun announces in the environment, or this process alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    cuda = torch.cuda.is_available()
    if size == 1:
        yield World(device=torch.device("cuda" if cuda else "cpu"))
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if cuda and local >= torch.cuda.device_count():
        raise InputError(
            f"there are {torch.cuda.device_count()} CUDA devices, but process {local} wants its own"
        )
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)  # where objects travel that processes gather
    distributed.init_process_group("nccl" if cuda else "gloo")
    try:
        yield World(distributed.get_rank(), size, device)
    finally:
        # Wrapped networks hold the group in reference cycles. Left to the end of the interpreter, its
        # threads would be ended by force, and with them the process.
        gc.collect()
        distributed.destroy_process_group()

"""What the policy sees of a batch of searches: tensors and arrays, never the problem object."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
import torch

from n2s.errors import InputError
from n2s.kernels.history import record_removals
from n2s.model.config import FLAGS
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray


@dataclass(frozen=True)
class Progress:
    """How the search stands, for policies with ``costs = true``."""

    age: torch.Tensor
    """(B, n) steps since each request was removed last, in units of n, at most 4."""
    trace: torch.Tensor
    """(B, n) how often each request was removed lately: half a point each time, which fades."""
    above: torch.Tensor
    """(B,) current minus best cost, in units of the points."""
    stalled: torch.Tensor
    """(B,) steps since the best improved."""
    edge: torch.Tensor
    """(B,) mean edge of a greedy tour, in units of the points."""
    used: torch.Tensor
    """(B,) share of the budget that is used up, at most 1."""
    total: torch.Tensor
    """(B,) steps that the whole budget allows."""
    settled: torch.Tensor
    """(B, n) whether a request stands where the search has put it; all of them in a given tour."""

    @property
    def size(self) -> int:
        """N."""
        return 2 * self.age.shape[1] + 1

    @property
    def excess(self) -> torch.Tensor:
        """(B,) current minus best cost, in units of the mean distance sqrt(1 / N), at most 10."""
        return (self.above * math.sqrt(self.size)).clamp(max=10.0).float()

    @property
    def stagnation(self) -> torch.Tensor:
        """(B,) steps since the best improved, in units of N, at most 4."""
        return (self.stalled / self.size).clamp(max=4.0).float()

    def by_name(self) -> dict[str, torch.Tensor]:
        """All of it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Observation:
    """The state of B searches (Section 3 of the paper)."""

    variant: int
    """Code of the loading rule."""
    points: torch.Tensor
    """(B, N, 2) coordinates in the unit square, by node."""
    tours: IntArray
    """(B, N) in tour order."""
    frequency: torch.Tensor
    """(B, n) share of the last K steps in which a request was removed, c(i) of Eq. (13)."""
    recent: IntArray
    """(B, 3) requests removed one, two and three steps ago; 0 for none."""
    best: torch.Tensor
    """(B,) cost of the best tour so far, in units of the points; the critic reads it."""
    costs: FloatArray | None = None
    """(I, N, N) exact costs in units of the points; each instance owns B / I consecutive tours.

    Their numbers are those of a validated instance and are not checked at every step.
    """
    progress: Progress | None = None

    def __post_init__(self) -> None:
        # A few reductions a step: what is not a number must not become a silent tour.
        batch, size = self.tours.shape
        shapes = {"points": (batch, size, 2), "frequency": (batch, size // 2), "best": (batch,)}
        for name, shape in shapes.items():
            _check(name, getattr(self, name), shape)
        if self.recent.shape != (batch, FLAGS):
            raise InputError(f"recent is {self.recent.shape}, not {(batch, FLAGS)}")
        if self.costs is not None:
            count = len(self.costs)
            if count == 0 or batch % count or self.costs.shape[1:] != (size, size):
                raise InputError(
                    f"costs are {self.costs.shape}, which does not fit {(batch, size)} tours"
                )
        if self.progress is not None:
            for name, tensor in self.progress.by_name().items():
                of_requests = name in ("age", "trace", "settled")
                _check(name, tensor, (batch, size // 2) if of_requests else (batch,))

    @property
    def batch(self) -> int:
        """B, the number of tours."""
        return len(self.tours)

    @property
    def n(self) -> int:
        """The number of requests."""
        return self.tours.shape[1] // 2

    def parts(self, most: int) -> list[Observation]:
        """The same searches in parts of at most ``most`` tours, in order."""
        copies = self.batch if self.costs is None else self.batch // len(self.costs)
        if self.batch <= most:
            return [self]
        if self.costs is None or copies > most:
            # Within one instance's tours, so that every part belongs to one instance.
            starts = [
                begin
                for first in range(0, self.batch, copies)
                for begin in range(first, first + copies, most)
            ]
        else:
            starts = list(range(0, self.batch, most // copies * copies))
        ends = [*starts[1:], self.batch]
        return [self._part(slice(a, b), copies) for a, b in zip(starts, ends, strict=True)]

    def _part(self, part: slice, copies: int) -> Observation:
        progress = self.progress
        if progress is not None:
            progress = Progress(**{name: t[part] for name, t in progress.by_name().items()})
        costs = self.costs
        if costs is not None:
            costs = costs[part.start // copies : -(-part.stop // copies)]
        return Observation(
            variant=self.variant,
            points=self.points[part],
            tours=self.tours[part],
            frequency=self.frequency[part],
            recent=self.recent[part],
            best=self.best[part],
            costs=costs,
            progress=progress,
        )

    def exact_costs(self) -> FloatArray:
        """The costs, for operators that cannot do without them."""
        if self.costs is None:
            raise InputError("this policy needs the exact costs of the instances")
        return self.costs

    def whole_progress(self) -> Progress:
        """The progress, for operators that cannot do without it."""
        if self.progress is None:
            raise InputError("this policy needs the progress of the search")
        return self.progress


def _check(name: str, tensor: torch.Tensor, shape: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != shape:
        raise InputError(f"{name} is {tuple(tensor.shape)}, not {shape}")
    if not torch.isfinite(tensor).all():
        raise InputError(f"{name} holds a number that is not finite")


class History:
    """The last K removals of B searches: a ring of requests with running counts."""

    def __init__(self, batch: int, n: int, window: int) -> None:
        if window < FLAGS:
            window = FLAGS  # the flags of the last removals need as many places
        self.step = 0
        self.window = window
        self._ring = np.zeros((batch, window), np.int64)
        self._counts = np.zeros((batch, n), np.int64)
        self._last_step = np.full((batch, n), -(10**9), np.int64)
        self._trace = np.zeros((batch, n))

    def push(self, requests: IntArray) -> None:
        """Enter the requests (B,) removed in one step."""
        record_removals(requests, self.step, self._ring, self._counts, self._last_step)
        self._trace *= 1.0 - 0.5 / self._trace.shape[1]
        self._trace[np.arange(len(requests)), requests - 1] += 0.5
        self.step += 1

    def memory(self) -> dict[str, np.ndarray]:
        """Everything that is remembered, by name."""
        return {
            "ring": self._ring.copy(),
            "counts": self._counts.copy(),
            "last_step": self._last_step.copy(),
            "trace": self._trace.copy(),
            "history_step": np.array(self.step),
        }

    def recall(self, memory: dict[str, np.ndarray]) -> None:
        """Go back to where :meth:`memory` was taken."""
        self._ring = memory["ring"].copy()
        self._counts = memory["counts"].copy()
        self._last_step = memory["last_step"].copy()
        self._trace = memory["trace"].copy()
        self.step = int(memory["history_step"])

    @property
    def frequency(self) -> torch.Tensor:
        """(B, n) share of the last K steps in which each request was removed."""
        return torch.from_numpy((self._counts / self.window).astype(np.float32))

    @property
    def recent(self) -> IntArray:
        """(B, 3) requests removed one, two and three steps ago; 0 for none."""
        slots = (self.step - 1 - np.arange(FLAGS)) % self.window
        return self._ring[:, slots]

    @property
    def trace(self) -> torch.Tensor:
        """(B, n) how often each request was removed lately."""
        return torch.from_numpy(self._trace.astype(np.float32))

    @property
    def removed(self) -> np.ndarray:
        """(B, n) whether each request was ever removed."""
        return self._last_step >= 0

    @property
    def age(self) -> torch.Tensor:
        """(B, n) steps since the last removal, in units of n, at most 4."""
        n = self._counts.shape[1]
        age = np.minimum((self.step - self._last_step) / n, 4.0)
        return torch.from_numpy(age.astype(np.float32))

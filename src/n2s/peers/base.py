"""The face of a peer: what it is asked (:class:`Task`), what it answers, what can go wrong.

Peers calculate with whole numbers, so a task holds scaled ones. What a peer says about its cost is
only compared with the judge's: the cost that counts is the judge's, in the instance's own distances.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import numpy as np

from n2s import formats
from n2s.errors import N2SError
from n2s.problem import Instance, Metric, Rounding, Variant
from n2s.problem.distance import FloatArray, distances
from n2s.problem.instance import IntArray

LONGEST = 1e7
"""No scaled arc is longer: LKH-3 keeps a hundred times an arc in 32 bits."""
FROM_HERE = "pip install 'n2s[peers]'"
INSTANCE = "instance.npz"
SHORTEST = 0.001
"""Seconds a search is given at least, however late it begins."""


class PeerError(N2SError):
    """A peer gave no route that counts."""


class PeerMissing(PeerError):
    """The peer is not installed."""


class PeerUnable(PeerError):
    """The peer cannot do this problem at all; the message says why."""


class PeerCancelled(PeerError):
    """Whoever asked does not want to know any more."""


class Kind(StrEnum):
    """How a peer failed."""

    CRASH = "crash"
    HANG = "hang"
    INFEASIBLE = "infeasible"
    LIED = "lied"
    """Its cost is not that of its route: it solved another problem."""


class PeerFailed(PeerError):
    """The peer was asked and gave nothing that counts."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class NoRoute(PeerFailed):
    """The peer ended in order, without a feasible route."""

    def __init__(self) -> None:
        super().__init__(Kind.INFEASIBLE, "found no feasible route within its budget")


class Answer(NamedTuple):
    """What a peer says."""

    nodes: list[int]
    """The route, with or without the depot at its ends."""
    cost: float | None = None
    """What the peer believes the scaled cost to be, where it says so."""
    steps: int | None = None
    """How many it made, where it counts them."""
    pace: float | None = None
    """Steps a second once it runs, where it measures that."""
    history: Sequence[tuple[int, float, float]] = ()
    """Its improvements, where it tells them: step, seconds since its process began, best cost."""
    policy: str = ""
    """Name and hash of the policy, where one was used."""


@dataclass(frozen=True)
class Task:
    """One problem as a peer gets it: coordinates where its costs are plainly Euclidean, else costs."""

    variant: Variant
    scale: float
    coordinates: FloatArray | None
    """(N, 2) scaled; the costs are their Euclidean distances, rounded to the nearest whole number."""
    costs: IntArray | None
    """(N, N) scaled, row = from, where there are no such coordinates."""
    budget: float | None
    """Seconds of its search, without its start-up."""
    trials: int | None
    seed: int
    cores: int
    folder: Path
    """A scratch folder that is removed afterwards."""
    wall: float | None = None
    """Seconds of its process, start-up and all."""
    begun: float = 0.0
    """When the process was started, on the clock of ``time.monotonic``."""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """What the search may take: its budget, or what is left of the wall clock at this moment."""
        if self.wall is None:
            return self.budget
        return max(SHORTEST, self.begun + self.wall - time.monotonic())

    def instance(self) -> Instance:
        """The instance itself, for a peer that asks for it."""
        return formats.read(self.folder / INSTANCE)

    @property
    def size(self) -> int:
        """N, the number of nodes with the depot."""
        known = self.coordinates if self.costs is None else self.costs
        return 0 if known is None else len(known)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(pickup, delivery) of every request."""
        n = self.size // 2
        return [(pickup, pickup + n) for pickup in range(1, n + 1)]

    def matrix(self) -> IntArray:
        """(N, N) scaled costs, row = from."""
        if self.costs is not None:
            return self.costs
        points = np.zeros((0, 2)) if self.coordinates is None else self.coordinates
        exact = distances(points[:, None], points[None], Metric.EUCLIDEAN, Rounding.NEAREST)
        return exact.astype(np.int64)

    def save(self) -> None:
        """Put the task into its folder."""
        for name in ("coordinates", "costs"):
            array = getattr(self, name)
            if array is not None:
                np.save(self.folder / f"{name}.npy", array)
        names = ("variant", "scale", "budget", "wall", "trials", "seed", "cores", "options")
        content = {name: getattr(self, name) for name in names}
        (self.folder / "task.json").write_text(json.dumps(content))

    @staticmethod
    def load(folder: Path, begun: float = 0.0) -> Task:
        """The task in a folder, for a process started at ``begun``."""
        content = json.loads((folder / "task.json").read_text())
        variant = Variant(content.pop("variant"))
        for name in ("coordinates", "costs"):
            file = folder / f"{name}.npy"
            content[name] = np.load(file) if file.exists() else None
        return Task(variant=variant, folder=folder, begun=begun, **content)


@dataclass(frozen=True)
class Peer:
    """One other solver."""

    name: str
    distribution: str
    """What pip knows it by."""
    solve: Callable[[Task], Answer]
    """Called in a process of its own; imports the library itself, so that the others do not need it."""
    unable: Mapping[Variant, str] = field(default_factory=dict)
    """Variants it cannot do, and why."""
    euclidean_only: str = ""
    """Why it cannot do other costs than Euclidean ones; empty if it can."""
    takes_seconds: bool = True
    takes_trials: bool = False
    executable: str = ""
    """A program that is used instead of the distribution where it is on the PATH."""
    exact: bool = False
    """Whether it takes the instance itself, with all that belongs to it, and no whole numbers."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What else its function is told."""

    @property
    def software(self) -> str:
        """What is used, with its version."""
        if self.executable and shutil.which(self.executable):
            return f"{self.executable} on the PATH"
        try:
            return f"{self.distribution} {metadata.version(self.distribution)}"
        except metadata.PackageNotFoundError:
            return self.distribution

    def check(self, task: Task) -> None:
        """Refuse a task the peer cannot do.

        Raises
        ------
        PeerUnable
            With the reason.
        """
        if task.variant in self.unable:
            raise PeerUnable(f"{self.name} cannot do {task.variant}: {self.unable[task.variant]}")
        if task.coordinates is None and self.euclidean_only:
            raise PeerUnable(f"{self.name} cannot do a matrix of costs: {self.euclidean_only}")
        if task.seconds is not None and not self.takes_seconds:
            raise PeerUnable(f"{self.name} takes no time limit")
        if task.trials is not None and not self.takes_trials:
            raise PeerUnable(f"{self.name} takes a time limit, no number of trials")


def scaled(instance: Instance) -> tuple[float, FloatArray | None, IntArray | None]:
    """Scale, scaled coordinates where the costs are plainly Euclidean, else scaled costs."""
    if _plain(instance) and instance.coordinates is not None:
        whole = instance.rounding is Rounding.NEAREST
        scale = _scale(float(np.ptp(instance.coordinates, axis=0).sum()), whole)
        if not whole or scale == 1.0:
            shifted = instance.coordinates - instance.coordinates.min(0)
            return scale, shifted * scale if scale != 1.0 else instance.coordinates, None
    costs = instance.costs
    scale = _scale(float(costs.max()), bool((costs == np.floor(costs)).all()))
    return scale, None, np.floor(costs * scale + 0.5).astype(np.int64)


def _plain(instance: Instance) -> bool:
    """Whether costs are Euclidean distances, exact or to the nearest whole number."""
    return (
        instance.matrix is None
        and instance.metric is Metric.EUCLIDEAN
        and instance.rounding in (Rounding.NONE, Rounding.NEAREST)
        and instance.end is None
        and not (instance.open_start or instance.open_end)
    )


def _scale(longest: float, whole: bool) -> float:
    """The largest power of ten that keeps arcs within the limit (1e6 in the unit square); 1 if whole."""
    if longest == 0.0 or (whole and longest <= LONGEST):
        return 1.0
    return float(10.0 ** math.floor(math.log10(LONGEST / longest)))

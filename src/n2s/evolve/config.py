"""What an evolution is told: frozen dataclasses, read from TOML presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from n2s.errors import InputError, quoted
from n2s.local.landscape import MOST_MATRIX
from n2s.native.bridge import check_size
from n2s.native.parts import Part
from n2s.problem import Variant
from n2s.train.preset import positive, read_config, section


class Shape(StrEnum):
    """Where the nodes of a training instance lie, or what its costs are."""

    UNIFORM = "uniform"
    CLUSTERED = "clustered"
    MIXED = "mixed"
    LINE = "line"
    """Near a straight line, as along a coast."""
    ROAD = "road"
    """Places on a street grid with one-way streets and slow ones: an asymmetric matrix."""


class Kind(StrEnum):
    """Of the strategy."""

    CMA = "cma"
    """CMA-ES with a full covariance matrix, by the library ``cmaes``."""
    SEPARABLE = "sep-cma"
    """The same with a diagonal one."""
    GRADIENT = "gradient"
    """Antithetic pairs, ranks and Adam."""


LONGEST = 10**9
"""Of a search, in steps or requests put back."""
MOST_COPIES = 1000
"""Of one search."""


def _sizes(sizes: tuple[int, ...], name: str) -> None:
    """Odd numbers of nodes, few enough for a matrix."""
    positive(sizes, name)
    for size in sizes:
        if size < 3 or size % 2 == 0:
            raise InputError(f"{name} must be odd numbers from 3 on, not {size}")
        if size > MOST_MATRIX:
            raise InputError(f"{name} must be at most {MOST_MATRIX}, not {size}")


def _budgets(budgets: tuple[int, ...], name: str) -> None:
    """Searches that end some day."""
    positive(budgets, name)
    if max(budgets) > LONGEST:
        raise InputError(f"{name} must be at most {LONGEST}, not {max(budgets)}")


def _copies(copies: tuple[int, ...], steps: tuple[int, ...], name: str) -> None:
    """One number for each budget in steps, or one for all."""
    positive(copies, name)
    if len(copies) not in (1, len(steps)):
        raise InputError(
            f"{name} must be one number for all steps or one for each of {len(steps)}, not {len(copies)}"
        )
    if max(copies) > MOST_COPIES:
        raise InputError(f"{name} must be at most {MOST_COPIES}, not {max(copies)}")


def budgets_of(steps: tuple[int, ...], copies: tuple[int, ...]) -> list[tuple[int, int]]:
    """(steps, copies) of every budget that counts steps."""
    each = copies if len(copies) == len(steps) else copies * len(steps)
    return list(zip(steps, each, strict=True))


@dataclass(frozen=True)
class Tasks:
    """What candidates are compared on; every generation draws new tasks, the same for all of them."""

    variant: Variant = Variant.PDTSP
    sizes: tuple[int, ...] = (21, 51, 101)
    shapes: tuple[Shape, ...] = (Shape.UNIFORM,)
    """A shape named twice is drawn twice as often."""
    steps: tuple[int, ...] = (1000, 3000)
    """Budgets counted in steps, from a random tour."""
    copies: tuple[int, ...] = (1,)
    """For each of the steps, or for all: searches of one instance of which the best counts, as N2S-A's."""
    work: tuple[int, ...] = ()
    """Budgets counted in time, as requests put back: large removals have to pay for themselves."""
    count: int = 24
    """Tasks of a generation, drawn from all sizes, shapes and budgets in turn."""
    seed: int = 1
    checkpoint: str = ""
    """Name or file of a network whose scores the policy weighs (``native.bridge``); none: no bridge."""

    def __post_init__(self) -> None:
        _sizes(self.sizes, "tasks.sizes")
        if not self.shapes:
            raise InputError("tasks.shapes must name a shape")
        _budgets(self.steps + self.work, "tasks.steps and tasks.work")
        _copies(self.copies, self.steps, "tasks.copies")
        positive((self.count,), "tasks.count")
        if not 0 <= self.seed < 2**63:
            raise InputError(f"tasks.seed must be between 0 and 2**63 - 1, not {self.seed}")


@dataclass(frozen=True)
class Strategy:
    """How candidates are drawn."""

    kind: Kind = Kind.CMA
    population: int = 32
    sigma: float = 0.2
    rate: float = 0.02
    """Of Adam, for the gradient strategy."""
    generations: int = 1000
    without: tuple[Part, ...] = ()
    """Parts of the policy that are switched off and not searched."""
    only: tuple[Part, ...] = ()
    """The parts that are searched, if not all; the others stay as they are."""
    outlook: bool = False
    """Whether weights of what requests could save elsewhere are searched too: for steps that cost alike."""
    build: bool = False
    """Whether the policy builds a tour first, in rounds that are searched too: for budgets in steps."""

    def __post_init__(self) -> None:
        positive((self.generations,), "strategy.generations")
        if self.without and self.only:
            raise InputError("strategy.without and strategy.only exclude each other")
        if self.population < 4 or self.population % 2:
            raise InputError(
                f"strategy.population must be an even number from 4 on, not {self.population}"
            )
        for name in ("sigma", "rate"):
            value = getattr(self, name)
            if not 0 < value <= 10:
                raise InputError(f"strategy.{name} must be above 0 and at most 10, not {value:g}")


@dataclass(frozen=True)
class Validation:
    """A fixed set of uniform instances, searched from random tours where steps count."""

    sizes: tuple[int, ...] = (21, 51, 101)
    count: int = 20
    steps: tuple[int, ...] = (1000, 3000)
    copies: tuple[int, ...] = (1,)
    """For each of the steps, or for all: searches of which the best counts, as in the tasks."""
    work: tuple[int, ...] = ()
    """Budgets counted in time, from greedy tours, as in the tasks."""
    every: int = 20
    """Generations between two looks."""
    reference: int = 2000
    """Iterations of the annealed search for each request, for the costs that gaps refer to."""
    seed: int = 987654321

    def __post_init__(self) -> None:
        _sizes(self.sizes, "validation.sizes")
        _budgets(self.steps, "validation.steps")
        _copies(self.copies, self.steps, "validation.copies")
        if self.work:
            _budgets(self.work, "validation.work")
        _budgets((self.reference,), "validation.reference")
        for name in ("count", "every"):
            positive((getattr(self, name),), f"validation.{name}")
        if self.seed < 0:
            raise InputError(f"validation.seed must not be negative, not {self.seed}")


@dataclass(frozen=True)
class Run:
    """How the run is kept."""

    threads: int = 0
    """0: all cores."""
    checkpoint_minutes: float = 2.0

    def __post_init__(self) -> None:
        if self.threads < 0:
            raise InputError(f"run.threads must not be negative, not {self.threads}")
        if not self.checkpoint_minutes > 0:
            raise InputError(
                f"run.checkpoint_minutes must be positive, not {self.checkpoint_minutes:g}"
            )


@dataclass(frozen=True)
class EvolveConfig:
    """Everything about a run."""

    tasks: Tasks = field(default_factory=Tasks)
    strategy: Strategy = field(default_factory=Strategy)
    validation: Validation = field(default_factory=Validation)
    run: Run = field(default_factory=Run)

    def __post_init__(self) -> None:
        if Part.BRIDGE in self.strategy.only and not self.tasks.checkpoint:
            raise InputError("strategy.only names the bridge, but tasks.checkpoint no network")
        self._check_opted(Part.OUTLOOK, self.strategy.outlook)
        self._check_opted(Part.BUILD, self.strategy.build)
        if self.tasks.checkpoint:
            check_size(max(*self.tasks.sizes, *self.validation.sizes))

    def _check_opted(self, part: Part, wanted: bool) -> None:
        """That a part is searched where it is asked for, and costs what the tasks count."""
        strategy = self.strategy
        if part in strategy.only and not wanted:
            raise InputError(f"strategy.only names the {part}, but strategy.{part} is false")
        if not wanted:
            return
        if part in strategy.without or (strategy.only and part not in strategy.only):
            raise InputError(
                f"strategy.{part} is true, but strategy.without or strategy.only leaves it out"
            )
        if self.tasks.work or self.validation.work:
            raise InputError(
                f"strategy.{part}: its time is not counted as work, so there must be no tasks.work "
                "and no validation.work"
            )

    def as_table(self) -> dict[str, Any]:
        """As TOML or JSON would hold it."""
        return asdict(self)


SECTIONS: dict[str, Any] = {
    "tasks": Tasks,
    "strategy": Strategy,
    "validation": Validation,
    "run": Run,
}


def config_of(table: Mapping[str, object]) -> EvolveConfig:
    """A configuration from a table of tables, every key and type checked."""
    parts: dict[str, Any] = {}
    for name, values in table.items():
        if name not in SECTIONS:
            raise InputError(
                f"there is no section {quoted(name)} (there are {', '.join(SECTIONS)})"
            )
        if not isinstance(values, Mapping):
            raise InputError(f"{name} must be a section, not {quoted(values)}")
        parts[name] = section(SECTIONS[name], name, values)
    return EvolveConfig(**parts)


def read_preset(path: str | Path, changes: Sequence[str] = ()) -> EvolveConfig:
    """A preset file with ``section.key=value`` changes on top, values as in TOML."""
    return read_config(path, changes, config_of)

"""The suites: what each of them runs, unless the command line says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

from n2s.bench.case import Case
from n2s.bench.contender import Budget, Entry
from n2s.bench.files import folders_of, read_cases
from n2s.bench.plan import Group, Plan
from n2s.errors import InputError
from n2s.problem import Variant, generate
from n2s.search.options import Method

SECONDS = 5.0
"""Of every run where neither the suite nor the user names a budget."""
SEED = 2022
"""Of the generated instances."""
SIZES = (21, 51, 101)
PAPER_COUNT = 2000
"""Instances of a size in the paper."""
STEPS = ("1000", "2000", "3000")
BEST_LKH = "lkh:10000"


class Suite(StrEnum):
    """What can be benchmarked."""

    UNIFORM = "uniform"
    """Generated instances in the unit square."""
    FILES = "files"
    """A folder of benchmark files with reference values."""
    PAPER = "paper"
    """Tables 1 and 2 of the paper."""
    ABLATION = "ablation"
    """Tables 5 (encoders) and 6 (decoders) of the paper."""
    GENERALIZATION = "generalization"
    """RBO00 and LIFO files, average and best of ten runs."""
    SPEED = "speed"
    """Steps a second of our own methods by size."""


@dataclass(frozen=True)
class Wish:
    """What the user asks a suite for; None: what the suite does by default."""

    folder: Path | None = None
    nodes: tuple[int, ...] | None = None
    count: int | None = None
    seed: int | None = None
    variants: tuple[Variant, ...] | None = None
    methods: tuple[str, ...] | None = None
    seconds: float | None = None
    steps: int | None = None
    seeds: tuple[int, ...] | None = None

    def entries(self, default: Sequence[str]) -> list[Entry]:
        """The methods, with their own budgets or the common one; each of them once."""
        if self.seconds is not None and self.steps is not None:
            raise InputError("the common budget is --seconds or --steps, not both")
        seconds = SECONDS if self.seconds is None and self.steps is None else self.seconds
        common = Budget(seconds, self.steps)
        named = default if self.methods is None else self.methods
        return list(dict.fromkeys(Entry.parse(text, common) for text in named))

    def generated(self, size: int, variant: Variant, count: int) -> list[Case]:
        """Uniform instances of N nodes."""
        if size < 3 or size % 2 == 0:
            raise InputError(f"a depot and pairs make an odd number of nodes, not {size}")
        wanted = count if self.count is None else self.count
        seed = SEED if self.seed is None else self.seed
        instances = generate(size // 2, wanted, seed, variant)
        return [Case(instance.name, instance) for instance in instances]

    def refuse(self, suite: Suite, *useless: str) -> None:
        """Say which of the wishes the suite cannot grant."""
        for field in fields(self):
            if field.name in useless and getattr(self, field.name) is not None:
                raise InputError(f"{_OPTIONS[field.name]} has no meaning for {suite}")


_OPTIONS = {
    "folder": "a folder",
    "nodes": "--nodes",
    "seed": "--seed",
    "variants": "--variant",
}


def plan(suite: Suite, wish: Wish) -> Plan:
    """All runs of a suite."""
    if wish.count is not None and wish.count < 1:
        raise InputError(f"--count must be at least 1, not {wish.count}")
    return _PLANNERS[suite](wish)


def _title(variant: Variant, size: int) -> str:
    return f"{variant}, {size} nodes"


def _uniform(wish: Wish) -> Plan:
    wish.refuse(Suite.UNIFORM, "folder")
    entries = wish.entries(("auto", "lkh"))
    groups = [
        Group(_title(variant, size), wish.generated(size, variant, 10), entries)
        for variant in wish.variants or (Variant.PDTSP,)
        for size in wish.nodes or SIZES
    ]
    return Plan(Suite.UNIFORM, groups, wish.seeds or (1,))


def _files(wish: Wish) -> Plan:
    wish.refuse(Suite.FILES, "nodes", "seed")
    if wish.folder is None:
        raise InputError("say which folder holds the files: n2s bench files DIR")
    groups = _folders(wish, folders_of(wish.folder), ("auto", "lkh"))
    return Plan(Suite.FILES, groups, wish.seeds or (1,))


def _folders(
    wish: Wish, folders: Sequence[tuple[str, list[Path]]], default: Sequence[str]
) -> list[Group]:
    """A table for each folder; with several loading rules wished for, one for each of them."""
    groups = []
    for title, files in folders:
        for variant in wish.variants or (None,):
            cases = read_cases(files, variant, wish.count)
            named = title if variant is None else f"{title}, {variant}"
            groups.append(Group(named, cases, wish.entries(default)))
    return groups


def _paper(wish: Wish) -> Plan:
    wish.refuse(Suite.PAPER, "folder")
    ours = [f"{method}:{steps}" for method in (Method.N2S, Method.N2S_A) for steps in STEPS]
    entries = wish.entries(("lkh:5000", BEST_LKH, *ours))
    groups = [
        Group(_title(variant, size), wish.generated(size, variant, PAPER_COUNT), entries)
        for variant in wish.variants or tuple(Variant)
        for size in wish.nodes or SIZES
    ]
    return Plan(Suite.PAPER, groups, wish.seeds or (1,), references=(BEST_LKH,))


def _ablation(wish: Wish) -> Plan:
    """Policies that differ from N2S in one part, where they need no training or are shipped."""
    from n2s.bench.policies import decoders, encoders

    wish.refuse(Suite.ABLATION, "folder")
    groups: list[Group] = []
    notes: list[str] = []
    variants = wish.variants or tuple(Variant)
    for size in wish.nodes or (51,):
        for variant in variants:
            for table, rows in (
                ("decoders (Table 6)", decoders(variant, size)),
                ("encoders (Table 5)", encoders(variant, size)),
            ):
                if table.startswith("encoders") and variant is not Variant.PDTSP:
                    continue  # the paper has these for PDTSP only
                notes += [rows.missing] if rows.missing else []
                default = [f"{Method.N2S}:{STEPS[-1]}@{name}" for name in rows.found]
                if default:
                    cases = wish.generated(size, variant, PAPER_COUNT)
                    entries = wish.entries((BEST_LKH, *default))
                    groups.append(Group(f"{table}: {_title(variant, size)}", cases, entries))
    return Plan(Suite.ABLATION, groups, wish.seeds or (1,), notes, references=(BEST_LKH,))


def _generalization(wish: Wish) -> Plan:
    wish.refuse(Suite.GENERALIZATION, "nodes", "seed")
    if wish.folder is None:
        raise InputError("say which folder holds rbo00 and lifo: n2s bench generalization DIR")
    folders = [
        (name, files)
        for name, files in folders_of(wish.folder)
        if Path(name).name.lower() in ("rbo00", "lifo")
    ]
    if not folders:
        raise InputError("there is no folder rbo00 or lifo with instances", str(wish.folder))
    groups = _folders(wish, folders, (f"{Method.N2S_A}:{STEPS[-1]}", Method.AUTO))
    seeds = wish.seeds or tuple(range(1, 11))
    return Plan(Suite.GENERALIZATION, groups, seeds, references=("sol", "B2"))


def _speed(wish: Wish) -> Plan:
    wish.refuse(Suite.SPEED, "folder")
    ours = tuple(m for m in Method if m is not Method.NATIVE_N2S)  # which needs a network named
    groups = [
        Group(_title(variant, size), wish.generated(size, variant, 1), wish.entries(ours))
        for variant in wish.variants or tuple(Variant)
        for size in wish.nodes or SIZES
    ]
    return Plan(Suite.SPEED, groups, wish.seeds or (1,))


_PLANNERS: dict[Suite, Callable[[Wish], Plan]] = {
    Suite.UNIFORM: _uniform,
    Suite.FILES: _files,
    Suite.PAPER: _paper,
    Suite.ABLATION: _ablation,
    Suite.GENERALIZATION: _generalization,
    Suite.SPEED: _speed,
}

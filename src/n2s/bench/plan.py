"""What a suite comes to: groups of instances, who solves them, with which seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n2s.bench.case import Case
from n2s.bench.contender import Contender, Entry, contender


@dataclass(frozen=True)
class Group:
    """Instances whose figures belong together: one table."""

    title: str
    cases: Sequence[Case]
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Job:
    """One single run."""

    suite: str
    group: str
    case: Case
    contender: Contender
    seed: int


@dataclass(frozen=True)
class Plan:
    """All runs of a suite."""

    suite: str
    groups: Sequence[Group]
    seeds: Sequence[int]
    notes: Sequence[str] = ()
    """Rows that a table should have and cannot have yet, a sentence each."""
    references: Sequence[str] = ()
    """What the tables compare with unless told otherwise: of several, the first that one knows."""

    @property
    def cases(self) -> list[Case]:
        """All instances."""
        return [case for group in self.groups for case in group.cases]

    def jobs(self) -> Iterator[Job]:
        """All runs, instance by instance: rivals meet the same neighbours on a shared machine."""
        for group in self.groups:
            for case in group.cases:
                contenders = [contender(entry, case.instance) for entry in group.entries]
                for seed in self.seeds:
                    for rival in contenders:
                        yield Job(self.suite, group.title, case, rival, seed)

"""Records as Markdown: a table for every group, with all that is needed to believe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from n2s.bench.best_known import Best
from n2s.bench.contender import Budget
from n2s.bench.record import MISSING, OK, UNABLE, Record
from n2s.bench.statistics import SAME, bootstrap, gap, times_best
from n2s.bench.suites import Suite
from n2s.errors import InputError
from n2s.peers.lkh import PEER as LKH

DASH = "–"
LATE = 1.1
"""Times its seconds that a run may take before the report says so."""


@dataclass(frozen=True)
class Row:
    """One method with one budget in one table."""

    method: str
    budget: str
    records: tuple[Record, ...]

    @property
    def name(self) -> str:
        """As the command line spells it."""
        name, _, policy = self.method.partition("@")
        return f"{name}:{self.budget}{'@' if policy else ''}{policy}"

    @cached_property
    def solved(self) -> dict[str, list[Record]]:
        """The runs that gave a route, by instance."""
        found: dict[str, list[Record]] = {}
        for record in self.records:
            if record.status == OK:
                found.setdefault(instance_of(record), []).append(record)
        return found

    @cached_property
    def costs(self) -> dict[str, float]:
        """Mean cost over the seeds, by instance."""
        return {name: fmean(run.cost or 0.0 for run in runs) for name, runs in self.solved.items()}

    @property
    def best_costs(self) -> dict[str, float]:
        """Lowest cost over the seeds, by instance."""
        return {name: min(run.cost or 0.0 for run in runs) for name, runs in self.solved.items()}

    @property
    def failures(self) -> list[Record]:
        """Runs that were made and gave nothing that counts."""
        return [r for r in self.records if r.status not in (OK, UNABLE, MISSING)]

    @property
    def late(self) -> list[float]:
        """Seconds of the runs that took clearly more than their budget."""
        allowed = Budget.parse(self.budget).seconds
        spent = [r.seconds for r in self.records if r.status == OK and r.seconds is not None]
        return [seconds for seconds in spent if allowed is not None and seconds > LATE * allowed]

    @property
    def refusals(self) -> list[Record]:
        """Runs that could not be made."""
        return [r for r in self.records if r.status in (UNABLE, MISSING)]


@dataclass(frozen=True)
class Table:
    """Runs that can be compared: one group of instances, one machine, one number of cores."""

    suite: str
    title: str
    rows: tuple[Row, ...]
    known: Mapping[str, float]
    """Best known cost by instance."""

    @cached_property
    def records(self) -> list[Record]:
        """All runs."""
        return [record for row in self.rows for record in row.records]

    @cached_property
    def instances(self) -> list[str]:
        """Every instance that somebody was asked to solve."""
        return list(dict.fromkeys(map(instance_of, self.records)))

    @property
    def seeds(self) -> list[int]:
        """All seeds."""
        return sorted({record.seed for record in self.records})

    def published(self) -> dict[str, dict[str, float]]:
        """Costs that others stated, by who they are and by instance."""
        found: dict[str, dict[str, float]] = {}
        for record in self.records:
            for who, cost in record.published.items():
                found.setdefault(who, {})[instance_of(record)] = cost
        return found

    def reference(self, wanted: Sequence[str]) -> tuple[str, Mapping[str, float]] | None:
        """Name and costs of what the others are compared with: the first wanted one that there is.

        If nothing is wanted, it is LKH-3 with its last budget.
        """
        if not wanted:
            rows = [row for row in self.rows if row.method == LKH.name and row.costs]
            return (rows[-1].name, rows[-1].costs) if rows else None
        return next(filter(None, map(self.find, wanted)), None)

    def find(self, wanted: str) -> tuple[str, Mapping[str, float]] | None:
        """Name and costs of a row, or of what was published.

        A name may leave out budget and policy, and the end of a published name, as long as one fits.
        """
        named = {row.name: row.costs for row in self.rows} | self.published()
        fitting = [name for name in named if name == wanted]
        fitting = fitting or [row.name for row in self.rows if _means(wanted, row)]
        fitting = fitting or [name for name in self.published() if name.startswith(wanted)]
        if len(fitting) > 1:
            raise InputError(
                f"the reference {wanted!r} could be any of {', '.join(fitting)} ({self.title})"
            )
        return (fitting[0], named[fitting[0]]) if fitting else None


def instance_of(record: Record) -> str:
    """Name and fingerprint: two files may hold one problem, and one name may come back."""
    return f"{record.instance} {record.hash}"


def tables(records: Iterable[Record], best: Mapping[str, Best]) -> list[Table]:
    """The tables of a run folder, in the order in which they were begun."""
    # Of a policy that was trained again, what it found before does not count any more.
    records = list({replace(record, policy="").key: record for record in records}.values())
    known = {fingerprint: entry.cost for fingerprint, entry in best.items()}
    for record in records:
        if record.cost is not None:
            known[record.hash] = min(record.cost, known.get(record.hash, record.cost))
    groups: dict[tuple[str, ...], dict[tuple[str, str], list[Record]]] = {}
    for record in records:
        group = (record.suite, record.group, str(record.cores), record.hardware)
        rows = groups.setdefault(group, {})
        rows.setdefault((record.method, record.budget), []).append(record)
    made = []
    for (suite, title, *_), content in groups.items():
        every = [record for runs in content.values() for record in runs]
        of_instance = {instance_of(r): known[r.hash] for r in every if r.hash in known}
        rows_made = tuple(Row(*name, tuple(runs)) for name, runs in content.items())
        made.append(Table(suite, title, rows_made, of_instance))
    return made


def markdown(
    found: Sequence[Table],
    references: Sequence[str] = (),
    default: Sequence[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """The whole report, compared with references that must be there, or by default with some that may.

    Raises
    ------
    InputError
        If there is nothing to report, or no table knows a reference.
    """
    if not found:
        raise InputError("there are no runs to report")
    for reference in references:
        if all(table.find(reference) is None for table in found):
            names = dict.fromkeys(
                name for t in found for name in [*(row.name for row in t.rows), *t.published()]
            )
            raise InputError(f"there is no reference {reference!r}, only {', '.join(names)}")
    blocks: list[str] = []
    speed = [table for table in found if table.suite == Suite.SPEED]
    for table in found:
        if table.suite != Suite.SPEED:
            blocks += [
                f"### {table.suite}: {table.title}",
                _facts(table),
                *_compared(table, references or default),
            ]
    if speed:
        blocks += [f"### {Suite.SPEED}", _facts(*speed), _paces(speed)]
        # By title: the tables of this suite are columns of one.
        remarks = [f"* {table.title}: {remark}" for table in speed for remark in _remarks(table)]
        blocks += ["\n".join(remarks)] if remarks else []
    blocks += [_footing(found), *notes]
    return "\n\n".join(blocks) + "\n"


# --- one table -------------------------------------------------------------------------------


def _compared(table: Table, wanted: Sequence[str]) -> Iterator[str]:
    reference = table.reference(wanted)
    best = times_best({row.name: row.costs for row in table.rows})
    several = len(table.seeds) > 1
    head = ["method", "budget", "solved", "mean cost", "gap to best known", "worst gap", "best"]
    if several:
        head.insert(5, f"best of {len(table.seeds)}")
    if reference:
        head += [f"gap to {reference[0]}", "95 % interval"]
    head += ["s per run", "failed"]
    lines = [_cells(head), _cells([":--", *["--:"] * (len(head) - 1)])]
    for row in table.rows:
        cells = [row.method, Budget.parse(row.budget).words]
        if not row.costs:
            dashes = len(head) - len(cells) - 1
            lines.append(_cells([*cells, *[DASH] * dashes, str(len(row.failures) or DASH)]))
            continue
        gaps = [gap(cost, table.known[name]) for name, cost in row.costs.items()]
        cells += [
            f"{len(row.costs)} of {len(table.instances)}",
            f"{fmean(row.costs.values()):.6g}",
            _percent(fmean(gaps)),
        ]
        if several:
            lows = [gap(cost, table.known[name]) for name, cost in row.best_costs.items()]
            cells.append(_percent(fmean(lows)))
        cells += [_percent(max(gaps)), str(best[row.name])]
        if reference:
            cells += _beside(row, *reference)
        seconds = [run.seconds or 0.0 for runs in row.solved.values() for run in runs]
        cells += [f"{fmean(seconds):.2f}", str(len(row.failures))]
        lines.append(_cells(cells))
    yield "\n".join(lines)
    remarks = list(_remarks(table))
    if remarks:
        yield "\n".join(f"* {remark}" for remark in remarks)


def _beside(row: Row, name: str, costs: Mapping[str, float]) -> list[str]:
    """Mean gap to the reference on the instances that both solved, and its interval."""
    if row.name == name:
        return [DASH, DASH]
    differences = [gap(cost, costs[key]) for key, cost in row.costs.items() if key in costs]
    if not differences:
        return [DASH, DASH]
    if len(differences) == 1:  # of which nothing can be said
        return [_percent(differences[0]), DASH]
    low, high = bootstrap(differences)
    return [_percent(fmean(differences)), f"{_percent(low)} to {_percent(high)}"]


def _remarks(table: Table) -> Iterator[str]:
    """What a reader must know about single rows: refusals, failures, lateness, policies."""
    for row in table.rows:
        for reason, count in Counter(record.reason for record in row.refusals).items():
            every = count == len(row.records)
            yield reason if every else f"{reason} ({count} of {len(row.records)} runs)"
        if row.failures:
            kinds = Counter(record.status for record in row.failures)
            listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            yield (
                f"{row.method} failed in {len(row.failures)} of {len(row.records)} runs ({listed}); "
                f"the first: {row.failures[0].reason}"
            )
        if row.late:
            solved = sum(map(len, row.solved.values()))
            yield (
                f"{row.method} took longer than its {Budget.parse(row.budget).words} in "
                f"{len(row.late)} of {solved} runs, up to {max(row.late):.1f} s."
            )
    yield from _stand_ins(table.records)


def _stand_ins(records: Iterable[Record]) -> Iterator[str]:
    """Which checkpoints are missing, and what was used instead."""
    sizes: dict[tuple[str, str, str], set[int]] = {}
    for record in records:
        if record.stand_in:
            method = record.method.partition("@")[0]
            sizes.setdefault((method, record.variant, record.policy), set()).add(record.nodes)
    for (method, variant, policy), missing in sizes.items():
        listed = ", ".join(map(str, sorted(missing)))
        yield (
            f"There is no checkpoint for {variant} trained at {listed} nodes yet: "
            f"{method} used the policy {policy}."
        )


def _facts(*found: Table) -> str:
    """How many, where, when, by which command."""
    records = [record for table in found for record in table.records]
    instances = {name for table in found for name in table.instances}
    seeds = sorted({record.seed for record in records})
    first, last = min(r.date for r in records)[:10], max(r.date for r in records)[:10]
    cores = records[0].cores
    commands = dict.fromkeys(record.command for record in records if record.command)
    return (
        f"{_counted(len(instances), 'instance')}, {_counted(len(seeds), 'seed')}, "
        f"{_counted(cores, 'core')} a run; {records[0].hardware}; "
        f"{first if first == last else f'{first} to {last}'}"
        + "".join(f"; `{command}`" for command in commands)
        + "."
    )


# --- the suite speed -------------------------------------------------------------------------


def _paces(found: Sequence[Table]) -> str:
    """Steps a second by method and instance size, and the seconds until the first route."""
    head = ["method", *(table.title for table in found)]
    lines = [_cells(head), _cells([":--", *["--:"] * len(found)])]
    methods = dict.fromkeys(row.method for table in found for row in table.rows)
    for method in methods:
        cells = [method]
        for table in found:
            runs = [r for r in table.records if r.method == method and r.status == OK]
            paces = [run.pace for run in runs if run.pace is not None]
            starts = [run.history[0][1] for run in runs if run.history]
            pace = f"{fmean(paces):,.0f}" if paces else DASH
            cells.append(f"{pace} ({fmean(starts):.1f} s)" if starts else pace)
        lines.append(_cells(cells))
    return (
        "Steps a second once the search runs (and seconds until the first route, start-up and all). "
        "A step of n2s-a moves all its copies.\n\n" + "\n".join(lines)
    )


# --- words -----------------------------------------------------------------------------------


def _footing(found: Sequence[Table]) -> str:
    """The rules of the game."""
    records = [record for table in found for record in table.records]
    most = max(record.processes for record in records)
    at_once = (
        "one run at a time" if most == 1 else f"up to {most} runs at a time, on cores of their own"
    )
    software = sorted(
        {
            f"{r.method.partition('@')[0]}: {r.software}{f' with {r.policy}' if r.policy else ''}"
            for r in records
            if r.software
        }
    )
    scales = sorted({record.scale for record in records if record.scale != 1.0})
    scaled = (
        f" Peers calculate with whole numbers: distances were multiplied by "
        f"{', '.join(f'{scale:g}' for scale in scales)} for them."
        if scales
        else ""
    )
    versions = "; ".join(sorted({record.versions for record in records}))
    return (
        f"Equal footing: every run is a fresh process pinned to its cores, {at_once}; seconds are wall "
        "clock from the start of that process, and a budget in seconds counts them all (hgs and "
        "ruin-recreate know whole seconds of processor time only, rounded up). Our kernels were "
        "compiled and cached on disk before the first timed run. Costs are those of the judge, in the "
        f"instance's own distances; a route that it refuses counts as failed, never as a result.{scaled} "
        "Costs and gaps are means over the instances that a row solved, of several seeds the mean of "
        "each instance's; the gap to another row is over the instances that both solved, its interval a "
        "paired bootstrap over them; `best` counts the instances on which no other row was cheaper (ties "
        "count for all). "
        f"Versions: {versions}. Solvers: {', '.join(software)}."
    )


def _means(wanted: str, row: Row) -> bool:
    """Whether NAME[:BUDGET][@POLICY] with parts left out means this row."""
    rest, _, policy = wanted.partition("@")
    name, _, budget = rest.partition(":")
    own, _, own_policy = row.method.partition("@")
    return name == own and budget in ("", row.budget) and policy in ("", own_policy)


def _cells(values: Iterable[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"


def _percent(share: float) -> str:
    value = 0.0 if abs(share) < SAME else 100 * share
    return f"{value:.2f} %"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

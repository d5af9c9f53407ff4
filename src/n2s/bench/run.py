"""Run a plan: every run in a fresh process on cores of its own, on record when it ends, resumable."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from n2s import peers
from n2s.bench.best_known import FILE as BEST
from n2s.bench.best_known import Best, BestKnown
from n2s.bench.hardware import hardware, versions
from n2s.bench.plan import Job, Plan
from n2s.bench.record import MISSING, OK, UNABLE, Log, Record
from n2s.errors import InputError
from n2s.peers.base import PeerCancelled
from n2s.search.interrupt import Interrupt

LIMIT = 3600.0
"""Seconds after which a run with a number of steps is ended."""
WARM_STEPS = 50
"""Of the untimed runs that have our kernels compiled and cached: enough to call each of them."""
WARM_LIMIT = 1800.0


@dataclass(frozen=True)
class Settings:
    """How runs are made, whatever they are."""

    folder: Path
    cores: int = 1
    """Of each run."""
    processes: int = 1
    """Runs at a time."""
    limit: float | None = None
    """Wall-clock seconds after which a run is ended; default: its seconds and a minute, or an hour."""
    best_known: Path | None = None
    """A file of best routes to share with other folders, beside the one that each has."""
    command: str = ""

    def slots(self) -> list[list[int]]:
        """Cores for each of the processes."""
        if hasattr(os, "sched_getaffinity"):
            available = sorted(os.sched_getaffinity(0))
        else:
            available = list(range(os.cpu_count() or 1))
        for name in ("cores", "processes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.cores * self.processes > len(available):
            raise InputError(
                f"{self.processes} processes of {self.cores} cores each need more than the "
                f"{len(available)} cores there are, and none would be measured fairly"
            )
        return [
            available[self.cores * slot : self.cores * (slot + 1)] for slot in range(self.processes)
        ]


class Outcome(NamedTuple):
    """How a bench ended."""

    made: int
    """Runs made now; those that were on record already are not among them."""
    interrupted: bool


def run(
    plan: Plan, settings: Settings, tell: Callable[[str], None], interrupt: Interrupt
) -> Outcome:
    """Make all runs that are not on record yet.

    ``tell`` gets a line for each of them. An interrupt ends what is running, which leaves no record.
    """
    slots: SimpleQueue[list[int]] = SimpleQueue()
    for slot in settings.slots():
        slots.put(slot)
    own = BestKnown(settings.folder / BEST)
    best = BestKnown(settings.best_known) if settings.best_known else own
    with Log(settings.folder) as log:
        best.verify(plan.cases)
        best.improve(_published(plan))
        machine = Machine(settings, hardware(), versions())
        pending = [job for job in plan.jobs() if machine.record(job).key not in log.done]
        made = 0
        with ThreadPoolExecutor(settings.processes, initializer=lambda: _pin(slots.get())) as pool:
            try:
                _warm(pool, pending, machine, tell, interrupt)
                futures = [pool.submit(machine.make, job, interrupt) for job in pending]
                for result in (future.result() for future in as_completed(futures)):
                    if result is None:
                        continue
                    record, found = result
                    if found is not None:  # first: a run on record is never made again
                        best.improve({record.hash: found})
                    log.append(record)
                    made += 1
                    tell(f"{made}/{len(pending)}  {_line(record)}")
            except BaseException:
                interrupt.asked = True  # or the pool would make all other runs before it lets go
                raise
        shared = best.read()
        own.improve(
            {c.fingerprint: shared[c.fingerprint] for c in plan.cases if c.fingerprint in shared}
        )
    return Outcome(made, interrupt.asked)


@dataclass(frozen=True)
class Machine:
    """Makes single runs, and says where and with what."""

    settings: Settings
    hardware: str
    versions: str

    def record(self, job: Job) -> Record:
        """The record of a job, as far as it is known without its solution."""
        return Record(
            suite=job.suite,
            group=job.group,
            instance=job.case.name,
            hash=job.case.fingerprint,
            nodes=job.case.instance.size,
            variant=job.case.instance.variant.value,
            method=job.contender.label,
            budget=str(job.contender.budget),
            seed=job.seed,
            cores=self.settings.cores,
            status=OK,
            policy=job.contender.policy,
            stand_in=job.contender.stand_in,
            published=dict(job.case.published),
            processes=self.settings.processes,
            versions=self.versions,
            hardware=self.hardware,
            date=_now(),
            command=self.settings.command,
        )

    def make(self, job: Job, interrupt: Interrupt) -> tuple[Record, Best | None] | None:
        """Run a job; None if it was interrupted."""
        if interrupt.asked:
            return None
        budget = job.contender.budget
        limit = self.settings.limit
        if limit is None and budget.seconds is None:
            limit = LIMIT
        begun = replace(self.record(job), software=job.contender.peer.software)
        try:
            found = peers.solve(
                job.case.instance,
                job.contender.peer,
                wall=budget.seconds,
                trials=budget.steps,
                seed=job.seed,
                cores=self.settings.cores,
                limit=limit,
                cancelled=lambda: interrupt.asked,
            )
        except PeerCancelled:
            return None
        except peers.PeerUnable as error:
            return replace(begun, status=UNABLE, reason=str(error)), None
        except peers.PeerMissing as error:
            return replace(begun, status=MISSING, reason=str(error)), None
        except peers.PeerFailed as error:
            return replace(begun, status=error.kind.value, reason=str(error)), None
        record = replace(
            begun,
            cost=found.cost,
            seconds=round(found.seconds, 3),
            steps=found.steps or None,
            pace=found.pace,
            history=[[step, round(seconds, 3), best] for step, seconds, best in found.history],
            scale=found.scale,
        )
        nodes = found.evaluation.nodes
        return record, Best(found.cost, nodes, job.case.name, record.method, record.date)


def _pin(cores: Sequence[int]) -> None:
    """Keep this thread, and so the processes it starts, on its own cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def _warm(
    pool: ThreadPoolExecutor,
    pending: Sequence[Job],
    machine: Machine,
    tell: Callable[[str], None],
    interrupt: Interrupt,
) -> None:
    """Have our kernels compiled and cached on disk before anything is timed.

    Which kernels are called depends on the loading rule and on the length of the tour.
    """
    first: dict[tuple[str, str, int], Job] = {}
    for job in sorted(pending, key=lambda job: job.case.instance.size):
        if job.contender.peer.exact:
            instance = job.case.instance
            first.setdefault((job.contender.label, instance.variant.value, instance.size), job)
    for job in first.values():
        if interrupt.asked:
            return
        instance = job.case.instance
        tell(f"warming up {job.contender.label} for {instance.variant}, {instance.size} nodes")
        # In a thread of the pool, which has the cores.
        pool.submit(_ask, job, machine.settings.cores, interrupt).result()


def _ask(job: Job, cores: int, interrupt: Interrupt) -> None:
    with suppress(peers.PeerError):  # the run that counts will tell
        peers.solve(
            job.case.instance,
            job.contender.peer,
            trials=WARM_STEPS,
            wall=WARM_LIMIT,  # beside the steps: against the clock, further kernels are called
            cores=cores,
            cancelled=lambda: interrupt.asked,
        )


def _published(plan: Plan) -> dict[str, Best]:
    """The verified routes that lie beside instances."""
    return {
        case.fingerprint: Best(case.published["sol"], case.route, case.name, "sol", _now())
        for case in plan.cases
        if case.route
    }


def _line(record: Record) -> str:
    what = f"{record.instance}  {record.method}:{record.budget}  seed {record.seed}  "
    if record.status != OK:
        return f"{what}{record.status}: {record.reason}"
    return f"{what}{record.cost:.8g}  {record.seconds:.1f} s"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

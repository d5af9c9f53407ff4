"""What the figures of a run folder show."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from n2s.bench.report import Row, Table, instance_of
from n2s.bench.statistics import gap, gap_over_time, profile
from n2s.report.benchmark import Panel

POINTS = 200
"""Of a curve."""
BEYOND = 0.001
"""The least gap a profile reaches."""


def over_time(tables: Sequence[Table]) -> list[Panel]:
    """A curve for each method that tells its improvements, a point for each that does not."""
    panels = []
    for table in tables:
        lines = {row.name: _course(row, table) for row in table.rows if row.costs}
        panels.append(Panel(f"{table.suite}: {table.title}", lines))
    return panels


def profiles(tables: Sequence[Table]) -> list[Panel]:
    """The share of instances solved within every gap that occurs."""
    panels = []
    for table in tables:
        solved = [row for row in table.rows if row.costs]
        best = {name: table.known[name] for name in table.instances if name in table.known}
        every = {gap(cost, best[name]) for row in solved for name, cost in row.costs.items()}
        gaps = sorted({0.0} | {value for value in every if value < float("inf")})
        gaps.append(max(BEYOND, 1.2 * gaps[-1]))  # so that the last step is seen
        lines = {row.name: (gaps, profile(row.costs, best, gaps)) for row in solved}
        panels.append(Panel(f"{table.suite}: {table.title}", lines))
    return panels


def _course(row: Row, table: Table) -> tuple[list[float], list[float]]:
    runs = [run for several in row.solved.values() for run in several]
    best = [table.known[instance_of(run)] for run in runs]
    if not all(run.history for run in runs):
        gaps = [gap(run.cost or 0.0, reference) for run, reference in zip(runs, best, strict=True)]
        return [fmean(run.seconds or 0.0 for run in runs)], [fmean(gaps)]
    histories = [[(point[1], point[2]) for point in run.history] for run in runs]
    begun = max(history[0][0] for history in histories)  # before, some have no route yet
    ended = max(run.seconds or 0.0 for run in runs)
    times = np.linspace(begun, max(begun, ended), POINTS).tolist()
    return times, gap_over_time(histories, best, times).tolist()

"""LKH-3: the program ``LKH`` where it is on the PATH, else the PyPI package LKHpy."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from n2s.peers.base import Answer, NoRoute, Peer, Task
from n2s.problem import Variant

EXECUTABLE = "LKH"
TYPES = {Variant.PDTSP: "PDTSP", Variant.LIFO: "PDTSPL"}
ENDLESS = 1_000_000_000  # trials, where seconds are the budget
_LENGTH = re.compile(r"Length = (\d+)")


def solve(task: Task) -> Answer:
    """Solve with one run of LKH-3's special move for such problems."""
    parameters = task.folder / "task.par"
    tour = task.folder / "tour.txt"
    (task.folder / "task.pdtsp").write_text("\n".join(_problem(task)))
    parameters.write_text("\n".join(_parameters(task, tour)))
    program = shutil.which(EXECUTABLE)
    if program:
        subprocess.run([program, str(parameters)], stdin=subprocess.DEVNULL, check=True)
    else:
        import LKHpy

        # Raised after the tour was written: the library expects the nodes of a TSP.
        with suppress(IndexError):
            LKHpy.par_file(str(parameters))
    if not tour.exists():  # it writes feasible ones only
        raise NoRoute
    return _read(tour)


def _parameters(task: Task, tour: Path) -> Iterator[str]:
    yield "SPECIAL"
    yield f"PROBLEM_FILE = {task.folder / 'task.pdtsp'}"
    yield f"OUTPUT_TOUR_FILE = {tour}"
    yield "RUNS = 1"
    yield f"SEED = {task.seed}"
    yield f"MAX_TRIALS = {task.trials or ENDLESS}"
    if task.seconds is not None:
        yield f"TIME_LIMIT = {task.seconds}"
    yield "TRACE_LEVEL = 0"
    yield ""


def _problem(task: Task) -> Iterator[str]:
    yield "NAME : task"
    yield f"TYPE : {TYPES[task.variant]}"
    yield f"DIMENSION : {task.size}"
    if task.coordinates is not None:
        yield "EDGE_WEIGHT_TYPE : EUC_2D"
        yield "NODE_COORD_SECTION"
        for number, (x, y) in enumerate(task.coordinates.tolist(), start=1):
            yield f"{number} {x!r} {y!r}"
    else:
        yield "EDGE_WEIGHT_TYPE : EXPLICIT"
        yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
        yield "EDGE_WEIGHT_SECTION"
        for row in task.matrix():
            yield " ".join(map(str, row.tolist()))
    # id demand early late service pickup delivery, counted from 1
    yield "PICKUP_AND_DELIVERY_SECTION"
    yield "1 0 0 0 0 0 0"
    for pickup, delivery in task.pairs:
        yield f"{pickup + 1} 1 0 0 0 0 {delivery + 1}"
    for pickup, delivery in task.pairs:
        yield f"{delivery + 1} -1 0 0 0 {pickup + 1} 0"
    yield from ("DEPOT_SECTION", "1", "-1", "EOF", "")


def _read(tour: Path) -> Answer:
    """The tour in a TSPLIB file, turned so that the depot comes first."""
    head, _, body = tour.read_text().partition("TOUR_SECTION")
    nodes = [int(number) - 1 for number in body.split("-1")[0].split()]
    depot = nodes.index(0)
    length = _LENGTH.search(head)
    return Answer(nodes[depot:] + nodes[:depot], float(length[1]) if length else None)


PEER = Peer("lkh", "LKHpy", solve, takes_trials=True, executable=EXECUTABLE)

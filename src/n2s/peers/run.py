"""Ask a peer: in a process of its own, on so many cores, with a hard limit, and judge what it says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n2s import formats
from n2s.errors import InputError, printable
from n2s.peers.base import (
    FROM_HERE,
    INSTANCE,
    Kind,
    Peer,
    PeerCancelled,
    PeerFailed,
    PeerMissing,
    PeerUnable,
    Task,
    scaled,
)
from n2s.peers.registry import find
from n2s.problem import Evaluation, Instance, evaluate_nodes
from n2s.search.result import HistoryPoint, Solution

GRACE = 60.0
"""Seconds beyond its limit after which a peer is ended: some count processor time, which can be slow."""
LOOK = 0.2
"""Seconds between two looks whether the answer is still wanted."""
DIGITS = 1e-5
"""How far the cost a peer says may be off, beyond half a unit an arc: some print six digits."""


@dataclass(frozen=True)
class PeerSolution(Solution):
    """The verified route of a peer; ``seconds`` is the wall clock of its process with its start-up."""

    scale: float = 1.0
    """What the instance's distances were multiplied by to make the peer's whole numbers."""
    cores: int = 1
    software: str = ""
    pace: float | None = None
    """Steps a second once its search ran, where it says so."""

    @property
    def record(self) -> dict[str, object]:
        """How the route was found, as the files hold it."""
        own = {"scale": self.scale, "cores": self.cores, "software": self.software}
        return {**super().record, **own}


def solve(
    instance: Instance,
    peer: Peer | str,
    *,
    seconds: float | None = None,
    trials: int | None = None,
    wall: float | None = None,
    seed: int = 1,
    cores: int = 1,
    limit: float | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> PeerSolution:
    """Let a peer search a route.

    Parameters
    ----------
    seconds, trials
        The budget, in the peer's own way of counting: its search alone, without its start-up. At least
        one of them; whole seconds where the peer knows no others (rounded up).
    wall
        Instead of ``seconds``: those of its process. Its search gets what its start-up leaves.
    limit
        Seconds of wall clock after which the process is ended; default the budget and a minute.
    cancelled
        Asked now and then; once it says yes, the process is ended.

    Raises
    ------
    PeerMissing
        If it is not installed.
    PeerUnable
        If it cannot do this problem.
    PeerFailed
        If it crashes, hangs, breaks a rule of the problem or states a cost that its route does not have.
    PeerCancelled
        If it was cancelled.
    """
    peer = find(peer) if isinstance(peer, str) else peer
    limit = _limit(seconds, trials, wall, limit)
    _check_cores(cores)
    tight = instance.capacity is not None and instance.weights.sum() > instance.capacity
    if tight and not peer.exact:
        raise PeerUnable(f"{peer.name} is not told of capacities, and this one matters")
    with tempfile.TemporaryDirectory(prefix="n2s-peer-", ignore_cleanup_errors=True) as name:
        scale, coordinates, costs = (1.0, None, None) if peer.exact else scaled(instance)
        task = Task(
            instance.variant,
            scale,
            coordinates,
            costs,
            seconds,
            trials,
            seed,
            cores,
            Path(name),
            wall,
            options=peer.options,
        )
        peer.check(task)
        task.save()
        if peer.exact:
            formats.write(instance, task.folder / INSTANCE)
        said, elapsed = _ask(peer, task, limit, cancelled)
    return PeerSolution(
        _judged(instance, peer, said, scale),
        method=peer.name,
        seed=seed,
        steps=said["steps"] or trials or 0,
        seconds=elapsed,
        stopped="steps" if seconds is None and wall is None else "time",
        history=tuple(HistoryPoint(*point) for point in said["history"]),
        checkpoint=said["policy"],
        scale=scale,
        cores=cores,
        software=peer.software,
        pace=said["pace"],
    )


def _limit(
    seconds: float | None, trials: int | None, wall: float | None, limit: float | None
) -> float:
    if seconds is None and trials is None and wall is None:
        raise InputError("a peer needs seconds or trials")
    if seconds is not None and wall is not None:
        raise InputError("a peer takes seconds of its search or of its process, not both")
    given = {"seconds": seconds, "trials": trials, "wall": wall, "limit": limit}
    for what, value in given.items():
        if value is not None and not value > 0:
            raise InputError(f"{what} must be positive, not {value}")
    if limit is not None:
        return limit
    longest = wall if seconds is None else seconds
    if longest is None:
        raise InputError("trials need a limit in seconds after which the peer is ended")
    return longest + GRACE


def _check_cores(cores: int) -> None:
    pinnable = hasattr(os, "sched_getaffinity")
    available = len(os.sched_getaffinity(0)) if pinnable else os.cpu_count() or 1
    if not 1 <= cores <= available:
        raise InputError(f"the number of cores must be 1 to {available}, not {cores}")


def _ask(
    peer: Peer, task: Task, limit: float, cancelled: Callable[[], bool] | None
) -> tuple[Mapping[str, Any], float]:
    """What the peer's process wrote, and its seconds from start to end."""
    address = f"{peer.solve.__module__}:{peer.solve.__name__}"
    log = task.folder / "log.txt"
    # Libraries put their files here, and whatever is left of them goes with the folder.
    environment = {**os.environ, "TMPDIR": str(task.folder)}
    begun = time.monotonic()
    command = [sys.executable, "-m", "n2s.peers.child", address, str(task.folder), repr(begun)]
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )
        try:
            code = _wait(process, peer, limit, cancelled)
        finally:
            elapsed = time.monotonic() - begun
            _end(process)
    answer = task.folder / "answer.json"
    if code != 0 or not answer.exists():
        how = signal.strsignal(-code) if code < 0 else f"exit code {code}"
        raise PeerFailed(Kind.CRASH, f"{peer.name} crashed with {how}: {_last_line(log)}")
    said: dict[str, Any] = json.loads(answer.read_text())
    if "missing" in said:
        raise PeerMissing(f"{peer.name} is not installed ({said['missing']}): {FROM_HERE}")
    if "unable" in said:
        raise PeerUnable(said["unable"])
    if "infeasible" in said:
        raise PeerFailed(Kind.INFEASIBLE, f"{peer.name} {said['infeasible']}")
    return said, elapsed


def _wait(
    process: subprocess.Popen[bytes],
    peer: Peer,
    limit: float,
    cancelled: Callable[[], bool] | None,
) -> int:
    """The exit code of the process, if it ends in time."""
    deadline = time.monotonic() + limit
    while (left := deadline - time.monotonic()) > 0:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, LOOK))
        if cancelled is not None and cancelled():
            raise PeerCancelled(f"{peer.name} was ended: nobody waits for its answer any more")
    message = f"{peer.name} was ended: it gave no answer within {limit:g} seconds"
    raise PeerFailed(Kind.HANG, message)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it has started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # the last has gone by itself
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return printable(said[-1][:200]) if said else "it said nothing"


def _judged(instance: Instance, peer: Peer, said: Mapping[str, Any], scale: float) -> Evaluation:
    """The judge's verdict on the route, the depot at its ends or not."""
    stops = list(said["nodes"])
    if stops[:1] == [0]:
        del stops[0]
    if stops[-1:] == [0]:
        del stops[-1]
    strange = [node for node in stops if not 0 <= node < instance.size]
    if strange:
        raise PeerFailed(Kind.INFEASIBLE, f"{peer.name} visits node {strange[0]}, which is none")
    evaluation = evaluate_nodes(instance, [0, *stops])
    if not evaluation.feasible:
        broken = evaluation.violations[0].message
        raise PeerFailed(Kind.INFEASIBLE, f"the route of {peer.name} is infeasible: {broken}")
    claimed = said["cost"]
    if claimed is not None:
        rounded = 0.0 if peer.exact else 0.5 * instance.size / scale
        slack = rounded + DIGITS * evaluation.cost
        if not abs(claimed / scale - evaluation.cost) <= slack:
            raise PeerFailed(
                Kind.LIED,
                f"{peer.name} says cost {claimed / scale:g}, its route has {evaluation.cost:g}",
            )
    return evaluation

"""Our own methods as peers: asked in the same way, in processes of the same kind."""

from __future__ import annotations

import time

from n2s.errors import InputError
from n2s.peers.base import Answer, Peer, PeerUnable, Task
from n2s.search.options import Method
from n2s.search.tick import Tick


class Pace:
    """Steps a second between the first and the last look at a search."""

    def __init__(self) -> None:
        self.first: Tick | None = None
        self.last: Tick | None = None

    def __call__(self, tick: Tick) -> None:
        self.first = self.first or tick
        self.last = tick

    @property
    def value(self) -> float | None:
        """None while there is no stretch of time to divide by."""
        if self.first is None or self.last is None or self.last.seconds <= self.first.seconds:
            return None
        return (self.last.step - self.first.step) / (self.last.seconds - self.first.seconds)


def solve(task: Task) -> Answer:
    """Search as ``n2s.solve`` does, counting time from the start of the process."""
    from n2s.search import solve as search

    instance = task.instance()
    method = Method(task.options["method"])
    seconds = task.seconds
    pace = Pace()
    try:
        found = search.solve(
            instance,
            method=method,
            time_limit=None if seconds is None else time.monotonic() - task.begun + seconds,
            steps=task.trials,
            seed=task.seed,
            checkpoint=task.options.get("checkpoint"),
            threads=None if method.neural else task.cores,
            callback=pace,
            started=task.begun,
        )
    except InputError as error:
        raise PeerUnable(f"{method} cannot do this: {error}") from error
    return Answer(
        list(found.evaluation.nodes),
        found.cost,
        found.steps,
        pace.value,
        found.history,
        found.checkpoint,
    )


def our_peer(method: Method, checkpoint: str | None) -> Peer:
    """One of our methods behind the face of a peer."""
    options = {"method": method.value}
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    return Peer(method.value, "n2s", solve, takes_trials=True, exact=True, options=options)

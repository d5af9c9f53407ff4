"""The step loop: observe, decide, apply, remember the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from n2s.model import Decision, Observation
from n2s.search.interrupt import Interrupt
from n2s.search.result import HistoryPoint
from n2s.search.state import SearchState
from n2s.search.stop import Standing, Stop
from n2s.search.tick import Tick


class Decider(Protocol):
    """Chooses moves: a policy or its fast snapshot."""

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        """One move for every tour."""


@dataclass(frozen=True)
class Outcome:
    """How the loop ended, by instance."""

    stopped: str
    histories: tuple[tuple[HistoryPoint, ...], ...]


def run(
    state: SearchState,
    decider: Decider,
    stop: Stop,
    generators: Sequence[np.random.Generator],
    started: float,
    interrupt: Interrupt,
    callback: Callable[[Tick], None] | None = None,
) -> Outcome:
    """Step until the rule says stop; ``state`` then holds the best tours.

    Every instance draws from its own generator, so that its result does not depend on its companions.
    The rule is asked about all instances together: the sum of their best costs, any one's improvement.
    """
    instances = len(generators)
    copies = len(state.tours) // instances
    best = state.best.reshape(instances, copies).min(1)
    histories = [[HistoryPoint(0, time.monotonic() - started, float(cost))] for cost in best]
    improved_at = 0
    while True:
        seconds = time.monotonic() - started
        standing = Standing(state.step, seconds, float(best.sum()), improved_at)
        reason = "interrupted" if interrupt.asked else stop.reason(standing)
        if reason is not None:
            return Outcome(reason, tuple(map(tuple, histories)))
        share = stop.share(standing)
        state.used[:] = state.first + (1.0 - state.first) * share
        if share > 0 and state.step > 0:
            state.total[:] = state.step / share
        uniforms = np.concatenate([generator.random((copies, 2)) for generator in generators])
        state.apply(decider.act(state.observe(), torch.from_numpy(uniforms)))
        now = state.best.reshape(instances, copies).min(1)
        seconds = time.monotonic() - started
        for index in np.flatnonzero(now < best):
            improved_at = state.step
            histories[index].append(HistoryPoint(state.step, seconds, float(now[index])))
        best = now
        if callback is not None:
            tour = state.best_tours[state.best.argmin()].copy() if instances == 1 else None
            callback(Tick(state.step, seconds, float(best.sum()), float(state.current.min()), tour))

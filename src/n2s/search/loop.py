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
from n2s.search.rounds import Rounds
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
    rounds: Rounds | None = None,
) -> Outcome:
    """Step until the rule says stop; ``state`` then holds the best tours.

    Every instance draws from its own generator, so that its result does not depend on its companions.
    The rule is asked about all instances together: the sum of their best costs, any one's improvement.
    The policy is told how much of the budget is used, or of a round of it.
    """
    instances = len(generators)
    copies = len(state.tours) // instances
    best = state.best.reshape(instances, copies).min(1)
    histories = [[HistoryPoint(0, time.monotonic() - started, float(cost))] for cost in best]
    improved_at, begun = 0, time.monotonic() - started
    while True:
        seconds = time.monotonic() - started
        standing = Standing(state.step, seconds, float(best.sum()), improved_at, begun)
        reason = "interrupted" if interrupt.asked else stop.reason(standing)
        if reason is not None:
            return Outcome(reason, tuple(map(tuple, histories)))
        share = stop.share(standing)
        left = stop.left(standing)
        used, total = share, None if left is None else state.step + left
        if rounds is not None:
            if rounds.begins(state.step, left):
                draws = [rounds.draw(generator, copies) for generator in generators]
                state.begin_round(rounds.share, np.concatenate(draws))
            used, total = rounds.used(state.step), rounds.length
        state.used[:] = state.first + (1.0 - state.first) * used
        if total is not None:
            state.total[:] = total
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

"""What a process learns from: batches of instances, the searches on them, and rollouts of n steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from n2s.problem.distance import FloatArray
from n2s.search.loop import Decider
from n2s.search.state import SearchState
from n2s.train.config import TrainConfig
from n2s.train.rollout import Rollout
from n2s.train.starts import draw_points, search_state, start_tours

Generators = dict[str, Any]
"""Their states, as JSON holds them."""
Search = dict[str, np.ndarray]
"""The points and the memory of searches in progress; empty between two episodes."""


class Episodes:
    """One episode after the other: T_train steps on a new batch of instances."""

    def __init__(self, config: TrainConfig, rank: int, device: torch.device) -> None:
        self._config = config
        self._device = device
        seed = config.data.seed
        self._data = np.random.default_rng([seed, rank])
        self._schedule = np.random.default_rng([seed, 2**32])  # the same in every process
        self._points: FloatArray | None = None
        self._state: SearchState | None = None
        self._rollout: Rollout | None = None

    @property
    def last(self) -> Rollout | None:
        """The rollout learned from last, if there was one."""
        return self._rollout

    @property
    def state(self) -> SearchState:
        """The searches in progress."""
        if self._state is None:
            raise TypeError("no episode has begun")
        return self._state

    @property
    def over(self) -> bool:
        """Whether the episode has made all its steps."""
        return self.state.step >= self._config.ppo.steps

    def go_on(self, decider: Decider, epoch: int, teacher: Decider | None) -> Rollout:
        """The next n steps, of a new episode if none is in progress; with a teacher, its decisions."""
        if self._state is None:
            self._begin(decider, epoch)
        rollout = self._room()
        rollout.collect(self.state, decider, self._data, teacher)
        return rollout

    def end(self) -> None:
        """Forget the instances; what was rolled out last stays."""
        self._state = self._points = None

    def _begin(self, decider: Decider, epoch: int) -> None:
        config = self._config
        index = int(self._schedule.choice(config.data.active(epoch)))
        self._points = draw_points(config.data, index, self._data)
        tours, budget = start_tours(
            config.data.variant,
            self._points,
            config.starts,
            config.starts.improvement(epoch),
            config.ppo.steps,
            decider,
            self._data,
            self._device,
        )
        self._state = search_state(config.data.variant, self._points, tours, budget)

    def _room(self) -> Rollout:
        """A rollout of the right size; the same one as long as that does not change."""
        batch, size = self.state.tours.shape
        n_step = self._config.ppo.n_step
        if self._rollout is None or not self._rollout.fits(batch, size, n_step):
            self._rollout = Rollout(batch, size, n_step, self._device)
        return self._rollout

    def memory(self) -> tuple[Generators, Search]:
        """What :meth:`recall` goes on from."""
        generators = {
            "data": self._data.bit_generator.state,
            "schedule": self._schedule.bit_generator.state,
        }
        if self._state is None or self._points is None:
            return generators, {}
        return generators, {"points": self._points, **self._state.memory()}

    def recall(self, generators: Generators, search: Search) -> None:
        """Go on where :meth:`memory` was taken."""
        self._data.bit_generator.state = generators["data"]
        self._schedule.bit_generator.state = generators["schedule"]
        self.end()
        if search:
            search = dict(search)
            self._points = search.pop("points")
            variant = self._config.data.variant
            self._state = search_state(variant, self._points, search["tours"].copy())
            self._state.recall(search)

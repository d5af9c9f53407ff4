"""n steps of a batch of searches, kept in tensors that are allocated once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from n2s.model import Decision, Observation, Progress
from n2s.model.config import FLAGS
from n2s.search.loop import Decider
from n2s.search.state import SearchState


class Rollout:
    """B x n transitions, those of an instance side by side, so that the costs are stored once."""

    def __init__(self, batch: int, size: int, n_step: int, device: torch.device) -> None:
        n = size // 2
        self.shape = batch, n_step
        self.device = device
        self._points = torch.empty(batch, n_step, size, 2, device=device)
        self._costs = np.empty((0, size, size))
        self._variant = 0
        self._tours = np.empty((batch, n_step, size), np.int64)
        self._recent = np.empty((batch, n_step, FLAGS), np.int64)
        self._frequency = torch.empty(batch, n_step, n)
        self._best = torch.empty(batch, n_step)
        self._progress: dict[str, torch.Tensor] = {}
        self._decisions = np.empty((3, batch, n_step), np.int64)
        self.log_prob = torch.empty(batch, n_step)
        """Of the decisions, when they were drawn."""
        self.rewards = torch.empty(batch, n_step)
        self.last: Observation | None = None
        """The state behind the last step, whose value stands for the future."""

    def fits(self, batch: int, size: int, n_step: int) -> bool:
        """Whether it has room for exactly this."""
        return self.shape == (batch, n_step) and self._tours.shape[-1] == size

    def collect(
        self,
        state: SearchState,
        decider: Decider,
        generator: np.random.Generator,
        teacher: Decider | None = None,
    ) -> None:
        """Fill with n steps of the policy, applied to ``state``; with a teacher, keep its decisions."""
        batch, n_step = self.shape
        for step in range(n_step):
            observation = on_device(state.observe(), self.device)
            uniforms = torch.from_numpy(generator.random((batch, 2)))
            decision = decider.act(observation, uniforms)
            kept = decision
            if teacher is not None:
                kept = teacher.act(observation, torch.from_numpy(generator.random((batch, 2))))
            self._store(step, observation, kept)
            self.rewards[:, step] = torch.from_numpy(state.apply(decision))
        self.last = on_device(state.observe(), self.device)

    def _store(self, step: int, observation: Observation, decision: Decision) -> None:
        progress = observation.progress
        if observation.costs is None or progress is None:
            raise TypeError("training needs the costs and the progress of the search")
        self._variant = observation.variant
        self._costs = observation.costs
        self._points[:, step] = observation.points
        self._tours[:, step] = observation.tours
        self._recent[:, step] = observation.recent
        self._frequency[:, step] = observation.frequency
        self._best[:, step] = observation.best
        for name, tensor in progress.by_name().items():
            if name not in self._progress:
                self._progress[name] = tensor.new_empty(
                    len(tensor), self.shape[1], *tensor.shape[1:]
                )
            self._progress[name][:, step] = tensor
        self._decisions[:, :, step] = decision.requests, decision.j, decision.k
        self.log_prob[:, step] = decision.log_prob.cpu()

    def observation(self) -> Observation:
        """All transitions as one batch (B n,)."""
        return Observation(
            variant=self._variant,
            points=self._points.flatten(0, 1),
            tours=self._tours.reshape(-1, self._tours.shape[-1]),
            frequency=self._frequency.flatten(0, 1),
            recent=self._recent.reshape(-1, FLAGS),
            best=self._best.flatten(),
            costs=self._costs,
            progress=Progress(**{name: t.flatten(0, 1) for name, t in self._progress.items()}),
        )

    def decision(self) -> Decision:
        """What was decided in them."""
        requests, j, k = self._decisions.reshape(3, -1)
        return Decision(requests, j, k, self.log_prob.flatten())


def on_device(observation: Observation, device: torch.device) -> Observation:
    """The observation with its points, which decide where a network computes, on a device."""
    if device.type == "cpu":
        return observation
    return replace(observation, points=observation.points.to(device))

"""A teacher: a native policy that says, for any state of a search, what it would do.

The paper's policy does not see costs or budgets, and learns by trial and error for days what a small
policy over exact costs knows. So the first epochs can be lessons: the pupil searches, the teacher is asked
at every step, and the pupil learns to find the teacher's answers likely. Then PPO takes over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from n2s import kernels
from n2s.errors import InputError
from n2s.model import Decision, Observation, plain
from n2s.model.prior import ReinsertionPrior, RemovalPrior, enter
from n2s.native import find as find_native
from n2s.problem import Variant
from n2s.train.config import Lessons

Blocks = Mapping[str, Sequence[float]]


class Teacher:
    """A native policy's terms for single requests, as if every search stood at one point of one budget.

    A pupil that cannot see the budget could not tell one point from another.
    """

    def __init__(self, label: str, blocks: Blocks, lessons: Lessons) -> None:
        self.label = label
        self._blocks = blocks
        self._lessons = lessons
        with torch.random.fork_rng(devices=[]):  # fresh weights are drawn, and written over
            self._removal, self._reinsertion = RemovalPrior(), ReinsertionPrior()
        enter(self._removal, self._reinsertion, blocks)

    def memory(self) -> dict[str, Any]:
        """What a resumed run makes it from again, beside its lessons."""
        return {"label": self.label, "blocks": self._blocks}

    @torch.no_grad()
    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        """Draw a move for every tour from ``uniforms`` (B, 2) of the caller's generator."""
        progress = observation.whole_progress()
        progress = replace(
            progress,
            used=torch.full_like(progress.used, self._lessons.at),
            total=torch.full_like(progress.total, self._lessons.steps),
        )
        observation = replace(observation, progress=progress)
        logits = self._removal_logits(observation)
        requests = plain.draw(logits.softmax(-1), uniforms[:, 0])
        log_removal = logits.log_softmax(-1).gather(1, requests[:, None])[:, 0]
        j, k, log_reinsertion = self._reinsert(observation, requests.numpy() + 1, uniforms[:, 1])
        return Decision(
            requests.numpy() + 1, j.numpy(), k.numpy(), (log_removal + log_reinsertion).float()
        )

    def _removal_logits(self, observation: Observation) -> torch.Tensor:
        """(B, n), -inf for the last one removed, which a native policy passes over."""
        logits: torch.Tensor = self._removal(observation)
        if observation.n > 1:
            last = torch.from_numpy(observation.recent)[:, :1]
            logits = logits.masked_fill(torch.arange(1, observation.n + 1) == last, -torch.inf)
        return logits

    def _reinsert(
        self, observation: Observation, requests: np.ndarray, uniforms: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rests = kernels.remove_requests(observation.tours, requests)
        changes = kernels.insertion_changes(observation.exact_costs(), rests, requests)
        terms = self._reinsertion(observation, requests, torch.from_numpy(np.stack(changes, 1)))
        logits = plain.feasible(plain.prior_logits(terms), observation.variant, rests)
        return plain.draw_pair(logits, uniforms)


def find(lessons: Lessons, variant: Variant) -> Teacher | None:
    """The teacher that a configuration names, if there are lessons."""
    if not lessons.epochs:
        return None
    try:
        native = find_native(lessons.teacher, variant)
    except InputError as error:
        raise InputError(f"lessons.teacher: {error}") from None
    label = f"{Path(lessons.teacher).stem} {native.sha256[:12]}"
    return Teacher(label, native.blocks, lessons)

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

import torch

from n2s.errors import InputError
from n2s.model import Decision, Observation
from n2s.model.prior import ReinsertionPrior, RemovalPrior, enter
from n2s.model.prior_policy import PriorPolicy
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
            removal, reinsertion = RemovalPrior(), ReinsertionPrior()
        enter(removal, reinsertion, blocks)
        self._policy = PriorPolicy(removal, reinsertion)

    def memory(self) -> dict[str, Any]:
        """What a resumed run makes it from again, beside its lessons."""
        return {"label": self.label, "blocks": self._blocks}

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        """Draw a move for every tour from ``uniforms`` (B, 2) of the caller's generator."""
        progress = observation.whole_progress()
        progress = replace(
            progress,
            used=torch.full_like(progress.used, self._lessons.at),
            total=torch.full_like(progress.total, self._lessons.steps),
        )
        return self._policy.act(replace(observation, progress=progress), uniforms)


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

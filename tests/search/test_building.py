"""Searches by the shipped networks, whose prior builds tours: from which starts, in how many rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import oracles
from n2s import solve
from n2s.model import Decision, Observation, prior_policy
from n2s.model.prior import rounds_in
from n2s.model.prior_policy import PriorPolicy
from n2s.problem import Instance, Variant, generate
from n2s.search.library import find


class Seen:
    """What the network's prior was told of a search: steps of its rounds, and when one was begun."""

    def __init__(self) -> None:
        self.settled: list[int] = []
        self.totals: list[float] = []

    @property
    def begun(self) -> list[int]:
        """Steps at which nothing was settled."""
        return [step for step, settled in enumerate(self.settled) if settled == 0]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    told = Seen()

    class Listening(PriorPolicy):
        def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
            progress = observation.whole_progress()
            told.settled.append(int(progress.settled[0].sum()))
            told.totals.append(float(progress.total[0]))
            return super().act(observation, uniforms)

    monkeypatch.setattr(prior_policy, "PriorPolicy", Listening)
    return told


def test_steps_from_random_tours_are_spent_in_rounds(seen: Seen, variant: Variant) -> None:
    instance = generate(5, seed=2, variant=variant)[0]
    rounds = rounds_in(find(None, variant, 11).policy, 400 / 5)
    assert rounds > 1
    found = solve(instance, method="n2s", start="random", steps=400)
    assert seen.begun == [math.ceil(400 * number / rounds - 1e-9) for number in range(rounds)]
    assert seen.totals[5:] == pytest.approx([400 / rounds] * 395)
    assert found.steps == 400
    assert found.cost == pytest.approx(_least(instance, variant))


def _least(instance: Instance, variant: Variant) -> float:
    return min(oracles.cost(instance.costs, tour) for tour in oracles.all_tours(5, variant))


@pytest.mark.parametrize("warm", [False, True])
def test_a_tour_that_is_worth_something_is_kept(warm: bool, seen: Seen, variant: Variant) -> None:
    """One step from it cannot be a tour that was built anew."""
    instance = generate(25, seed=2, variant=variant)[0]
    good = solve(instance, time_limit=0.2, seed=1)
    start = {"initial": good.route} if warm else {"start": "greedy"}
    begin = solve(instance, method="n2s", steps=0, **start)  # type: ignore[arg-type]
    after = solve(instance, method="n2s", steps=100, **start)  # type: ignore[arg-type]
    assert seen.settled == [25] * 100
    assert after.cost <= begin.cost
    if warm:
        assert begin.cost == pytest.approx(good.cost)


@pytest.mark.parametrize("limit", [{"time_limit": 2.0}, {"no_improvement": 200}], ids=str)
def test_rounds_without_a_limit_of_steps(
    limit: dict[str, float], seen: Seen, variant: Variant
) -> None:
    """Each one builds a tour of its own and then goes on for a while."""
    instance = generate(5, seed=2, variant=variant)[0]
    found = solve(instance, method="n2s", start="random", **limit)  # type: ignore[arg-type]
    assert len(seen.begun) >= 2
    assert min(np.diff(seen.begun)) >= 6
    for step in seen.begun[:-1]:
        assert seen.settled[step : step + 6] == [0, 1, 2, 3, 4, 5]
    assert found.cost == pytest.approx(_least(instance, variant))

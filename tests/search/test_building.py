"""Searches by the shipped networks, whose prior builds tours: from which starts, in how many rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import oracles
from n2s import solve
from n2s.model import Decision, Observation, prior_policy
from n2s.model.prior import rebuilt_in, rounds_in
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
        """Steps at which less was settled than before."""
        before = [1, *self.settled]
        return [s for s, settled in enumerate(self.settled) if settled < before[s]]


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
    policy = find(None, variant, 11).policy
    rounds, more = rounds_in(policy, 400 / 5), (1 - rebuilt_in(policy)) * 5
    assert rounds > 1
    found = solve(instance, method="n2s", start="random", steps=400)
    each = (400 - more) / rounds
    assert seen.begun == [
        0,
        *(math.ceil(more + each * number - 1e-9) for number in range(1, rounds)),
    ]
    assert seen.totals[-1] == pytest.approx(each)
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
    assert min(np.diff(seen.begun)) >= 4
    for step in seen.begun[:-1]:
        first = seen.settled[step]
        assert seen.settled[step : step + 6 - first] == list(range(first, 6))
    assert found.cost == pytest.approx(_least(instance, variant))


def test_a_generous_time_limit_changes_nothing(variant: Variant) -> None:
    """What steps allow is known, whatever was used up of the time."""
    instance = generate(15, seed=1, variant=variant)[0]
    alone = solve(instance, method="n2s", steps=900, seed=1)
    both = solve(instance, method="n2s", steps=900, time_limit=600, seed=1)
    assert both.route == alone.route
    points = [[(point.step, point.best) for point in s.history] for s in (alone, both)]
    assert points[0] == points[1]

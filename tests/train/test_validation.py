"""Validation: the search's own code on instances that never change."""

from __future__ import annotations

import math
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

import oracles
from model.observations import policy_of
from n2s.model import Decision, Observation, Policy, PolicyConfig, load
from n2s.problem import Distribution, Variant, generate
from n2s.search.interrupt import interruptible
from n2s.search.library import NamedPolicy
from n2s.search.solve import solve
from n2s.train.metrics import read_metrics
from n2s.train.run import begin
from n2s.train.validation import Validator
from train.runs import preset, tiny_config


def validator(variant: str = "pdtsp", **changes: object) -> Validator:
    settings = {"count": 3, "steps": 8, "sizes": [5, 7], "seed": 4, **changes}
    return Validator(tiny_config(data={"variant": variant}, validation=settings))


def test_costs_and_gaps_are_those_of_single_searches(variant: Variant) -> None:
    held = validator(variant.value)
    held.refer()
    known = {size: list(costs) for size, costs in held.best_known.items()}
    policy = policy_of()
    found = held.measure(policy)
    for size in (5, 7):
        named = NamedPolicy("", policy, (variant,), (size,), "", "")
        instances = generate(size // 2, 3, 4 + size, variant)
        costs = [solve(i, method="n2s", steps=8, seed=4, checkpoint=named).cost for i in instances]
        best = [min(pair) for pair in zip(costs, known[size], strict=True)]
        gaps = [cost / least - 1 for cost, least in zip(costs, best, strict=True)]
        assert found[f"cost_{size}"] == pytest.approx(sum(costs) / 3)
        assert found[f"gap_{size}"] == pytest.approx(sum(gaps) / 3)
        assert held.best_known[size] == pytest.approx(best)


def test_references_are_optimal_where_all_tours_can_be_tried(variant: Variant) -> None:
    held = validator(variant.value)
    held.refer()
    for size, costs in held.best_known.items():
        instances = generate(size // 2, 3, 4 + size, variant)
        for instance, cost in zip(instances, costs, strict=True):
            tours = oracles.all_tours(size // 2, variant)
            least = min(oracles.cost(instance.costs, tour) for tour in tours)
            assert cost == pytest.approx(least)


def test_a_better_tour_becomes_the_best_known() -> None:
    held = validator()
    held.best_known = {5: [1e9, 1e9, 1e9], 7: [1e-3, 1e-3, 1e-3]}
    found = held.measure(policy_of())
    assert found["gap_5"] == 0
    assert sum(held.best_known[5]) / 3 == pytest.approx(found["cost_5"])
    assert held.best_known[7] == [1e-3, 1e-3, 1e-3]
    assert found["gap_7"] == pytest.approx(found["cost_7"] / 1e-3 - 1)


def test_without_sizes_of_its_own_it_takes_those_of_the_data() -> None:
    assert validator(sizes=[]).sizes == (5, 7)


def test_it_is_drawn_like_the_data() -> None:
    config = tiny_config(data={"distribution": "clustered"}, validation={"count": 4, "seed": 4})
    held = Validator(config)
    held.refer()
    clustered = generate(3, 4, 11, Variant.PDTSP, Distribution.CLUSTERED)
    named = NamedPolicy("", policy_of(), (Variant.PDTSP,), (7,), "", "")
    costs = [solve(i, method="n2s", steps=5, seed=4, checkpoint=named).cost for i in clustered]
    assert held.measure(policy_of())["cost_7"] == pytest.approx(sum(costs) / 4)


class Interrupted(Policy):
    """A policy during whose first step somebody presses Ctrl-C."""

    pressed = False

    def act(self, observation: Observation, uniforms: torch.Tensor, **_: object) -> Decision:  # type: ignore[override]
        if not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
        return super().act(observation, uniforms)


def test_a_wish_to_stop_reaches_the_run_and_does_not_cut_the_search_short() -> None:
    """Numbers of half a search would be neither those of this policy nor those of a resumed run."""
    config = PolicyConfig(width=16, heads=2)  # without a fast path, so that ``act`` is asked
    torch.manual_seed(0)
    calm = Policy(config)
    disturbed = Interrupted(config)
    disturbed.load_state_dict(calm.state_dict())
    first, second = validator(), validator()
    first.refer()
    second.refer()
    with interruptible() as interrupt:
        found = second.measure(disturbed)
        assert interrupt.asked
        assert interrupt.times == 1
    assert disturbed.pressed
    assert found == first.measure(calm)


def test_the_best_policy_is_kept_and_the_last_one_looked_at(tmp_path: Path) -> None:
    """Three epochs, a look every second one and at the end: the file is that of the best look."""
    changes = ["ppo.epochs=3", "validation.every=2", "ppo.policy_rate=0.01"]
    trainer = begin(preset(tmp_path), tmp_path / "run", changes)
    trainer.run()
    looks = [line for line in read_metrics(tmp_path / "run") if line["kind"] == "validation"]
    assert [look["epoch"] for look in looks] == [0, 2, 3]
    score = [math.log(look["cost_5"]) + math.log(look["cost_7"]) for look in looks]
    best = looks[int(np.argmin(score))]
    kept = load(tmp_path / "run" / "best.safetensors").record
    assert (kept["epochs"], kept["updates"]) == (best["epoch"], best["update"])
    assert kept["validation"]["cost_7"] == best["cost_7"]  # type: ignore[index]
    last = load(tmp_path / "run" / "policy.safetensors").record
    assert last["epochs"] == 3

"""Evolutions with a network: its weights are searched, and nothing else where nothing else is asked for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from evolve.runs import TINY, assert_same_run, finished_run, preset, run_to, state_of
from n2s.errors import InputError
from n2s.evolve import Trainer
from n2s.evolve.config import config_of
from n2s.evolve.run import begin
from n2s.evolve.trainer import network_of
from n2s.kernels.native_decisions import PARAMETERS
from n2s.native import NativePolicy, load, save
from n2s.native.parts import Part, only
from n2s.problem import Variant
from search.test_bridging import tiny

BRIDGE = slice(PARAMETERS - 3, PARAMETERS)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A policy to begin with."""
    theta = np.random.default_rng(1).normal(0, 0.2, PARAMETERS)
    theta[only((Part.OUTLOOK, Part.BUILD))] = 0.0  # which are not for work
    theta[BRIDGE] = 0.0
    save(NativePolicy(Variant.LIFO, theta), tmp_path / "first.json")
    return tmp_path / "first.json"


def changes(network: Path, *more: str) -> list[str]:
    return [f"tasks.checkpoint='{network}'", *more]


ONLY = "strategy.only=['bridge']"


def test_without_a_network_there_is_nothing_to_weigh(tmp_path: Path) -> None:
    """As many dimensions as before there were bridges, and policies without one."""
    run = finished_run(tmp_path)
    assert len(state_of(run)["strategy"]["_mean"]) == 216
    assert load(run / "policy.json").bridge.tolist() == [0, 0, 0]
    assert "network" not in load(run / "policy.json").record


def test_with_a_network_its_weights_are_searched_too(tmp_path: Path) -> None:
    network = tiny(tmp_path, Variant.LIFO)
    trainer = begin(preset(tmp_path), tmp_path / "run", changes(network))
    assert trainer.policy.bridge.tolist() == [0, 0, 0]
    assert trainer.run() == "generations"
    policy = load(tmp_path / "run" / "policy.json")
    assert (policy.theta[BRIDGE] != 0).all()
    assert policy.record["network"].startswith("tiny-0 ")
    assert len(state_of(tmp_path / "run")["strategy"]["_mean"]) == 216 + 3


def test_only_the_bridge(first: Path, tmp_path: Path) -> None:
    network = tiny(tmp_path, Variant.LIFO)
    run = tmp_path / "run"
    assert begin(preset(tmp_path), run, changes(network, ONLY), first).run() == "generations"
    before, after = load(first).theta, load(run / "policy.json").theta
    assert (after[BRIDGE] != 0).all()
    assert np.delete(after, np.arange(PARAMETERS)[BRIDGE]).tolist() == before[:-3].tolist()
    assert len(state_of(run)["strategy"]["_mean"]) == 3


def test_only_other_parts(first: Path, tmp_path: Path) -> None:
    """The rest is not switched off: it stays as it is."""
    trainer = begin(preset(tmp_path), tmp_path / "run", ["strategy.only=['places']"], first)
    assert trainer.run() == "generations"
    changed = np.flatnonzero(trainer.policy.theta != load(first).theta)
    assert changed.tolist() == [199, 200, 201, 202]


def test_a_resumed_run_is_the_uninterrupted_one(first: Path, tmp_path: Path) -> None:
    wish = changes(tiny(tmp_path, Variant.LIFO), ONLY)
    begin(preset(tmp_path), tmp_path / "whole", wish, first).run()
    trainer = begin(preset(tmp_path), tmp_path / "run", wish, first)
    run_to(trainer, 3)
    Trainer.resume(tmp_path / "run").run()
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_a_run_goes_on_with_its_own_network_only(tmp_path: Path) -> None:
    network = tiny(tmp_path, Variant.LIFO)
    run_to(begin(preset(tmp_path), tmp_path / "run", changes(network, ONLY)), 1)
    tiny(tmp_path, Variant.LIFO, 1).rename(network)
    with pytest.raises(
        InputError, match=r"was begun with the network tiny-0 .*, which is now tiny"
    ):
        Trainer.resume(tmp_path / "run")


def test_scores_reach_the_tasks(tmp_path: Path) -> None:
    """A weight changes what a task finds, through the network that is named and no other way."""
    network = tiny(tmp_path, Variant.LIFO)
    larger = TINY.replace("[5, 9]", "[21]")
    plain, bridged = (
        Trainer(config_of(tomllib.loads(text)), tmp_path)._checks[21, "gap_21_30"]
        for text in (larger, larger.replace("[tasks]", f"[tasks]\ncheckpoint = '{network}'"))
    )
    theta = np.zeros(PARAMETERS)
    zeros = NativePolicy(Variant.LIFO, theta)
    theta[BRIDGE] = [3.0, 1.0, 1.0]
    weighed = NativePolicy(Variant.LIFO, theta)
    for one, other in zip(plain, bridged, strict=True):
        assert one.bridge is None
        assert one.start.tolist() == other.start.tolist()
        assert one.run(zeros) == other.run(zeros) == one.run(weighed)
    assert [t.run(weighed) for t in bridged] != [t.run(zeros) for t in bridged]


def test_networks_that_cannot_be_used(tmp_path: Path) -> None:
    for name, sentence in {
        "nobody": "there is no checkpoint 'nobody'",
        "random": "the policy random has no network whose scores could be used",
        str(tiny(tmp_path, Variant.PDTSP)): "the checkpoint tiny-0 is for pdtsp, the instance is",
    }.items():
        config = config_of({"tasks": {"variant": "lifo", "checkpoint": name}})
        with pytest.raises(InputError, match=sentence):
            network_of(config)
    assert network_of(config_of({})) == ("", None)

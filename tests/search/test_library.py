"""Policies by name and size, and what a network with the native prior does in company."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from n2s.errors import InputError
from n2s.model import Checkpoint, Policy, PolicyConfig, save
from n2s.model.prior import adopt
from n2s.native import find as find_native
from n2s.problem import Variant, generate
from n2s.search import library
from n2s.search.library import NamedPolicy, described, find
from n2s.search.solve import solve, solve_many

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)


def with_prior(variant: Variant) -> NamedPolicy:
    """A small network, not trained, that begins with an evolved prior."""
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(width=16, costs=True, prior="native"))  # type: ignore[arg-type]
    adopt(policy, find_native(f"native-single-{variant}", variant).blocks)
    return NamedPolicy("prior", policy, (variant,), (21,), "", "")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with three checkpoints: for 21 nodes with and without costs, and for 101 nodes."""
    (tmp_path / "checkpoints").mkdir()
    for name, costs, size in (("plain", False, 21), ("exact", True, 21), ("large", False, 101)):
        policy = Policy(PolicyConfig(width=8, costs=costs))
        path = tmp_path / "checkpoints" / f"{name}.safetensors"
        save(Checkpoint(policy, Variant.LIFO, (size,)), path)
    monkeypatch.setattr(library.resources, "files", lambda package: tmp_path)
    return tmp_path


def test_without_a_name_the_nearest_network_is_found(package: Path) -> None:
    """By size, and among those of a size the one that knows exact costs."""
    assert [find(None, Variant.LIFO, size).name for size in (3, 21, 59, 63, 401)] == [
        *("exact", "exact", "exact", "large", "large")
    ]
    assert find("plain", Variant.LIFO, 21).name == "plain"
    assert find(None, Variant.PDTSP, 21).name == "epsilon-greedy"
    with pytest.raises(InputError, match="the checkpoint large is for lifo, the instance is pdtsp"):
        find("large", Variant.PDTSP, 101)


def test_priors_of_networks_are_listed() -> None:
    rows = {row["name"]: row for row in described()}
    assert {"native-pdtsp", "native-lifo", "native-single-pdtsp", "native-single-lifo"} <= set(rows)
    assert rows["native-single-lifo"]["trained"] == "native-single-lifo"


@VARIANTS
def test_the_evolved_prior_is_clearly_better_than_a_fresh_one(variant: Variant) -> None:
    """The same search with the same network, whose own part is nothing yet, and by hand."""
    instances = generate(10, seed=77, count=8, variant=variant)
    named = with_prior(variant)
    fresh = NamedPolicy("fresh", Policy(named.policy.config), (variant,), (21,), "", "")
    mean = {
        name: np.mean(
            [s.cost for s in solve_many(instances, method="n2s", steps=300, checkpoint=p)]
        )
        for name, p in {"evolved": named, "fresh": fresh, "greedy": "epsilon-greedy"}.items()
    }
    assert mean["evolved"] < 0.99 * mean["fresh"]
    assert mean["evolved"] < 0.97 * mean["greedy"]


@VARIANTS
def test_an_instance_is_searched_alike_in_any_company(variant: Variant) -> None:
    """What a network with the native prior sees of an instance is the instance's own."""
    instances = generate(10, seed=5, count=3, variant=variant)
    named = with_prior(variant)
    together = solve_many(instances, method="n2s", steps=40, checkpoint=named)
    alone = [solve(i, method="n2s", steps=40, checkpoint=named) for i in instances]
    assert [s.route for s in together] == [s.route for s in alone]


def test_more_steps_than_a_float_holds_are_no_reason_to_fail() -> None:
    instance = generate(3, seed=1)[0]
    found = solve(instance, method="n2s", steps=10**400, no_improvement=5)
    assert found.stopped == "no improvement"

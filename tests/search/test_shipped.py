"""The networks in the package: whole, described, and better than untrained ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from n2s.model import Policy, load
from n2s.problem import Variant, generate
from n2s.search.library import NamedPolicy, described, find, shipped
from n2s.search.solve import solve_many

CARDS = Path(__file__).parents[2] / "docs" / "models"
NAMES = ["n2s-lifo", "n2s-pdtsp", "paper-lifo", "paper-pdtsp"]
MOST_BYTES = 30e6


def mean_cost(policy: NamedPolicy, variant: Variant) -> float:
    """After 300 steps with 51 nodes."""
    instances = generate(25, count=8, seed=4242, variant=variant)
    found = solve_many(instances, method="n2s", steps=300, checkpoint=policy)
    return float(np.mean([solution.cost for solution in found]))


def fresh(policy: NamedPolicy) -> NamedPolicy:
    torch.manual_seed(1)
    made = Policy(policy.policy.config)
    return NamedPolicy("fresh", made, policy.variants, policy.sizes, "", "")


def test_they_are_all_there_and_small() -> None:
    found = shipped()
    assert sorted(found) == NAMES
    assert sum(path.stat().st_size for path in found.values()) < MOST_BYTES
    assert set(NAMES) <= {row["name"] for row in described()}


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_about_the_very_file(name: str) -> None:
    checkpoint = load(shipped()[name])
    card = (CARDS / f"{name}.md").read_text(encoding="utf-8")
    assert checkpoint.sha256 in card
    assert f"presets/{checkpoint.record['preset']}.toml" in card
    assert f"{checkpoint.record['transitions']:,}" in card


@pytest.mark.parametrize("name", NAMES)
def test_training_is_seen_in_a_search(name: str) -> None:
    """The same search with fresh weights, priors among them, is clearly worse; so are operators by hand."""
    variant = Variant(name.split("-")[1])
    trained = find(name, variant, 21)
    assert trained.policy.config.costs == name.startswith("n2s-")
    cost = mean_cost(trained, variant)
    assert cost < 0.97 * mean_cost(fresh(trained), variant)
    for by_hand in ("epsilon-greedy", "random+epsilon-greedy"):
        assert cost < 0.96 * mean_cost(find(by_hand, variant, 51), variant)


@pytest.mark.parametrize("variant", list(Variant), ids=str)
@pytest.mark.parametrize("size", [3, 21, 101, 501])
def test_the_default_is_the_one_with_exact_costs(variant: Variant, size: int) -> None:
    assert find(None, variant, size).name == f"n2s-{variant}"

"""The policies in the package: found by name and by size, loaded whole, and better than no training."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.model import Policy, load
from n2s.problem import Variant, generate
from n2s.search.library import NamedPolicy, described, find, shipped
from n2s.search.solve import solve, solve_many

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)


@VARIANTS
@pytest.mark.parametrize("size", [3, 21, 51, 101, 401])
def test_without_a_name_the_shipped_network_is_found(variant: Variant, size: int) -> None:
    found = find(None, variant, size)
    assert found.name == f"n2s-{variant}"
    assert found.sizes == (21, 51, 101)
    assert found.policy.config.costs
    assert found.label == f"n2s-{variant} {load(shipped()[found.name]).sha256[:12]}"


@VARIANTS
def test_a_network_is_for_its_variant(variant: Variant) -> None:
    other = next(v for v in Variant if v is not variant)
    with pytest.raises(
        InputError, match=f"the checkpoint n2s-{other} is for {other}, the instance"
    ):
        find(f"n2s-{other}", variant, 21)


def test_records_say_where_networks_come_from() -> None:
    for name, path in shipped().items():
        checkpoint = load(path)
        assert checkpoint.critic is not None, name
        record = checkpoint.record
        assert record["from"].startswith("native-single-"), name  # type: ignore[union-attr]
        assert {"preset", "config", "transitions", "hours", "validation"} <= set(record)
    rows = {row["name"]: row for row in described()}
    assert {"n2s-pdtsp", "n2s-lifo", "native-pdtsp", "native-single-lifo"} <= set(rows)
    assert rows["n2s-lifo"]["width"] == 64
    assert sum(path.stat().st_size for path in shipped().values()) < 30e6


@VARIANTS
def test_a_shipped_network_is_clearly_better_than_without_training(variant: Variant) -> None:
    """The same search with the same network, fresh, and with the hand-made operators."""
    instances = generate(10, seed=77, count=8, variant=variant)
    named = find(None, variant, 21)
    fresh = NamedPolicy("fresh", Policy(named.policy.config), (variant,), (21,), "", "")
    mean = {
        name: np.mean(
            [s.cost for s in solve_many(instances, method="n2s", steps=300, checkpoint=p)]
        )
        for name, p in {"shipped": named, "fresh": fresh, "greedy": "epsilon-greedy"}.items()
    }
    assert mean["shipped"] < 0.99 * mean["fresh"]
    assert mean["shipped"] < 0.97 * mean["greedy"]


@VARIANTS
def test_an_instance_is_searched_alike_in_any_company(variant: Variant) -> None:
    """What a network with the native prior sees of an instance is the instance's own."""
    instances = generate(10, seed=5, count=3, variant=variant)
    together = solve_many(instances, method="n2s", steps=40)
    alone = [solve(instance, method="n2s", steps=40) for instance in instances]
    assert [s.route for s in together] == [s.route for s in alone]


def test_more_steps_than_a_float_holds_are_no_reason_to_fail() -> None:
    instance = generate(3, seed=1)[0]
    assert (
        solve(instance, method="n2s", steps=10**400, no_improvement=5).stopped == "no improvement"
    )

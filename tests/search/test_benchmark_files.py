"""N2S with the shipped networks on public benchmark instances, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import n2s
from n2s.problem import evaluate
from n2s.search.solve import solve

DATA = Path(__file__).parents[3] / "shared" / "data"
FILES = ["rbo00/N101p1.pdt", "lifo/brd14051.25.type1.pdtspl", "lifo/pr1002.101.type1.pdtspl"]
FILES += ["grubhub/grubhub-10-1.pdt", "dumitrescu/prob20a.txt"]


@pytest.mark.skipif(
    not DATA.exists(), reason="the public benchmark instances are not beside the project"
)
@pytest.mark.parametrize("name", FILES)
def test_routes_of_benchmark_instances_verify(name: str) -> None:
    instance = n2s.read(DATA / name)
    start = solve(instance, method="n2s", steps=0, seed=1)
    found = solve(instance, method="n2s", steps=300, seed=1)
    verdict = evaluate(instance, found.route)
    assert verdict.feasible
    assert verdict.cost == found.cost
    assert found.cost == round(found.cost)  # distances of these sets are whole numbers
    assert found.cost < 0.7 * start.cost

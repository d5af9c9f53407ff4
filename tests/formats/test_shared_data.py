"""The public benchmarks, where they are at hand: they are never part of the project."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from n2s.formats import lkh, read, read_route
from n2s.formats.base import Source
from n2s.problem import Rounding, Variant, evaluate

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark files are not at hand")


def files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in DATA.glob(pattern))


def label(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", files("rbo00/*.pdt", "dumitrescu/*.txt"), ids=label)
def test_published_routes_cost_what_they_claim(path: Path) -> None:
    instance = read(path)
    assert instance.variant is Variant.PDTSP
    assert instance.rounding is Rounding.NEAREST
    solution = path.with_suffix(".sol")
    evaluation = evaluate(instance, read_route(solution, instance))
    assert evaluation.feasible
    assert evaluation.cost == json.loads(solution.read_text())["cost"]


def test_a_known_optimum() -> None:
    instance = read(DATA / "rbo00" / "N101p1.pdt")
    route = read_route(DATA / "rbo00" / "N101p1.sol", instance)
    assert evaluate(instance, route).cost == 799


@pytest.mark.parametrize("path", files("grubhub/*.pdt"), ids=label)
def test_meal_deliveries_are_open_routes(path: Path) -> None:
    instance = read(path)
    assert instance.open_end
    assert instance.name == path.stem
    assert instance.n == int(path.stem.split("-")[1])


@pytest.mark.parametrize("path", files("lifo/*.pdtspl"), ids=label)
def test_lifo_instances(path: Path) -> None:
    instance = read(path)
    assert instance.variant is Variant.LIFO
    assert instance.name == path.stem
    assert instance.size == int(path.stem.split(".")[1])
    (again,) = lkh.parse(Source("again.pdtspl", lkh.render([instance])))
    np.testing.assert_array_equal(again.costs, instance.costs)
    assert again.ids == instance.ids

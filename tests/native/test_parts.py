"""Parts of the native policy that an evolution leaves out: which parameters, and what follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from n2s.kernels.native_decisions import (
    LAYOUT,
    PARAMETERS,
    SEEN,
    VIEWS,
    block_chance,
    count_chances,
    removal_scores,
    return_chance,
    temperature_of,
)
from n2s.local import Outset, landscape_of
from n2s.native import NativeChain, NativePolicy
from n2s.native.parts import Part, indices, only, switched_off
from n2s.problem import Variant, generate, random_tour

FEATURE_PARTS = {
    Part.DETOURS: (0, 1),
    Part.AGE: (2, 3),
    Part.TRACE: (4,),
    Part.LENGTH: (5,),
    Part.SPAN: (6,),
    Part.DEPTH: (7,),
    Part.OUTLOOK: (8, 9),
}
VIEW_PARTS = {Part.EXCESS: 0, Part.STAGNATION: 1, Part.BUDGET: 3, Part.TIMED: 4}


def random_theta(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=PARAMETERS)


def scores(theta: np.ndarray, features: np.ndarray, seen: np.ndarray) -> np.ndarray:
    out = np.empty(features.shape[1], np.float32)
    removal_scores(theta, seen, features, features.shape[1], out)
    return out


@pytest.mark.parametrize("part", Part)
def test_only_a_parts_own_parameters_change(part: Part) -> None:
    theta = random_theta()
    off, free = switched_off(theta, (part,))
    where = indices(part)
    assert len(set(where.tolist())) == len(where)
    assert (np.flatnonzero(~free) == np.sort(where)).all()
    assert (off[free] == theta[free]).all()
    assert (off[~free] != theta[~free]).all()


def test_the_number_of_parameters_of_each_part() -> None:
    hidden, heat, counts = 8, 4, 6
    view = hidden + heat + counts + 2
    expected = {
        **{part: len(columns) * (1 + hidden) for part, columns in FEATURE_PARTS.items()},
        **dict.fromkeys(VIEW_PARTS, view),
        Part.HEAT: heat * VIEWS + heat + heat,
        Part.SEVERAL: counts + counts * VIEWS + 3 + 2,
        Part.PLACES: 4,
        Part.BLOCKS: LAYOUT["blocks"],
        Part.RETURN: LAYOUT["return"],
        Part.BUILD: 4,
        Part.BRIDGE: 3,
    }
    assert {part: len(indices(part)) for part in Part} == expected


@pytest.mark.parametrize(
    ("part", "chance"), [(Part.BLOCKS, block_chance), (Part.RETURN, return_chance)]
)
def test_what_is_switched_off_never_happens(part: Part, chance: Callable[..., float]) -> None:
    off, _ = switched_off(random_theta(), (part,))
    assert chance(off, np.full(VIEWS, 3.0)) < 1e-15
    assert chance(np.zeros(len(off)), np.zeros(VIEWS)) > 1e-3


def test_only_some_parts() -> None:
    assert only(()).sum() == 0
    assert np.flatnonzero(only((Part.BRIDGE,))).tolist() == [238, 239, 240]
    both = np.flatnonzero(only((Part.HEAT, Part.PLACES)))
    expected = np.concatenate([indices(Part.HEAT), indices(Part.PLACES)])
    assert both.tolist() == sorted(expected.tolist())


@pytest.mark.parametrize(("part", "columns"), FEATURE_PARTS.items())
def test_a_feature_that_is_off_is_not_seen(part: Part, columns: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    features, seen = rng.normal(size=(SEEN, 6)).astype(np.float32), rng.normal(size=VIEWS)
    off, _ = switched_off(random_theta(), (part,))
    before = scores(off, features, seen)
    for column in range(SEEN):
        changed = features.copy()
        changed[column] += 1.0
        same = np.array_equal(scores(off, changed, seen), before)
        assert same == (column in columns), column


@pytest.mark.parametrize(("part", "view"), VIEW_PARTS.items())
def test_a_view_that_is_off_is_not_seen(part: Part, view: int) -> None:
    rng = np.random.default_rng(1)
    features, seen = rng.normal(size=(SEEN, 6)).astype(np.float32), rng.normal(size=VIEWS)
    off, _ = switched_off(random_theta(), (part,))

    def everything(seen: np.ndarray) -> list[float]:
        chances = np.empty(LAYOUT["count/bias"])
        count_chances(off, seen, chances)
        rest = [temperature_of(off, seen, 1.0), block_chance(off, seen), return_chance(off, seen)]
        return [*scores(off, features, seen), *chances, *rest]

    before = everything(seen)
    for other in range(VIEWS):
        changed = seen.copy()
        changed[other] += 1.0
        assert (everything(changed) == before) == (other == view), other


def test_without_the_mlp_the_temperature_falls_with_progress_alone() -> None:
    off, _ = switched_off(random_theta(), (Part.HEAT,))
    seen = np.array([0.3, 0.4, 0.5, 0.6, 1.0])
    begin, fall = off[: sum(LAYOUT.values())][_begin("heat/range") : _begin("heat/range") + 2]
    expected = 2.0 * 0.4 * np.exp(begin + (np.log(0.05 / 0.4) + fall) * 0.5)
    assert temperature_of(off, seen, 2.0) == pytest.approx(expected)


def _begin(name: str) -> int:
    names = list(LAYOUT)
    return sum(LAYOUT[before] for before in names[: names.index(name)])


def test_one_request_a_step_and_no_block() -> None:
    """Every step takes out exactly one request: as many marks of times as steps, one a step."""
    instance = generate(6, seed=3, variant=Variant.LIFO)[0]
    theta = random_theta(2)
    off, _ = switched_off(theta, (Part.SEVERAL, Part.BLOCKS))
    land = landscape_of(instance, dense=True)
    tour = random_tour(6, Variant.LIFO, np.random.default_rng(0))

    def removed(parameters: np.ndarray) -> list[int]:
        """How many requests each of 200 steps took out."""
        policy = NativePolicy(Variant.LIFO, parameters)
        chain = NativeChain(land, Outset(tour, 5, 0.3, False, 200), policy)
        counts = []
        for step in range(200):
            chain.advance(1, step / 200, (step + 1) / 200)
            counts.append(int((chain.times == step + 1).sum()))
        return counts

    assert set(removed(off)) == {1}
    assert set(removed(theta)) > {0, 1}  # blocks and several requests, or this would say nothing

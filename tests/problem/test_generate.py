from __future__ import annotations

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.problem import Distribution, Variant, generate


def test_uniform_is_the_documented_draw() -> None:
    instances = generate(5, count=3, seed=7, variant=Variant.LIFO)
    expected = np.random.default_rng(7).random((3, 11, 2))
    assert all((i.coordinates == e).all() for i, e in zip(instances, expected, strict=True))
    assert {i.variant for i in instances} == {Variant.LIFO}
    assert [i.name for i in instances] == [f"uniform-11-7-{k}" for k in range(3)]


@pytest.mark.parametrize("distribution", list(Distribution))
def test_points_lie_in_the_unit_square(distribution: Distribution) -> None:
    points = np.stack(
        [i.coordinates for i in generate(50, count=20, seed=1, distribution=distribution)]
    )
    assert points.shape == (20, 101, 2)
    assert (points >= 0).all()
    assert (points <= 1).all()


def test_clusters_are_clusters() -> None:
    """The mean distance to the nearest other node: 0.5 / sqrt(N) if uniform, clearly less if not."""

    def nearest(distribution: Distribution) -> float:
        costs = np.stack(
            [i.costs for i in generate(50, count=20, seed=1, distribution=distribution)]
        )
        return float((costs + np.eye(101)).min(1).mean())

    uniform, mixed, clustered = (
        nearest(d) for d in (Distribution.UNIFORM, Distribution.MIXED, Distribution.CLUSTERED)
    )
    assert uniform == pytest.approx(0.5 / 101**0.5, rel=0.1)
    assert clustered < 0.6 * uniform
    assert clustered < mixed < uniform


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"requests": 0}, "at least 1 request, not 0"),
        ({"requests": 3, "count": 0}, "at least 1, not 0"),
        ({"requests": 3, "seed": -1}, "must not be negative"),
    ],
)
def test_impossible_sets_are_named(arguments: dict[str, int], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate(**arguments)


def test_absurd_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="more than 1,000,000,000 coordinates"):
        generate(10**12)
    with pytest.raises(InputError, match="more than 1,000,000,000 coordinates"):
        generate(1, count=10**15)

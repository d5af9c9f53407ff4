"""A fingerprint is that of the problem, not of its names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n2s.bench.case import fingerprint
from n2s.problem import Instance, Metric, Rounding, Variant


def test_names_do_not_matter_and_everything_else_does(tiny: Instance) -> None:
    same = replace(tiny, name="other", ids=tuple("abcdefg"), requests=("x", "y", "z"))
    assert fingerprint(same) == fingerprint(tiny)
    assert tiny.coordinates is not None
    others = [
        replace(tiny, variant=Variant.LIFO),
        replace(tiny, metric=Metric.MANHATTAN),
        replace(tiny, rounding=Rounding.NEAREST),
        replace(tiny, open_end=True),
        replace(tiny, open_start=True),
        replace(tiny, end=np.array([1.0, 2.0])),
        replace(tiny, coordinates=tiny.coordinates + 1e-12),
        replace(tiny, capacity=2.0),
        replace(tiny, capacity=2.0, loads=np.array([1.0, 2.0, 1.0])),
        replace(tiny, matrix=tiny.costs),
    ]
    prints = [fingerprint(tiny), *map(fingerprint, others)]
    assert len(set(prints)) == len(prints)


def test_what_a_cost_does_not_depend_on_is_left_out(tiny: Instance) -> None:
    assert fingerprint(replace(tiny, loads=np.ones(3) * 7)) == fingerprint(tiny)
    bare = Instance(matrix=tiny.costs)
    assert fingerprint(replace(tiny, matrix=tiny.costs)) == fingerprint(bare)

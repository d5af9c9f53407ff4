"""What steps take, in steps that take out one request: the unit of budgets where time counts.

Evolutions compare policies on the same work, so what a policy is told of a budget cannot depend on how many
requests it takes out itself. A search measures its own steps; before a policy hears of them they are
converted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n2s.kernels.native_decisions import LARGEST, LEVELS, count_chances
from n2s.local import Outset
from n2s.native.policy import NativePolicy
from n2s.problem import Variant

STEP = {Variant.PDTSP: 2.5, Variant.LIFO: 0.8}
"""What a step costs beside its requests, in the time that putting back one of several takes (N = 101).

From steps with one request and those of the whole policy; other variants are taken for LIFO.
"""
TYPICAL = (0.1, 0.5, 0.5, 0.0, 1.0)
"""Views in the middle of a search against the clock."""


def step_price(variant: Variant) -> float:
    """Of a step beside its requests."""
    return STEP.get(variant, STEP[Variant.LIFO])


def mean_count(policy: NativePolicy, n: int) -> float:
    """How many of ``n`` requests a step takes out, on average, in the middle of a search."""
    chances = np.empty(LEVELS)
    count_chances(policy.theta, np.array(TYPICAL), chances)
    least = (1, *(largest + 1 for largest in LARGEST))
    means = [
        np.minimum(np.arange(low, high + 1), n).mean()
        for low, high in zip(least, LARGEST, strict=False)
    ]
    return float(np.diff(chances, prepend=0.0) @ means)


def in_singles(outset: Outset, policy: NativePolicy, n: int) -> Outset:
    """The same, its steps as many as would fit if each took out one request; those of a clock only."""
    if not outset.timed:
        return outset
    step = step_price(policy.variant)
    ratio = (step + mean_count(policy, n)) / (step + 1.0)
    return replace(outset, steps=outset.steps * ratio)

"""Budgets in steps that take out one request, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from n2s.kernels.native_decisions import PARAMETERS
from n2s.local import Outset, landscape_of
from n2s.native import NativePolicy, native_chains
from n2s.native.price import in_singles, mean_count, step_price
from n2s.problem import Variant, generate


def of_class(variant: Variant, level: int) -> NativePolicy:
    """Always takes out as many requests as one class says."""
    theta = np.zeros(PARAMETERS)
    bias = oracles.native_blocks(theta)["count/bias"]
    bias[:], bias[level] = -80.0, 80.0
    return NativePolicy(variant, theta)


def test_requests_of_a_step() -> None:
    """1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32; never more than there are."""
    means = [mean_count(of_class(Variant.LIFO, level), 100) for level in range(6)]
    assert means == pytest.approx([1, 2, 3.5, 6.5, 12.5, 24.5])
    assert mean_count(of_class(Variant.LIFO, 3), 6) == pytest.approx((5 + 6 + 6 + 6) / 4)
    assert mean_count(of_class(Variant.LIFO, 5), 1) == pytest.approx(1)


def test_a_mixture_of_classes() -> None:
    """Its logits hear of time: a view whose weight is log 3 makes pairs three times as likely as ones."""
    theta = np.zeros(PARAMETERS)
    blocks = oracles.native_blocks(theta)
    blocks["count/bias"][:] = [-2.0, 1.0, -80, -80, -80, -80]  # on 2 and -1: both 0
    blocks["count/views"].reshape(6, 5)[1, 4] = np.log(3.0)
    assert mean_count(NativePolicy(Variant.PDTSP, theta), 50) == pytest.approx(0.25 + 0.75 * 2)


@pytest.mark.parametrize(("level", "ratio"), [(0, 1.0), (3, 9.0 / 3.5), (4, 15.0 / 3.5)])
def test_steps_against_the_clock_are_converted(level: int, ratio: float) -> None:
    """A step of PDTSP costs 2.5 beside its requests."""
    assert step_price(Variant.PDTSP) == 2.5
    land = landscape_of(generate(20, seed=1)[0])
    start = land.start(np.random.default_rng(1))
    policy = of_class(Variant.PDTSP, level)
    for timed, expected in ((True, 1000 * ratio), (False, 1000.0)):
        outset = Outset(start, 1, 0.1, False, 1000.0, timed)
        assert in_singles(outset, policy, land.n).steps == pytest.approx(expected)
        chain = native_chains(policy)(land, outset)
        assert chain.budget == pytest.approx(expected / 20)  # type: ignore[attr-defined]

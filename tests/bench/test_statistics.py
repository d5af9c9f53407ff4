"""The arithmetic of the tables, against numbers worked out by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from n2s.bench.statistics import bootstrap, gap, gap_over_time, lowest, profile, times_best


def test_gaps() -> None:
    assert gap(11.0, 10.0) == pytest.approx(0.1)
    assert gap(9.0, 10.0) == pytest.approx(-0.1)
    assert gap(0.0, 0.0) == 0.0
    assert gap(1.0, 0.0) == math.inf


def test_the_interval_of_equal_differences_is_a_point() -> None:
    assert bootstrap([0.25] * 5) == (0.25, 0.25)
    assert bootstrap([-0.5]) == (-0.5, -0.5)


def test_the_interval_is_that_of_all_resamples() -> None:
    """Of 4 values there are 4^4 equally likely resamples: their percentiles are known exactly.

    Means of resamples of (0, 0, 0, 4) are the number of fours drawn, binomial with p = 1/4:
    P(0) = 0.316, so the low end is 0; P(4) = 0.004 and P(3) = 0.047, so the high end is 3.
    """
    values = [0.0, 0.0, 0.0, 4.0]
    means = sorted(sum(drawn) / 4 for drawn in product(values, repeat=4))
    assert (means[round(0.025 * 256)], means[round(0.975 * 256)]) == (0.0, 3.0)
    assert bootstrap(values) == (0.0, 3.0)


def test_the_interval_is_the_same_every_time_and_holds_the_mean() -> None:
    values = np.random.default_rng(1).normal(0.02, 0.01, 50).tolist()
    low, high = bootstrap(values)
    assert bootstrap(values) == (low, high)
    assert low < np.mean(values) < high
    # The normal approximation: 1.96 standard errors to each side.
    assert high - low == pytest.approx(2 * 1.96 * np.std(values) / 50**0.5, rel=0.1)


def test_how_often_best_counts_ties_for_all() -> None:
    costs = {"a": {"x": 1.0, "y": 2.0, "z": 3.0}, "b": {"x": 1.0 + 1e-12, "y": 1.5}}
    assert times_best(costs) == {"a": 2, "b": 2}  # x is a tie, z was solved by a alone
    assert lowest(costs) == {"x": 1.0, "y": 1.5, "z": 3.0}


def test_a_profile_counts_what_was_not_solved() -> None:
    best = {"x": 10.0, "y": 10.0, "z": 10.0, "w": 10.0}
    costs = {"x": 10.0, "y": 10.5, "z": 12.0}
    assert profile(costs, best, [0.0, 0.05, 0.1, 0.2]) == [0.25, 0.5, 0.5, 0.75]


def test_the_gap_over_time_begins_when_all_have_a_route() -> None:
    histories = [[(1.0, 12.0), (3.0, 10.0)], [(2.0, 22.0)]]
    gaps = gap_over_time(histories, [10.0, 20.0], [0.5, 1.5, 2.0, 3.0])
    assert np.isnan(gaps[:2]).all()
    # At 2 s the runs stand at 20 % and 10 %, at 3 s at 0 % and 10 %.
    assert gaps[2:] == pytest.approx([0.15, 0.05])

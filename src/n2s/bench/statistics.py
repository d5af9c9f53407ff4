"""The arithmetic of tables and figures, on plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from n2s.problem.distance import FloatArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
SAME = 1e-9
"""Costs this close, relatively, are one cost: sums in another order differ in the last bits."""


class Interval(NamedTuple):
    """Where a mean lies, as far as the instances at hand can tell."""

    low: float
    high: float


def gap(cost: float, reference: float) -> float:
    """How far above a reference, as a share of it; of a reference of 0, only 0 is no gap."""
    if reference == 0.0:
        return 0.0 if cost == 0.0 else float("inf")
    return cost / reference - 1.0


def bootstrap(differences: Sequence[float], seed: int = 0) -> Interval:
    """Percentile interval of the mean of paired differences, instances drawn with replacement."""
    values = np.asarray(differences, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for part in np.array_split(np.arange(RESAMPLES), RESAMPLES // 100):  # bounds the temporaries
        drawn = rng.integers(len(values), size=(len(part), len(values)))
        means[part] = values[drawn].mean(axis=1)
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    return Interval(float(low), float(high))


def times_best(costs: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """On how many instances no rival was cheaper, by method; ties count for all."""
    best = lowest(costs)
    return {
        method: sum(cost <= best[name] * (1 + SAME) for name, cost in own.items())
        for method, own in costs.items()
    }


def lowest(costs: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The lowest cost of each instance over all methods."""
    best: dict[str, float] = {}
    for own in costs.values():
        for name, cost in own.items():
            best[name] = min(cost, best.get(name, cost))
    return best


def profile(
    costs: Mapping[str, float], best: Mapping[str, float], gaps: Sequence[float]
) -> list[float]:
    """Share of the instances of ``best`` that a method solved within each of the gaps to it.

    This is the performance profile of Dolan and Moré; an instance without a cost counts as not solved.
    """
    own = np.array([gap(costs[name], best[name]) for name in best if name in costs])
    return [float((own <= limit + SAME).sum()) / len(best) for limit in gaps]


def gap_over_time(
    histories: Sequence[Sequence[tuple[float, float]]],
    best: Sequence[float],
    times: Sequence[float],
) -> FloatArray:
    """Mean gap to the best known at each time, over runs told as (seconds, cost) improvements.

    NaN until every run has its first route: a mean over the quick ones alone would rise later.
    """
    gaps = np.full((len(histories), len(times)), np.nan)
    for row, (history, reference) in enumerate(zip(histories, best, strict=True)):
        for seconds, cost in history:
            gaps[row, np.asarray(times) >= seconds] = gap(cost, reference)
    means: FloatArray = gaps.mean(axis=0)
    return means

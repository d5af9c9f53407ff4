"""The obvious slow twin of every fast path: plain Python, straight from the definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from n2s.problem import Variant


def is_feasible(tour: Sequence[int], n: int, variant: Variant) -> bool:
    """Depot first, every node once, pickup before delivery, and for LIFO a stack that works out."""
    if tour[0] != 0 or sorted(tour) != list(range(2 * n + 1)):
        return False
    stack: list[int] = []
    for node in tour[1:]:
        if node <= n:
            stack.append(node)
        elif node - n not in stack:
            return False
        elif variant is Variant.LIFO:
            if stack.pop() != node - n:
                return False
        else:
            stack.remove(node - n)
    return True


def all_tours(n: int, variant: Variant) -> Iterator[tuple[int, ...]]:
    """Every feasible tour, by testing all permutations."""
    for order in itertools.permutations(range(1, 2 * n + 1)):
        tour = (0, *order)
        if is_feasible(tour, n, variant):
            yield tour


def cost(costs: np.ndarray, tour: Sequence[int]) -> float:
    """Sum of the arcs, the way back included."""
    return sum(float(costs[a, b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def without(tour: Sequence[int], request: int) -> list[int]:
    """The tour without a request."""
    n = len(tour) // 2
    return [node for node in tour if node not in (request, request + n)]


def reinserted(rest: Sequence[int], request: int, j: int, k: int) -> list[int]:
    """``rest`` with the pickup behind its j-th node and the delivery behind its k-th, j <= k."""
    n = len(rest) // 2 + 1
    tour: list[int] = []
    for gap, node in enumerate(rest):
        tour.append(node)
        if gap == j:
            tour.append(request)
        if gap == k:
            tour.append(request + n)
    return tour


def feasible_gaps(rest: Sequence[int], request: int, variant: Variant) -> list[tuple[int, int]]:
    """All (j, k) whose tour is feasible."""
    n = len(rest) // 2 + 1
    return [
        (j, k)
        for j in range(len(rest))
        for k in range(j, len(rest))
        if is_feasible(reinserted(rest, request, j, k), n, variant)
    ]


def reinsertion_changes(
    costs: np.ndarray, rest: Sequence[int], request: int, variant: Variant
) -> dict[tuple[int, int], float]:
    """Exact cost change of every feasible reinsertion, by recomputing whole tours."""
    before = cost(costs, rest)
    return {
        (j, k): cost(costs, reinserted(rest, request, j, k)) - before
        for j, k in feasible_gaps(rest, request, variant)
    }


def heat_bath(
    costs: np.ndarray, rest: Sequence[int], request: int, variant: Variant, temperature: float
) -> dict[tuple[int, int], float]:
    """Probability of every feasible reinsertion under exp(-change / temperature)."""
    changes = reinsertion_changes(costs, rest, request, variant)
    least = min(changes.values())
    weights = {gaps: math.exp((least - c) / temperature) for gaps, c in changes.items()}
    total = sum(weights.values())
    return {gaps: weight / total for gaps, weight in weights.items()}

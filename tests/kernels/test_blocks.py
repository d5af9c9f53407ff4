"""Moving whole blocks of LIFO tours, and stretches of others."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.kernels.blocks import cheapest_elsewhere, move_block, room_of, shift_block
from n2s.problem import Instance, Variant, evaluate, random_tours
from oracles import cost as tour_cost
from oracles import is_feasible


def block_of(tour: list[int], request: int) -> tuple[int, int]:
    n = len(tour) // 2
    return tour.index(request), tour.index(request + n)


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_cheapest_other_gap_is_that_of_brute_force(n: int, symmetric: bool) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        costs = rng.random((2 * n + 1, 2 * n + 1))
        costs = costs + costs.T if symmetric else costs
        tour = random_tours(n, Variant.LIFO, 1, rng)[0]
        first, last = block_of(tour.tolist(), int(rng.integers(1, n + 1)))
        block, rest = tour[first : last + 1], np.delete(tour, np.s_[first : last + 1])
        candidates = [
            np.concatenate([rest[: gap + 1], block, rest[gap + 1 :]]).tolist()
            for gap in range(len(rest))
        ]
        others = [other for other in candidates if other != tour.tolist()]
        gap, change = cheapest_elsewhere(costs, tour, first, last, 0, 2 * n)
        if not others:
            assert gap == -1
            continue
        before = tour_cost(costs, tour)
        assert before + change == pytest.approx(min(tour_cost(costs, t) for t in others))
        place = np.argsort(tour)
        shift_block(tour, place, first, last, gap, np.empty(2 * n + 1, np.int64))
        assert tour_cost(costs, tour) == pytest.approx(before + change)
        assert tour.tolist() in others
        assert place.tolist() == np.argsort(tour).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_the_room_of_a_stretch_is_what_precedence_leaves(n: int) -> None:
    """Every gap of every stretch: inside of the room the tour stays feasible, outside it does not."""
    rng = np.random.default_rng(n)
    for _ in range(5):
        tour = random_tours(n, Variant.PDTSP, 1, rng)[0]
        place = np.argsort(tour)
        costs = rng.random((2 * n + 1, 2 * n + 1))
        for first in range(1, 2 * n + 1):
            for last in range(first, 2 * n + 1):
                lowest, highest = room_of(tour, place, n, first, last)
                feasible = {}
                for gap in [*range(first - 1), *range(last + 1, 2 * n + 1)]:
                    moved = tour.copy()
                    shift_block(moved, place.copy(), first, last, gap, np.empty_like(tour))
                    ok = is_feasible(moved.tolist(), n, Variant.PDTSP)
                    assert ok == (lowest <= gap <= highest)
                    if ok:
                        feasible[gap] = tour_cost(costs, moved) - tour_cost(costs, tour)
                gap, change = cheapest_elsewhere(costs, tour, first, last, lowest, highest)
                if feasible:
                    assert change == pytest.approx(min(feasible.values()))
                    assert change == pytest.approx(feasible[gap])
                else:
                    assert gap == -1


def test_a_lifo_block_may_go_everywhere() -> None:
    rng = np.random.default_rng(1)
    tour = random_tours(6, Variant.LIFO, 1, rng)[0]
    for request in range(1, 7):
        first, last = block_of(tour.tolist(), request)
        assert room_of(tour, np.argsort(tour), 6, first, last) == (0, 12)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_moves_keep_lifo_and_tell_the_true_change(n: int) -> None:
    rng = np.random.default_rng(n)
    points = rng.random((2 * n + 1, 2))
    instance = Instance(coordinates=points, variant=Variant.LIFO)
    costs = np.array(instance.costs)
    tour = random_tours(n, Variant.LIFO, 1, rng)[0]
    place, state = np.argsort(tour), np.array([3], np.uint64)
    moved = 0
    for _ in range(100):
        before = tour_cost(costs, tour)
        told, change = move_block(costs, tour, place, n, 1.0, state, np.empty(2 * n + 1, np.int64))
        assert tour_cost(costs, tour) == pytest.approx(before + change)
        assert evaluate(instance, tour.tolist()).feasible
        moved += told
    assert (moved > 0) == (n > 1)


def test_nothing_worse_is_taken_when_it_is_cold() -> None:
    rng = np.random.default_rng(5)
    instance = Instance(coordinates=rng.random((15, 2)), variant=Variant.LIFO)
    costs = np.array(instance.costs)
    tour = random_tours(7, Variant.LIFO, 1, rng)[0]
    place, state = np.argsort(tour), np.array([3], np.uint64)
    for _ in range(200):
        _, change = move_block(costs, tour, place, 7, 0.0, state, np.empty(15, np.int64))
        assert change <= 0.0


def test_a_move_that_changes_no_cost_is_a_move() -> None:
    """With equal costs everywhere every gap is as good, and the block still goes there."""
    n = 4
    tour = random_tours(n, Variant.LIFO, 1, np.random.default_rng(1))[0]
    costs, place, state = np.ones((9, 9)), np.argsort(tour), np.array([3], np.uint64)
    for _ in range(50):
        before = tour.copy()
        moved, change = move_block(costs, tour, place, n, 1.0, state, np.empty(9, np.int64))
        assert change == 0.0
        assert moved == (before.tolist() != tour.tolist())
    assert place.tolist() == np.argsort(tour).tolist()

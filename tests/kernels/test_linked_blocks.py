"""Blocks of a linked LIFO tour against plain lists."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from kernels.test_linked import SPAN, check, linked, order
from n2s.kernels.legs import nearest_stops
from n2s.kernels.linked_blocks import LONGEST, block_length, cheapest_near, shift_links
from n2s.problem import Variant, random_tour


def moved(tour: list[int], request: int, gap: int) -> list[int]:
    """The tour with the block of a request right behind another node."""
    n = len(tour) // 2
    first, last = tour.index(request), tour.index(request + n)
    block, rest = tour[first : last + 1], tour[:first] + tour[last + 1 :]
    at = rest.index(gap) + 1
    return rest[:at] + block + rest[at:]


@pytest.mark.parametrize("span", [SPAN, 64])
@pytest.mark.parametrize("n", [2, 3, 7, 12])
def test_blocks_move_as_in_plain_lists(n: int, span: int) -> None:
    """To random places, one after the other; with little room keys are dealt anew."""
    rng = np.random.default_rng(n)
    costs = rng.random((2 * n + 1, 2 * n + 1))
    tour = random_tour(n, Variant.LIFO, rng).tolist()
    links = linked(Variant.LIFO.code, costs, np.array(tour), span)
    for _ in range(200):
        request = int(rng.integers(1, n + 1))
        first, last = np.uint32(request), np.uint32(request + n)
        length = block_length(links, first, last)
        begin, end = tour.index(request), tour.index(request + n)
        assert length == end - begin + 1
        others = tour[: begin - 1] + tour[end + 1 :]
        if others:
            gap = int(rng.choice(others))
            shift_links(links, costs, first, last, length, np.uint32(gap))
            tour = moved(tour, request, gap)
            assert order(links) == tour
            assert oracles.is_feasible(tour, n, Variant.LIFO)
            check(links, costs, Variant.LIFO)
    if span == 64 and n == 12:
        assert links.span[1] > 3


@pytest.mark.parametrize("width", [24, 3, 0])
def test_the_cheapest_of_the_gaps_near(width: int) -> None:
    """Against recomputed tours; with all stops near, of all gaps."""
    n = 12
    for seed in range(6):
        rng = np.random.default_rng([seed, width])
        costs = rng.random((2 * n + 1, 2 * n + 1))
        near = nearest_stops(costs, width)
        tour = random_tour(n, Variant.LIFO, rng).tolist()
        links = linked(Variant.LIFO.code, costs, np.array(tour), SPAN)
        for request in range(1, n + 1):
            begin, end = tour.index(request), tour.index(request + n)
            behind = {0, *near[request].tolist()}
            before = {0, *near[request + n].tolist()}
            gaps = [
                node
                for at, node in enumerate(tour)
                if (at < begin - 1 or at > end)
                and (node in behind or tour[(at + 1) % len(tour)] in before)
            ]
            changes = {
                gap: oracles.cost(costs, moved(tour, request, gap)) - oracles.cost(costs, tour)
                for gap in gaps
            }
            gap, change = cheapest_near(
                links, costs, near, np.uint32(request), np.uint32(request + n)
            )
            if changes:
                assert change == pytest.approx(min(changes.values()))
                assert changes[int(gap)] == pytest.approx(change)
            else:
                assert change == np.inf


def test_long_blocks_stay() -> None:
    """A nest of requests: the inner ones may move, the outer ones are too long."""
    n = 40
    tour = np.array([0, *range(1, n + 1), *range(2 * n, n, -1)])
    links = linked(Variant.LIFO.code, np.ones((2 * n + 1, 2 * n + 1)), tour, SPAN)
    for request in range(1, n + 1):
        stops = 2 * (n + 1 - request)
        found = block_length(links, np.uint32(request), np.uint32(request + n))
        assert found == (stops if stops <= LONGEST else 0)

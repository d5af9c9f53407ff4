"""Which requests are taken out: by hand where no chance is involved, by frequency where it is."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from n2s.kernels.ruin import LONGEST_STRING, SKIP, mark, ruin_similar, ruin_stretch, ruin_strings
from n2s.problem import Variant, random_tour


def places(tour: np.ndarray) -> np.ndarray:
    """The position of every node."""
    return np.argsort(tour)


def request_of(node: int, n: int) -> int:
    return node if node <= n else node - n


def test_a_request_is_listed_once_by_either_of_its_nodes() -> None:
    gone, out = np.zeros(4, np.uint8), np.zeros(3, np.int64)
    listed = 0
    for node in (5, 2, 3, 6, 5):  # the delivery of 2, 2 itself, 3, the delivery of 3, that of 2
        listed = mark(node, 3, gone, out, listed)
    assert listed == 2
    assert out[:2].tolist() == [2, 3]
    assert gone.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("seed", "count", "expected"),
    [
        (1, 1, [1]),
        (1, 3, [1, 2, 3]),
        (2, 2, [2, 3]),
        (5, 4, [2, 3, 1]),  # from the delivery of 2 to the end: 5 3 6 4, and no further
        (4, 3, [1]),  # the last stop
    ],
)
def test_a_stretch_by_hand(seed: int, count: int, expected: list[int]) -> None:
    """Tour 0 1 2 5 3 6 4: the requests met from the seed on, the seed's own listed first."""
    tour = np.array([0, 1, 2, 5, 3, 6, 4])
    gone, out = np.zeros(4, np.uint8), np.zeros(4, np.int64)
    listed = mark(seed, 3, gone, out, 0)
    listed = ruin_stretch(tour, places(tour), seed, count, 3, gone, out, listed)
    assert out[:listed].tolist() == expected
    assert np.flatnonzero(gone).tolist() == sorted(expected)


@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(list(Variant)))
def test_strings_stay_near_the_seed_and_within_their_number(
    seed: int, n: int, variant: Variant
) -> None:
    rng = np.random.default_rng(seed)
    tour = random_tour(n, variant, rng)
    place = places(tour)
    width = int(rng.integers(1, 2 * n))
    near = np.stack([rng.permutation(2 * n)[:width] + 1 for _ in range(2 * n + 1)])
    node, count = int(rng.integers(1, 2 * n + 1)), int(rng.integers(1, n + 1))
    gone, out = np.zeros(n + 1, np.uint8), np.zeros(n, np.int64)
    state = np.array([seed], np.uint64)
    listed = mark(node, n, gone, out, 0)
    listed = ruin_strings(tour, place, near, node, count, n, gone, out, listed, state)
    taken = out[:listed].tolist()
    assert 1 <= listed <= count
    assert taken[0] == request_of(node, n)
    assert len(set(taken)) == listed
    assert np.flatnonzero(gone).tolist() == sorted(taken)
    for request in taken[1:]:
        apart = np.abs(place[[request, request + n]][:, None] - place[near[node]][None])
        assert apart.min() < LONGEST_STRING


def test_a_string_is_any_window_through_its_node() -> None:
    """One neighbour in the middle of the tour: a length of 1 to 4, then a place within it, all alike."""
    n = 9
    tour = np.arange(2 * n + 1)  # all pickups, then all deliveries
    near = np.full((2 * n + 1, 1), 5)
    expected = Counter({(9,): SKIP})
    for length in range(1, LONGEST_STRING + 1):
        for offset in range(length):
            window = tuple(sorted({9, *range(5 - offset, 5 - offset + length)}))
            expected[window] += (1 - SKIP) / LONGEST_STRING / length
    draws = 20_000
    counts: Counter[tuple[int, ...]] = Counter()
    state = np.array([1], np.uint64)
    for _ in range(draws):
        gone, out = np.zeros(n + 1, np.uint8), np.zeros(n, np.int64)
        listed = mark(9, n, gone, out, 0)
        listed = ruin_strings(tour, places(tour), near, 9, n, n, gone, out, listed, state)
        counts[tuple(sorted(out[:listed].tolist()))] += 1
    assert set(counts) == set(expected)
    for window, probability in expected.items():
        sigma = (probability * (1 - probability) / draws) ** 0.5
        assert abs(counts[window] / draws - probability) < 5 * sigma, window


def test_similar_requests_come_in_their_order_until_there_are_enough() -> None:
    n = 6
    alike = np.array(
        [[0] * 5, *([r for r in (4, 2, 6, 3, 1, 5) if r != s][:5] for s in range(1, 7))]
    )
    state = np.array([7], np.uint64)
    for index in range(4000):
        seed = 1 + index % (2 * n)
        count = 1 + index % n
        gone, out = np.zeros(n + 1, np.uint8), np.zeros(n, np.int64)
        listed = mark(seed, n, gone, out, 0)
        listed = ruin_similar(alike, seed, count, n, gone, out, listed, state)
        taken = out[:listed].tolist()
        own = request_of(seed, n)
        ranks = [alike[own].tolist().index(request) for request in taken[1:]]
        assert taken[0] == own
        assert ranks == sorted(set(ranks))
        assert listed <= count


def test_similar_requests_are_each_passed_over_with_the_same_probability() -> None:
    n, draws = 4, 20_000
    alike = np.array([[0, 0, 0], [3, 2, 4], [1, 3, 4], [1, 2, 4], [1, 2, 3]])
    state = np.array([3], np.uint64)
    taken: Counter[int] = Counter()
    for _ in range(draws):
        gone, out = np.zeros(n + 1, np.uint8), np.zeros(n, np.int64)
        listed = ruin_similar(alike, 5, n, n, gone, out, mark(5, n, gone, out, 0), state)
        taken.update(out[:listed].tolist())
    assert taken[1] == draws
    sigma = (SKIP * (1 - SKIP) / draws) ** 0.5
    for request in (2, 3, 4):
        assert abs(taken[request] / draws - (1 - SKIP)) < 5 * sigma

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s.errors import InputError
from n2s.problem import Move, Variant, inverse, random_tour


@given(st.permutations(range(9)))
def test_the_inverse_of_the_inverse_is_the_tour(order: list[int]) -> None:
    tour = np.array(order)
    assert (tour[inverse(tour)] == np.arange(9)).all()
    assert (inverse(inverse(tour)) == tour).all()


def test_a_move_by_hand() -> None:
    """Without request 1 the tour 0 1 2 3 4 5 6 is 0 2 3 5 6."""
    tour = np.array([0, 1, 2, 3, 4, 5, 6])
    assert Move(1, 0, 5).apply(tour, Variant.PDTSP).tolist() == [0, 1, 2, 3, 5, 4, 6]
    assert Move(1, 6, 6).apply(tour, Variant.PDTSP).tolist() == [0, 2, 3, 5, 6, 1, 4]


@pytest.mark.parametrize(
    ("move", "sentence"),
    [
        (Move(4, 0, 0), "no request 4 among 1..3"),
        (Move(1, 4, 0), "node 4 is not in the tour without request 1"),
        (Move(1, 5, 2), "would come before its pickup"),
        (Move(1, 2, 5), "the lifo rule forbids the delivery of request"),
    ],
)
def test_impossible_moves_are_named(move: Move, sentence: str) -> None:
    tour = np.array([0, 1, 4, 2, 5, 3, 6])
    with pytest.raises(InputError, match=sentence):
        move.apply(tour, Variant.LIFO)


@given(st.integers(0, 1000), st.integers(1, 4), st.sampled_from(list(Variant)))
def test_a_move_works_exactly_where_its_tour_is_feasible(
    seed: int, n: int, variant: Variant
) -> None:
    rng = np.random.default_rng(seed)
    tour = random_tour(n, variant, rng)
    request = int(rng.integers(1, n + 1))
    rest = oracles.without(tour.tolist(), request)
    allowed = set(oracles.feasible_gaps(rest, request, variant))
    for j, pickup_after in enumerate(rest):
        for k, delivery_after in enumerate(rest):
            move = Move(request, pickup_after, delivery_after)
            if (j, k) in allowed:
                expected = oracles.reinserted(rest, request, j, k)
                assert move.apply(tour, variant).tolist() == expected
            else:
                with pytest.raises(InputError):
                    move.apply(tour, variant)

"""Rounds by hand: of limited steps, of a clock whose pace changes, and of what is left at the end."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.search.rounds import Rounds


def begun(rounds: Rounds, total: int) -> list[int]:
    """Steps that a new round begins with, of so many."""
    return [s for s in range(total) if rounds.begins(s, total - s if s else None)]


@pytest.mark.parametrize(
    ("total", "count", "expected"),
    [
        (20, 1, []),
        (20, 2, [10]),
        (100, 3, [34, 67]),  # 33.3 steps each
        (41, 4, [11, 21, 31]),
        (12, 3, [4, 8]),
    ],
)
def test_limited_steps(total: int, count: int, expected: list[int]) -> None:
    assert begun(Rounds(lambda _: count, n=2), total) == expected


def test_where_a_round_stands() -> None:
    rounds = Rounds(lambda _: 3, n=2)
    assert (rounds.used(1), rounds.length) == (0.0, None)
    seen = []
    for step in range(1, 100):
        rounds.begins(step, 100 - step)
        seen.append(rounds.used(step))
    assert rounds.length == pytest.approx(100 / 3)
    assert seen[0] == 0.0  # no plan before the tour is built
    assert seen[1] == pytest.approx(0.06)
    assert seen[32] == pytest.approx(0.99)
    assert seen[33] == pytest.approx(0.02)  # 34 is two thirds of a step behind 33.3
    assert seen[98] == pytest.approx(0.97)


def test_a_clock_that_turns_out_slower() -> None:
    """Rounds of 50 steps; 200 steps were promised, but from the second round on only 100 are."""
    rounds = Rounds(lambda total: round(total / 50), n=5)
    assert not rounds.begins(4, 196.0)
    assert rounds.length is None
    assert not rounds.begins(5, 195.0)
    assert rounds.length == 50
    assert not rounds.begins(49, 151.0)
    assert rounds.begins(50, 50.0)
    assert (rounds.used(50), rounds.length) == (0.0, 50)
    assert not rounds.begins(99, 1.0)


def test_a_clock_that_turns_out_faster() -> None:
    """The first steps took long and promised 25, one round; at step 40 it is known that there are 400."""
    rounds = Rounds(lambda total: max(1, round(total / 20)), n=5)
    for step in (5, 20, 24):
        assert not rounds.begins(step, 25.0 - step)
    assert rounds.length == 25
    assert rounds.begins(40, 360.0)
    assert (rounds.used(40), rounds.length) == (0.0, 20)
    assert not any(rounds.begins(step, 400.0 - step) for step in range(41, 60))
    assert rounds.begins(60, 340.0)


def test_too_little_for_another_round() -> None:
    """Less than half a round is left behind the present one, so it becomes longer."""
    rounds = Rounds(lambda total: round(total / 50), n=5)
    rounds.begins(5, 95.0)
    assert rounds.length == 50
    assert not rounds.begins(50, 10.0)
    assert (rounds.used(45), rounds.length) == (0.75, 60)
    assert not rounds.begins(59, 1.0)


def test_the_first_round_builds_more() -> None:
    """Rounds of 20 steps, the first with 30 more: it builds 50 requests, the others about 20."""
    rounds = Rounds(lambda _: 4, n=50, share=0.4)
    assert begun(rounds, 110) == [50, 70, 90]
    assert rounds.length == pytest.approx(20)


def test_a_budget_that_ends_before_the_first_tour() -> None:
    rounds = Rounds(lambda _: 1, n=50, share=0.4)
    assert begun(rounds, 20) == []
    rounds.begins(50, 1.0)
    assert rounds.length == pytest.approx(51)


@pytest.mark.parametrize("left", [0.0, 1e-8, 0.5])
def test_nothing_is_left(left: float) -> None:
    """A clock that is nearly over when the first tour is built, or whose promise was too good."""
    rounds = Rounds(lambda total: 1, n=10, share=0.6)
    assert not rounds.begins(50, left)
    assert rounds.used(50) == pytest.approx(1.0, abs=0.02)
    rounds = Rounds(lambda total: max(1, round(total / 20)), n=5)
    assert not rounds.begins(5, 95.0)
    assert rounds.begins(20, 80.0)
    assert not rounds.begins(21, left)
    assert not rounds.begins(22, left)
    assert np.isfinite(rounds.used(22))


def test_draws_for_those_who_build_a_part() -> None:
    generator = np.random.default_rng(1)
    assert Rounds(lambda _: 2, n=5).draw(generator, 3).shape == (3, 0)
    draws = Rounds(lambda _: 2, n=5, share=0.5).draw(generator, 3)
    # A share of 1 has drawn nothing before.
    assert draws.tolist() == np.random.default_rng(1).random((3, 7)).tolist()


def test_who_does_not_know_what_is_left_goes_on() -> None:
    rounds = Rounds(lambda total: 5, n=2)
    assert not any(rounds.begins(step, None) for step in range(1000))

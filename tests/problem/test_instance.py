from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from n2s.errors import InputError
from n2s.problem import Instance, Metric, Rounding, evaluate, evaluate_nodes, generate

SQUARE = np.array([(0, 0), (3, 4), (0, 8)], dtype=float)  # 0 to 1: 5, 1 to 2: 5, 2 to 0: 8
MATRIX = np.array([(0, 1, 2), (3, 0, 4), (5, 6, 0)], dtype=float)


def test_costs_from_coordinates() -> None:
    assert Instance(coordinates=SQUARE).costs.tolist() == [[0, 5, 8], [5, 0, 5], [8, 5, 0]]


def test_a_matrix_is_the_cost_and_may_be_asymmetric() -> None:
    instance = Instance(coordinates=SQUARE, matrix=MATRIX)
    assert instance.costs.tolist() == MATRIX.tolist()
    assert not instance.symmetric
    assert Instance(coordinates=SQUARE).symmetric


def test_open_ends_are_free_arcs() -> None:
    """Only the arcs out of (into) the depot lose their cost: 0 -> 1 -> 2 -> 0 is 5 + 5 + 8."""
    tour = [0, 1, 2]
    costs = {
        (False, False): 18.0,
        (True, False): 13.0,
        (False, True): 10.0,
        (True, True): 5.0,
    }
    for (start, end), expected in costs.items():
        instance = Instance(coordinates=SQUARE, open_start=start, open_end=end)
        assert evaluate_nodes(instance, tour).cost == expected
        assert instance.costs[0, 1] == (0 if start else 5)
        assert instance.costs[2, 0] == (0 if end else 8)


def test_a_separate_end_is_the_way_back() -> None:
    """Ending at (0, 9) instead of (0, 0): the last leg is 1, the first still starts at (0, 0)."""
    instance = Instance(coordinates=SQUARE, end=np.array([0.0, 9.0]), end_id="home")
    evaluation = evaluate_nodes(instance, [0, 1, 2])
    assert evaluation.cost == 5 + 5 + 1
    assert evaluation.route == [0, 1, 2, "home"]
    assert instance.costs[0].tolist() == [0, 5, 8]
    assert instance.costs[:, 0].tolist() == [0, pytest.approx(34**0.5), 1]


def test_an_end_without_an_id_is_called_end() -> None:
    instance = Instance(coordinates=SQUARE, end=np.array([0.0, 9.0]))
    route = evaluate_nodes(instance, [0, 1, 2]).route
    assert route == [0, 1, 2, "end"]
    assert evaluate(instance, route).feasible


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())
def test_legs_equal_the_matrix(seed: int, start: bool, end: bool, apart: bool) -> None:
    rng = np.random.default_rng(seed)
    instance = Instance(
        coordinates=rng.random((7, 2)) * 100,
        rounding=rng.choice(list(Rounding)),
        open_start=start,
        open_end=end,
        end=rng.random(2) if apart and not end else None,
    )
    origins, targets = rng.integers(7, size=(2, 40))
    different = origins != targets
    legs = instance.legs(origins, targets)
    assert (legs == instance.costs[origins, targets])[different].all()


def test_costs_of_a_thousand_nodes_are_built_in_blocks() -> None:
    instance = generate(600, seed=3)[0]
    points = instance.coordinates
    assert points is not None
    assert instance.costs[3, 1200] == pytest.approx(np.hypot(*(points[3] - points[1200])))
    assert instance.costs[1200, 3] == instance.costs[3, 1200]


def test_nothing_can_be_changed_afterwards() -> None:
    points = SQUARE.copy()
    instance = Instance(coordinates=points)
    points[0] = 99
    assert instance.costs[0, 1] == 5
    assert instance.coordinates is not None
    with pytest.raises(ValueError, match="read-only"):
        instance.coordinates[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        instance.costs[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.name = "other"  # type: ignore[misc]


def test_stops_may_share_a_place_with_each_other_and_the_depot() -> None:
    instance = Instance(coordinates=np.zeros((5, 2)))
    assert evaluate_nodes(instance, [0, 1, 2, 3, 4]).cost == 0.0
    assert evaluate_nodes(instance, [0, 1, 2, 3, 4]).feasible


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ((0, 1, 2), [0, 1, 2]),
        ((1, 3, 2), [0, 2, 1]),  # counted from 1 in the file's own order
        ((2, 0, 1), [2, 0, 1]),
        ((1, 2, 4), [0, 1, 2]),  # a gap: numbered by node
        (("a", "b", "c"), [0, 1, 2]),
        ((5, 6, 7), [0, 1, 2]),
        ((1, 2, 2**70), [0, 1, 2]),
    ],
)
def test_numbers_follow_whole_number_ids(ids: tuple[int | str, ...], expected: list[int]) -> None:
    assert Instance(coordinates=SQUARE, ids=ids).numbers.tolist() == expected


def test_ids_are_found_as_number_or_text() -> None:
    instance = Instance(coordinates=SQUARE, ids=(7, "b", 9))
    assert [instance.find(token) for token in (7, "7", "b", "9", "x")] == [0, 0, 1, 2, None]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "an instance needs coordinates or a distance matrix"),
        ({"coordinates": SQUARE[:2]}, "at least one request, not 2 nodes"),
        ({"coordinates": np.zeros((4, 2))}, "an odd number of nodes, not 4"),
        ({"coordinates": np.zeros((3, 3))}, r"\(nodes, 2\), not \(3, 3\)"),
        ({"coordinates": [(0, 0), (1, float("nan")), (2, 2)], "ids": ("a", "b", "c")}, "node 'b'"),
        ({"coordinates": [(0, 0), (1, 1), (2, float("inf"))]}, "node 2 has coordinates"),
        ({"coordinates": [(0, 0), (1, 1), (2, 1e200)]}, "node 2 has coordinates"),
        ({"coordinates": [("a", 0), (1, 1), (2, 2)]}, "coordinates must be numbers"),
        ({"matrix": np.zeros((3, 4))}, r"must be square, not \(3, 4\)"),
        ({"matrix": -MATRIX}, r"from node 0 to node 1 is -1.0"),
        ({"matrix": MATRIX * float("nan")}, "is nan"),
        ({"matrix": np.zeros((5, 5)), "coordinates": SQUARE}, "5 rows but there are 3"),
        ({"coordinates": SQUARE, "ids": (1, 2, 1)}, "node id 1 occurs twice"),
        ({"coordinates": np.zeros((5, 2)), "requests": ("r", "r")}, "request id 'r' occurs twice"),
        ({"coordinates": SQUARE, "ids": (1, 2)}, "ids has 2 entries, not 3"),
        ({"coordinates": SQUARE, "loads": [-1.0]}, "request 1 has load -1.0"),
        ({"coordinates": SQUARE, "loads": [1.0, 1.0]}, r"shape \(2,\), not \(1,\)"),
        ({"coordinates": SQUARE, "capacity": float("nan")}, "the capacity is nan"),
        ({"coordinates": SQUARE, "capacity": 0.5}, "load 1, more than the capacity 0.5"),
        ({"coordinates": SQUARE, "open_end": True, "end": [1, 1]}, "an open route has no end"),
        ({"coordinates": SQUARE, "end": [1, 1, 1]}, "one coordinate pair"),
        ({"coordinates": SQUARE, "end": [1, 1], "end_id": 2}, "both a stop and the end"),
        ({"matrix": MATRIX, "end": [1, 1]}, "the end is column 0"),
        ({"coordinates": SQUARE, "ids": (0, 1, "1")}, "node ids 1 and '1' are one text"),
        ({"coordinates": SQUARE, "end": [1, 1], "end_id": "2"}, "both a stop and the end"),
        ({"coordinates": SQUARE, "end": [1, 1], "end_id": "0"}, "node ids 0 and '0' are one text"),
        ({"coordinates": np.zeros((5, 2)), "requests": (1, "1")}, "request ids 1 and '1'"),
        ({"coordinates": SQUARE, "ids": (0, [1], 2)}, r"node id \[1\] must be a text or"),
        ({"coordinates": SQUARE, "ids": (0, True, 2)}, "node id True must be a text or"),
        ({"coordinates": SQUARE, "ids": 5}, "ids must be a list of ids, not 5"),
        ({"coordinates": SQUARE, "end_id": [1]}, r"node id \[1\] must be"),
        ({"coordinates": SQUARE, "capacity": "x"}, "the capacity must be a number, not 'x'"),
        (
            {"coordinates": SQUARE, "capacity": 10**400},
            "the capacity is a number that is too large",
        ),
        ({"coordinates": [(0, 0), (10**400, 0), (1, 1)]}, "coordinates must be numbers"),
        ({"coordinates": SQUARE, "loads": [10**400]}, "loads must be numbers"),
        (
            {"coordinates": [(0, 0), (91, 20), (20, 91)], "metric": Metric.GREAT_CIRCLE},
            "node 2 has latitude 91.*swapped",
        ),
        (
            {"coordinates": [(0, 0), (181, 20), (20, 1)], "metric": Metric.GREAT_CIRCLE},
            "node 1 has longitude 181",
        ),
    ],
)
def test_bad_data_is_named(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Instance(**fields)  # type: ignore[arg-type]


def test_messages_quote_ids_in_bounds() -> None:
    with pytest.raises(InputError) as caught:
        Instance(coordinates=[(0, 0), (np.nan, 0), (1, 1)], ids=("a", "\x1b[2J" * 10_000, "c"))  # type: ignore[arg-type]
    assert "\\x1b" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400

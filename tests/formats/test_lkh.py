from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import vrplib
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats import lkh
from n2s.formats.base import Source
from n2s.problem import Instance, Metric, Rounding, Variant, evaluate, generate
from n2s.problem.distance import FloatArray

FIVE = """\
NAME : five
COMMENT : two requests
TYPE : PDTSPL
DIMENSION : 5
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 8
4 0 1
5 1 1
PICKUP_AND_DELIVERY_SECTION
1 0 0 0 0 0 0
2 0 0 0 0 0 4
3 0 0 0 0 5 0
4 0 0 0 0 2 0
5 0 0 0 0 0 3
DEPOT_SECTION
1
-1
EOF
"""
LOADED = (
    FIVE.replace("PDTSPL", "PDTSP")
    .replace("DIMENSION : 5", "DIMENSION : 5\nCAPACITY : 3")
    .replace("\n2 0 0 0 0 0 4", "\n2 2 0 0 0 0 4")
    .replace("\n4 0 0 0 0 2 0", "\n4 -2 0 0 0 2 0")
    .replace("\n5 0 0 0 0 0 3", "\n5 1 0 0 0 0 3")
    .replace("\n3 0 0 0 0 5 0", "\n3 -1 0 0 0 5 0")
)


def parse(text: str | bytes, name: str = "five.pdtspl") -> Instance:
    data = text if isinstance(text, bytes) else text.encode()
    (instance,) = lkh.parse(Source(name, data))
    return instance


def pairs(instance: Instance) -> set[tuple[int, int]]:
    """Requests by the numbers that files know."""
    n, numbers = instance.n, instance.numbers.tolist()
    return {(numbers[i], numbers[i + n]) for i in range(1, n + 1)}


def costs(instance: Instance) -> FloatArray:
    """Costs by the numbers that files know."""
    order = np.argsort(instance.numbers)
    return instance.costs[np.ix_(order, order)]


def test_reading() -> None:
    instance = parse(FIVE)
    assert instance.name == "five"
    assert instance.variant is Variant.LIFO
    assert instance.ids == (1, 2, 5, 4, 3)  # depot, pickups 2 and 5, their deliveries 4 and 3
    assert instance.loads is None
    # 1-2: 5; 2-5: sqrt(4 + 9) = 3.6 -> 4; 5-3: sqrt(25 + 49) = 8.6 -> 9; 3-4: sqrt(36 + 49) = 9.2
    # -> 9; 4-1: 1. Together 28, and last in, first out.
    evaluation = evaluate(instance, [1, 2, 5, 3, 4, 1])
    assert evaluation.feasible
    assert evaluation.cost == 28


@pytest.mark.parametrize(
    ("kind", "cost"),
    # 1-2, 2-4, 4-5, 5-3, 3-1: 5, sqrt(18) = 4.24, 1, sqrt(74) = 8.6, 10
    [
        ("EUC_2D", 5 + 4 + 1 + 9 + 10),
        ("CEIL_2D", 5 + 5 + 1 + 9 + 10),
        ("FLOOR_2D", 5 + 4 + 1 + 8 + 10),
        ("MAN_2D", 7 + 6 + 1 + 12 + 14),
        ("MAX_2D", 4 + 3 + 1 + 7 + 8),
    ],
)
def test_weight_types_and_round_trip(kind: str, cost: int) -> None:
    instance = parse(FIVE.replace("EUC_2D", kind))
    assert evaluate(instance, [1, 2, 4, 5, 3, 1]).cost == cost
    written = lkh.render([instance])
    assert f"EDGE_WEIGHT_TYPE : {kind}\n".encode() in written
    np.testing.assert_array_equal(costs(parse(written)), costs(instance))


def test_geo_round_trip() -> None:
    instance = parse(FIVE.replace("EUC_2D", "GEO"))
    assert instance.metric is Metric.TSPLIB_GEO
    written = lkh.render([instance])
    assert b"EDGE_WEIGHT_TYPE : GEO" in written
    np.testing.assert_array_equal(costs(parse(written)), costs(instance))


def test_rows_in_another_order_windows_line_ends_and_a_byte_order_mark() -> None:
    lines = FIVE.splitlines()
    lines[6], lines[9] = lines[9], lines[6]
    lines[12], lines[15] = lines[15], lines[12]
    other = parse(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    np.testing.assert_array_equal(costs(other), costs(parse(FIVE)))
    assert pairs(other) == pairs(parse(FIVE)) == {(1, 3), (4, 2)}


def test_depot_that_is_not_node_1() -> None:
    text = (
        FIVE.replace("\n1 0 0 0 0 0 0", "\n1 0 0 0 0 0 4")
        .replace("\n4 0 0 0 0 2 0", "\n4 0 0 0 0 1 0")
        .replace("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 0")
        .replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n2")
    )
    instance = parse(text)
    assert instance.ids[0] == 2
    again = parse(lkh.render([instance]))
    assert again.ids == instance.ids


def test_without_a_depot_section_node_1_is_the_depot() -> None:
    assert parse(FIVE.split("DEPOT_SECTION")[0]).ids[0] == 1


def test_loads_and_capacity() -> None:
    instance = parse(LOADED, "five.pdtsp")
    assert instance.variant is Variant.PDTSP
    assert instance.capacity == 3
    assert instance.weights.tolist() == [2, 1]
    again = parse(lkh.render([instance]))
    assert again.capacity == 3
    assert again.weights.tolist() == [2, 1]


def test_loads_without_capacity_are_kept() -> None:
    instance = parse(LOADED.replace("CAPACITY : 3\n", ""))
    assert instance.capacity is None
    assert instance.loads is not None
    assert instance.loads.tolist() == [2, 1]


def test_unit_loads_with_a_capacity_are_written_as_loads() -> None:
    instance = Instance(coordinates=generate(3)[0].coordinates, capacity=2.0)
    again = parse(lkh.render([instance]))
    assert again.weights.tolist() == [1, 1, 1]
    assert again.capacity == 2


def test_lifo_ignores_demands_and_cannot_keep_a_capacity() -> None:
    assert parse(LOADED.replace("PDTSP", "PDTSPL")).loads is None
    instance = Instance(coordinates=generate(2)[0].coordinates, capacity=2, variant=Variant.LIFO)
    with pytest.raises(UnsupportedError, match="capacity cannot be written"):
        lkh.render([instance])


def test_one_instance_a_file() -> None:
    with pytest.raises(InputError, match="holds one instance, not 2"):
        lkh.render(generate(2, count=2))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PDTSPL", "PDTSPF", r"FIFO loading \(PDTSPF\) is not supported"),
        ("PDTSPL", "CVRP", "TYPE 'CVRP' is not supported, only PDTSP and PDTSPL"),
        ("\n2 0 0 0 0 0 4", "\n2 0 3 0 0 0 4", "node 2 has early time 3"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 9 0 0 4", "node 2 has late time 9"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 5 0 4", "node 2 has service time 5"),
        ("DEPOT_SECTION\n1", "DEPOT_SECTION\n1\n2", "more than one depot"),
        ("DIMENSION", "VEHICLES : 2\nDIMENSION", "VEHICLES 2 is not supported, only 1"),
        ("DIMENSION", "DISTANCE : 2\nDIMENSION", "the specification DISTANCE is not supported"),
        ("DEPOT_SECTION", "TIME_WINDOW_SECTION\n1 0 0\nDEPOT_SECTION", "TIME_WINDOW_SECTION is"),
    ],
)
def test_unsupported(old: str, new: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        parse(FIVE.replace(old, new, 1))
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TYPE : PDTSPL\n", "", "the specification TYPE is missing"),
        ("\n2 3 4\n", "\n1 3 4\n", r"node 1 occurs twice \(first in line 7\)"),
        ("\n2 3 4\n", "\n6 3 4\n", r"node 6 is outside 1..5"),
        ("\n2 3 4\n", "\nx 3 4\n", "the node must be a whole number, not 'x'"),
        ("\n2 3 4\n", "\n", "NODE_COORD_SECTION has 4 rows but DIMENSION is 5"),
        ("\n2 0 0 0 0 0 4", "", "PICKUP_AND_DELIVERY_SECTION has 4 rows but DIMENSION is 5"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 4", "a row here is 'id demand early late service"),
        ("\n2 0 0 0 0 0 4", "\n3 0 0 0 0 0 4", "node 3 occurs twice"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 9", "node 2 is paired with node 9, which is none"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 3", r"paired with node 3, whose row \(line 15\)"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 4 0", "node 2 is paired with node 4, whose row"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 2", "node 2 is paired with node 2, whose row"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 3 4", "node 2 has both a pickup and a delivery"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 0", "node 2 has neither a pickup nor a delivery"),
        ("\n2 0 0 0 0 0 4", "\n2 0 0 0 0 0 1.5", "the delivery of node 2 must be a whole number"),
        ("\n2 0 0 0 0 0 4", "\n2 nan 0 0 0 0 4", "the demand of node 2 must be a number"),
        ("\n1 0 0 0 0 0 0", "\n1 0 0 0 0 0 4", "node 1 is the depot and cannot be paired"),
        ("DEPOT_SECTION\n1", "DEPOT_SECTION\n7", r"the depot 7 is outside 1\.\.5"),
        ("DEPOT_SECTION\n1", "DEPOT_SECTION", "names no node"),
        ("DEPOT_SECTION\n1", "DEPOT_SECTION\nx", "the depot must be a whole number"),
        ("PICKUP_AND_DELIVERY_SECTION", "EOF", "PICKUP_AND_DELIVERY_SECTION is missing"),
    ],
)
def test_errors(old: str, new: str, message: str) -> None:
    assert old in FIVE
    with pytest.raises(InputError, match=message):
        parse(FIVE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\n4 -2", "\n4 -1", "node 4 has demand -1, but its pickup 2 has 2"),
        ("\n2 2", "\n2 -2", "pickup 2 has a negative demand"),
        ("\n1 0 0 0 0 0 0", "\n1 4 0 0 0 0 0", "the depot 1 has a demand"),
        ("CAPACITY : 3", "CAPACITY : much", "CAPACITY must be a number, not 'much'"),
        ("CAPACITY : 3", "CAPACITY : 1", "more than the capacity 1"),
    ],
)
def test_errors_of_loads(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(LOADED.replace(old, new, 1))


def test_recognition() -> None:
    assert lkh.recognises(Source("x", FIVE.encode()))
    assert lkh.recognises(Source("x", FIVE.replace("\n", "\r\n").encode()))
    assert not lkh.recognises(Source("x", b"TYPE : TSP\n"))
    assert not lkh.recognises(Source("x", bytes(range(256))))


SHAPES = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(
            [Metric.EUCLIDEAN, Metric.MANHATTAN, Metric.MAXIMUM, Metric.TSPLIB_GEO]
        ),
        "rounding": st.sampled_from(list(Rounding)),
        "variant": st.sampled_from(list(Variant)),
        "open_start": st.booleans(),
        "open_end": st.booleans(),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    shape=SHAPES,
    seed=st.integers(0, 999),
    requests=st.integers(1, 4),
    ids=st.sampled_from(["nodes", "shuffled", "words"]),
    ends=st.booleans(),
    explicit=st.booleans(),
)
def test_round_trip(
    shape: dict[str, Any], seed: int, requests: int, ids: str, ends: bool, explicit: bool
) -> None:
    rng = np.random.default_rng(seed)
    size = 2 * requests + 1
    names = {
        "nodes": range(size),
        "shuffled": (rng.permutation(size) + 1).tolist(),
        "words": [f"stop {i}" for i in range(size)],
    }[ids]
    points = rng.random((size, 2)) * 80
    instance = Instance(
        coordinates=points,
        matrix=rng.random((size, size)) if explicit else None,
        end=rng.random(2) if ends and not explicit and not shape["open_end"] else None,
        ids=tuple(names),
        **shape,
    )
    again = parse(lkh.render([instance]))
    np.testing.assert_array_equal(costs(again), costs(instance))
    assert pairs(again) == pairs(instance)
    assert again.numbers[0] == instance.numbers[0]
    assert again.variant is instance.variant
    assert again.coordinates is not None
    np.testing.assert_array_equal(
        again.coordinates[np.argsort(again.numbers)], points[np.argsort(instance.numbers)]
    )


@pytest.mark.parametrize("rounding", [Rounding.NEAREST, Rounding.NONE])
def test_vrplib_reads_what_is_written(rounding: Rounding) -> None:
    instance = Instance(coordinates=generate(3)[0].coordinates, rounding=rounding)
    text = lkh.render([instance]).decode()
    read = vrplib.parse.parse_vrplib(text, compute_edge_weights=False)
    np.testing.assert_array_equal(read["node_coord"], instance.coordinates)
    assert read["depot"].tolist() == [0]
    # Without the id column: demand, three times, the pickup, the delivery.
    assert read["pickup_and_delivery"][:, 4].tolist() == [0, 0, 0, 0, 2, 3, 4]
    assert read["pickup_and_delivery"][:, 5].tolist() == [0, 5, 6, 7, 0, 0, 0]
    if rounding is Rounding.NONE:
        np.testing.assert_array_equal(read["edge_weight"], instance.costs)


@settings(max_examples=100, deadline=None)
@given(mutated(FIVE.encode()) | mutated(LOADED.encode()))
def test_damaged_files_are_read_or_refused(data: bytes) -> None:
    source = Source("five.pdtspl", data)
    lkh.recognises(source)
    try:
        (instance,) = lkh.parse(source)
    except InputError:
        return
    assert np.isfinite(instance.costs).all()


def test_a_matrix_beyond_use_is_refused() -> None:
    with pytest.raises(InputError, match="up to 5000 nodes, not 5001"):
        lkh.render(generate(2500))


def test_a_large_instance_with_a_tsplib_rule_is_written_at_once() -> None:
    instance = replace(generate(10_000)[0], rounding=Rounding.NEAREST)
    began = time.perf_counter()
    lkh.render([instance])
    assert time.perf_counter() - began < 5

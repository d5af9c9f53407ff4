from __future__ import annotations

import os
import pickle
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats import number_pickle
from n2s.formats.base import Source
from n2s.formats.pkl import FORMAT
from n2s.problem import Instance, Metric, Rounding, Variant, evaluate

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def parse(data: bytes) -> list[Instance]:
    source = Source("pdp.pkl", data)
    FORMAT.recognises(source)
    return FORMAT.parse(source)


DEPOT, NODES = [0.0, 0.0], [[3.0, 4.0], [3.0, 0.0], [0.0, 4.0], [6, 8]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("shape", [list, tuple, np.array, np.asfortranarray, np.float32])
def test_every_protocol_and_container(protocol: int, shape: Any) -> None:
    nodes = [shape(node) for node in NODES] if shape is tuple else shape(NODES)
    data = pickle.dumps([(shape(DEPOT), nodes)] * 2, protocol)
    first, second = parse(data)
    assert (first.name, second.name) == ("pdp-0", "pdp-1")
    assert (first.variant, first.metric, first.rounding) == (
        Variant.PDTSP,
        Metric.EUCLIDEAN,
        Rounding.NONE,
    )
    # 0 -> (3,4): 5, -> (3,0): 4, -> delivery of 1 at (0,4): 5, -> (6,8): sqrt(52), back: 10
    verdict = evaluate(first, [1, 2, 3, 4])
    assert verdict.feasible
    assert verdict.cost == pytest.approx(24 + 52**0.5)


@pytest.mark.parametrize("grid", [10, 10.0, np.float64(10), np.int64(10), np.array(10)])
def test_coordinates_are_divided_by_the_grid_size(grid: Any) -> None:
    (instance,) = parse(pickle.dumps([(DEPOT, NODES, [0], np.array([1, 1, 2, 2]), grid)]))
    assert instance.coordinates is not None
    assert instance.coordinates[4].tolist() == [0.6, 0.8]
    assert instance.name == "pdp"


def test_arrays_of_the_other_byte_order() -> None:
    (instance,) = parse(pickle.dumps([(np.array(DEPOT, ">f8"), np.array(NODES, ">i4"))]))
    assert instance.coordinates is not None
    assert instance.coordinates[1:].tolist() == NODES


class Hostile:
    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_runs(protocol: int, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    data = pickle.dumps(Hostile(os.system, f"touch {witness}"), protocol)
    with pytest.raises(InputError, match=r"asks for '(posix|nt)\.system'"):
        parse(data)
    assert not witness.exists()
    pickle.loads(data)
    assert witness.exists()  # the pickle was dangerous indeed


def nested(levels: int) -> list[Any]:
    """A few hundred bytes that stand for 2**levels numbers."""
    value: list[Any] = [1.0, 2.0]
    for _ in range(levels):
        value = [value, value]
    return value


class State:
    pass


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pickle.dumps(Hostile(eval, "1")), "asks for 'builtins.eval'"),
        (pickle.dumps(State()), "State'; only numbers"),
        (b"(ios\nsystem\n.", "asks for 'os.system'"),
        (pickle.dumps([({}, [])]), "more than lists of numbers"),
        (pickle.dumps([{1}]), "more than lists of numbers"),
        (pickle.dumps(np.array([None])), "of type 'O8'"),
        (pickle.dumps(np.array(["a"])), "of type 'U1'"),
        (pickle.dumps(7), "not a list of instances"),
        (pickle.dumps([]), "not a list of instances"),
        (pickle.dumps([7]), "instance 0: each entry must be"),
        (pickle.dumps([(DEPOT, NODES, 1)]), "instance 0: each entry must be"),
        (pickle.dumps([(7, NODES)]), "the depot must be a pair of coordinates, not int"),
        (pickle.dumps([([1, 2, 3], NODES)]), "the depot must be a pair of coordinates"),
        (pickle.dumps([(DEPOT, 7)]), "the nodes must be a list of pairs"),
        (pickle.dumps([(DEPOT, [])]), "as many deliveries, not 0"),
        (pickle.dumps([(DEPOT, NODES[:3])]), "as many deliveries, not 3"),
        (pickle.dumps([(DEPOT, np.zeros((4, 3)))]), "the nodes must be (2n, 2), not (4, 3)"),
        (pickle.dumps([(DEPOT, [*NODES[:3], [1, "a"]])]), "node 4 must be numbers, not str"),
        (pickle.dumps([(DEPOT, [*NODES[:3], [1, None]])]), "node 4 must be numbers, not NoneType"),
        (pickle.dumps([(DEPOT, [*NODES[:3], [1, True]])]), "node 4 must be numbers, not bool"),
        (pickle.dumps([(DEPOT, [*NODES[:3], [1, 10**400]])]), "node 4 is a number that is too"),
        (pickle.dumps([(DEPOT, [*NODES[:3], [1, float("nan")]])]), "node 4 has coordinates"),
        (pickle.dumps([(DEPOT, NODES, [0], ["a"], 1)]), "a node type must be numbers, not str"),
        (pickle.dumps([(DEPOT, NODES, [0], [1], 0)]), "the grid size is 0"),
        (pickle.dumps([(DEPOT, NODES, [0], [1], "a")]), "the grid size must be numbers"),
        (pickle.dumps([(DEPOT, NODES, [0], [1], 1e-320)]), "has coordinates"),
        (pickle.dumps([(DEPOT, NODES)])[:-1], "not a sound pickle"),
        (pickle.dumps([(DEPOT, NODES)]) + b"more", "behind the end"),
        (b"", "not a sound pickle"),
        (b"\x80\x05.", "not a sound pickle"),
        (b"(((((.", "not a list of instances"),
        # MEMO 2**31 - 1: C's unpickler makes a table of that length
        (b"\x80\x02]r\xff\xff\xff\x7f.", "not a list of instances"),
        (b"\x80\x05\x8e" + struct.pack("<Q", 1 << 62) + b".", "not a sound pickle"),
        (b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b".", "not a sound pickle"),
        (pickle.dumps([(DEPOT, nested(60))]), "node 1 must be numbers, not a list"),
        (pickle.dumps([(DEPOT, [nested(60)] * 4)]), "node 1 must be numbers, not a list"),
        (pickle.dumps([(nested(60), NODES)]), "the depot must be numbers, not a list"),
        (pickle.dumps(nested(60)), "the depot must be numbers"),
        (pickle.dumps([[DEPOT, [[1, 2]] * 4000]] * 4000), "more numbers than the file can hold"),
    ],
)
def test_bad_pickles_are_named(data: bytes, message: str) -> None:
    began = time.perf_counter()
    with pytest.raises(InputError) as caught:
        parse(data)
    assert message in str(caught.value)
    assert time.perf_counter() - began < 2.0


def test_an_endless_list_is_refused() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    with pytest.raises(InputError, match="must be"):
        parse(pickle.dumps(endless))


def forged(shape: tuple[Any, ...], code: str = "f8") -> bytes:
    """An array of one number that claims another shape or type."""
    data = pickle.dumps(np.array([1.5]), 2).replace(b"f8", code.encode())
    state = pickle.dumps(shape, 2)[2:-1]
    one = pickle.dumps((1,), 2)[2:-1].split(b"q")[0]  # K\x01\x85
    assert one in data
    return data.replace(one, state.split(b"q")[0], 1)


@pytest.mark.parametrize("shape", [(2,), (10**9,), (10**30,), (-1,), ("a",)])
def test_arrays_that_claim_another_shape(shape: tuple[Any, ...]) -> None:
    with pytest.raises(InputError, match=r"the pickle (declares|holds) an array|not a sound"):
        number_pickle.load(forged(shape))


def test_the_forgery_is_sound_where_it_is_true() -> None:
    assert np.asarray(number_pickle.load(forged((1,)))).tolist() == [1.5]


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"[1, 2]", b"PK\x03\x04", b"id,kind\n", b"\x80\x09.", b"\xff\xfe"]
)
def test_what_is_no_pickle_is_not_recognised(data: bytes) -> None:
    assert not FORMAT.recognises(Source("a.txt", data))


GOOD = [
    pickle.dumps([(DEPOT, NODES, [0], [1, 1, 2, 2], 10)], 4),
    pickle.dumps([(np.array(DEPOT), np.array(NODES))], 2),
    pickle.dumps([(np.array(DEPOT), np.array(NODES), 0, 0, np.float32(3))], 5),
    pickle.dumps([(DEPOT, NODES)] * 2, 0),
]


@pytest.mark.parametrize("valid", GOOD)
def test_damage_is_read_or_refused(valid: bytes) -> None:
    @settings(max_examples=100, deadline=None)
    @given(mutated(valid))
    def check(data: bytes) -> None:
        with suppress(InputError):
            assert all(isinstance(instance, Instance) for instance in parse(data))

    check()


def test_one_text_is_not_encoded_over_and_over() -> None:
    text = b"a" * 100_000
    data = b"\x80\x02]q\x00c_codecs\nencode\nq\x01X" + struct.pack("<I", len(text)) + text
    data += b"X\x06\x00\x00\x00latin1\x86q\x02" + b"h\x01h\x02R" * 2000 + b"."
    with pytest.raises(InputError, match="repeats its texts"):
        parse(data)

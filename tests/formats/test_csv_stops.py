from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.any_instance import floats
from formats.mutate import mutated
from n2s.errors import InputError, UnsupportedError
from n2s.formats.base import Source
from n2s.formats.csv_route import FORMAT as ROUTE_FORMAT
from n2s.formats.csv_stops import FORMAT, FORMATS
from n2s.problem import Id, Instance, Metric, Rounding, Variant, evaluate, generate


def read(text: str | bytes, name: str = "stops.csv") -> Instance:
    source = Source(name, text.encode() if isinstance(text, str) else text)
    FORMAT.recognises(source)
    (instance,) = FORMAT.parse(source)
    return instance


def render(instance: Instance) -> bytes:
    assert FORMAT.render is not None
    return FORMAT.render([instance])


def points(instance: Instance) -> list[list[float]]:
    assert instance.coordinates is not None
    found: list[list[float]] = instance.coordinates.tolist()
    return found


REQUESTS = """\
request_id,pickup_lat,pickup_lon,delivery_lat,delivery_lon,load,address,pickup_floor
depot,52.0,4.0,,,,,
7,52.1,4.1,52.2,4.2,2,Mill Road,3
8,52.3,4.3,52.4,4.4,1.5,,
"""


def test_a_row_per_request() -> None:
    assert FORMAT.recognises(Source("x", REQUESTS.encode()))
    instance = read(REQUESTS)
    assert instance.ids == ("depot", "7:pickup", "8:pickup", "7:delivery", "8:delivery")
    assert instance.requests == (7, 8)
    assert points(instance) == [[4.0, 52.0], [4.1, 52.1], [4.3, 52.3], [4.2, 52.2], [4.4, 52.4]]
    assert instance.metric is Metric.GREAT_CIRCLE
    assert instance.weights.tolist() == [2, 1.5]
    assert instance.name == "stops"
    assert not instance.open_start
    assert not instance.open_end
    assert instance.attributes == (
        {},
        {"address": "Mill Road", "pickup_floor": "3"},
        {},
        {"address": "Mill Road"},
        {},
    )


STOPS = """\
id,kind,request,x,y,load,note
1,depot,,0,0,,
2,pickup,a,3,4,1,"fragile, ""very"" so"
3,delivery,a,3,0,-1,
4,delivery,b,0,4,,
5,pickup,b,6,8,2,
"""


def test_a_row_per_stop() -> None:
    assert FORMAT.recognises(Source("x", STOPS.encode()))
    instance = read(STOPS)
    assert instance.ids == (1, 2, 5, 3, 4)  # depot, pickups of a and b, their deliveries
    assert instance.requests == ("a", "b")
    assert instance.metric is Metric.EUCLIDEAN
    assert instance.weights.tolist() == [1, 2]
    assert instance.attributes is not None
    assert instance.attributes[1] == {"note": 'fragile, "very" so'}
    # 0 -> (3,4): 5, -> (6,8): 5, -> (0,4): sqrt(52), -> (3,0): 5, back: 3
    verdict = evaluate(instance, [2, 5, 4, 3])
    assert verdict.cost == pytest.approx(18 + 52**0.5)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + REQUESTS,
        REQUESTS.replace("\n", "\r\n"),
        REQUESTS.replace("\n", "\r"),
        REQUESTS.replace(",", "\t"),
        REQUESTS.replace(",", ";"),
        REQUESTS.replace(",", ";").replace(".", ","),
        REQUESTS.replace(",", " , ").replace("\n", "\n\n"),
        REQUESTS.replace(",\n", "\n")
        .replace(",,", ",,")
        .replace("depot,52.0,4.0,,,,", "depot,52.0,4.0"),
        REQUESTS.replace("request_id", "Order ID"),
        REQUESTS.replace("request_id", "id"),
        REQUESTS.replace("_lat", "_Latitude").replace("_lon", " longitude"),
        REQUESTS.replace("delivery_", "dropoff_").replace("_lon", "-lng"),
        REQUESTS.replace("load", "Demand"),
        REQUESTS.replace("\n", ",,\n"),
    ],
)
def test_other_ways_to_write_the_same(text: str) -> None:
    expected, found = read(REQUESTS), read(text)
    assert (found.ids, found.requests) == (expected.ids, expected.requests)
    assert points(found) == points(expected)
    assert found.weights.tolist() == expected.weights.tolist()
    assert found.attributes == expected.attributes


def test_ids_for_a_row_per_request() -> None:
    instance = read(
        "request,pickup_id,pickup_x,pickup_y,delivery_id,delivery_x,delivery_y\n"
        "Depot,,0,0\nr1,10,1,1,11,2,2\nr2,12,1,1,,3,3\n"
    )
    assert instance.ids == ("Depot", 10, 12, 11, "r2:delivery")
    assert instance.requests == ("r1", "r2")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("0", "1", "2"), (0, 1, 2)),
        (("0", "01", "2"), ("0", "01", "2")),
        (("0", "+1", "2"), ("0", "+1", "2")),
        (("0", "-1", "2"), (0, -1, 2)),
        (("0", "9" * 19, "2"), ("0", "9" * 19, "2")),
        (("depot", "1", "2"), ("depot", 1, 2)),
        (("hub", "1", "2"), ("hub", "1", "2")),
        (("0", "", ""), (0, "9:pickup", "9:delivery")),
    ],
)
def test_ids_stay_as_written(ids: tuple[str, ...], expected: tuple[Id, ...]) -> None:
    depot, pickup, delivery = ids
    text = (
        f"id,kind,request,x,y\n{depot},depot,,0,0\n{pickup},pickup,9,1,1\n{delivery},delivery,9,2,2"
    )
    assert read(text).ids == expected


HEAD = "id,kind,request,x,y\n"
PAIR = "p,pickup,r,1,1\nd,delivery,r,3,5\n"


@pytest.mark.parametrize(
    ("places", "ids", "opened", "end"),
    [
        ("h,depot,,0,0\n", ("h", "p", "d"), (False, False), None),
        ("h,start,,0,0\n", ("h", "p", "d"), (False, True), None),
        ("e,end,,9,9\n", ("e", "p", "d"), (True, False), None),
        ("h,depot,,0,0\ne,end,,9,9\n", ("h", "p", "d"), (False, False), [9, 9]),
        ("e,end,,9,9\nh,start,,0,0\n", ("h", "p", "d"), (False, False), [9, 9]),
        ("", ("depot", "p", "d"), (True, True), None),
    ],
)
def test_where_the_route_starts_and_ends(
    places: str, ids: tuple[str, ...], opened: tuple[bool, bool], end: list[float] | None
) -> None:
    instance = read(HEAD + places + PAIR)
    assert instance.ids == ids
    assert (instance.open_start, instance.open_end) == opened
    assert (instance.end.tolist() if instance.end is not None else None) == end
    assert instance.end_id == ("e" if end else None)
    again = read(render(instance))
    assert (again.ids, again.end_id, again.open_start, again.open_end) == (
        instance.ids,
        instance.end_id,
        *opened,
    )
    # start (0,0) to p: sqrt(2); p to d (3,5): sqrt(20); d home: sqrt(34), d to e (9,9): sqrt(52)
    first = 0 if opened[0] else 2**0.5
    last = 0 if opened[1] else 52**0.5 if "e," in places else 34**0.5
    assert evaluate(instance, ["p", "d"]).cost == pytest.approx(first + 20**0.5 + last)
    assert evaluate(again, ["p", "d"]).cost == evaluate(instance, ["p", "d"]).cost


def test_without_a_depot_the_middle_stands_for_it() -> None:
    instance = read(HEAD + "depot,pickup,r,1,1\nd,delivery,r,3,5\n")
    assert instance.ids == ("depot-2", "depot", "d")
    assert points(instance)[0] == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,request,x,y\n1,2,3,4\n", "the column 'kind' is missing"),
        ("id,kind,request,x\n" + PAIR, "the column 'y' is missing"),
        ("request,pickup_x,pickup_y,delivery_x\n1,2,3,4\n", "the column 'delivery_y' is missing"),
        ("id,kind,request,x,y,type\n" + PAIR, "there are two columns 'kind'"),
        ("id,kind,request,lat,lon,x,y\n", "'x' is a second kind of coordinates"),
        (HEAD + "p,pick,r,1,1\n", "stops.csv:2: the kind is 'pick'"),
        (HEAD + "p,pickup,,1,1\n", "stops.csv:2: the pickup belongs to no request"),
        (HEAD + "h,depot,r,1,1\n", "stops.csv:2: the depot has a request or a load"),
        (HEAD + "p,pickup,r,,1\n", "stops.csv:2: x is missing"),
        (HEAD + "p,pickup,r,1\n", "stops.csv:2: y is missing"),
        (HEAD + "p,pickup,r,1,nan\n", "stops.csv:2: y is 'nan', which is not a number"),
        (HEAD + "p,pickup,r,1,1_0\n", "y is '1_0', which is not a number"),
        (HEAD + 'p,pickup,r,1,"1,5"\n', "y is '1,5', which is not a number"),
        (
            HEAD + "p,pickup,r,1,1e999\nd,delivery,r,1,1\n",
            "stops.csv:2: y is '1e999', which is too large",
        ),
        (HEAD + "p,pickup,r,1,1e200\nd,delivery,r,1,1\n", "node 'p' has coordinates (1.0, 1e+200)"),
        (HEAD + "p,pickup,r,1,1,9\n", "stops.csv:2: the row has 6 cells, the header 5"),
        ("id,kind,request,x,y,\np,pickup,r,1,1,9\n", "in a column without a name"),
        (HEAD + "p,pickup,r,1,1\n", "stops.csv:2: request 'r' has no delivery"),
        (HEAD + "d,delivery,r,1,1\n", "stops.csv:2: request 'r' has no pickup"),
        (HEAD + PAIR + "q,pickup,r,1,1\n", "the pickup of request 'r' was given before, in line 2"),
        (HEAD + "h,depot,,1,1\ng,depot,,1,1\n" + PAIR, "depot was given before, in line 2"),
        (HEAD + "h,depot,,1,1\ng,start,,1,1\n" + PAIR, "both a depot and a start"),
        (HEAD + "p,depot,,1,1\n" + PAIR, "stops.csv:3: the id 'p' was used before, in line 2"),
        (HEAD + "h,depot,,1,1\n", "there is no request"),
        (HEAD, "there is no request"),
        ("\n \n", "the table is empty"),
        (HEAD + '"p,pickup', "this is not a CSV table"),
        (HEAD + '"p"x,pickup,r,1,1\n', "this is not a CSV table"),
        (b"\xff\xfe", "not a text file in UTF-8"),
        ("id,kind,request,lat,lon\np,pickup,r,91,4\nd,delivery,r,1,1\n", "has latitude 91"),
        (STOPS.replace("-1", "-3"), "request 'a' has loads 1, -3"),
        (STOPS.replace("4,1,", "4,-1,"), "request 'a' has loads -1, -1"),
        (STOPS.replace("8,2", "8,"), "request 'b' has no load, but others have"),
        (
            STOPS.replace("4,1,", "4,,").replace("-1", ""),
            "request 'a' has no load, but others have",
        ),
        (REQUESTS.replace("depot,52.0,4.0,,", "depot,52.0,4.0,1,"), "the depot has a delivery"),
        (REQUESTS.replace("\n7,", "\n,"), "the row has no request id"),
        (REQUESTS.replace("52.2", ""), "stops.csv:3: delivery_lat is missing"),
        (REQUESTS.replace("\n8", "\n7"), "the pickup of request '7' was given before, in line 3"),
    ],
)
def test_bad_tables_are_named(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [
        *("time_window", "TW_start", "earliest", "latest_arrival", "ready_time", "due_date"),
        *("max_ride_time", "priority", "skills", "vehicle", "pickup_time_window", "Capacity"),
    ],
)
def test_constraints_beyond_the_problem_are_refused(column: str) -> None:
    text = STOPS.replace("note", column)
    with pytest.raises(UnsupportedError, match=f"stops.csv:3: the column '{column}' asks"):
        read(text)
    empty = STOPS.replace("note", column).replace('"fragile, ""very"" so"', "")
    assert read(empty).attributes is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"matrix": np.ones((3, 3))}, "cannot hold a distance matrix"),
        ({"coordinates": None, "matrix": np.ones((3, 3))}, "cannot hold a distance matrix"),
        ({"capacity": 5.0}, "cannot hold a capacity"),
        ({"metric": Metric.MANHATTAN}, "distances are manhattan"),
        ({"rounding": Rounding.UP}, "with rounding up"),
        ({"ids": ("a", " b", "c")}, "node id ' b'"),
        ({"ids": ("a", "", "c")}, "node id ''"),
        ({"attributes": ({"pickup_x": "1", "pickup_y": "1"}, {}, {})}, "cannot hold this instance"),
        ({"attributes": ({"note": "1"}, {"Note": "1"}, {})}, "two columns 'note'"),
        ({"attributes": ({"a": "1"}, {}, {}), "open_start": True, "open_end": True}, "attributes"),
        ({"requests": ("r ",)}, "request id 'r '"),
        ({"attributes": ({"kind": "x"}, {}, {})}, "further column named 'kind'"),
        ({"attributes": ({"Latest": "x"}, {}, {})}, "'Latest': it would read as a constraint"),
        ({"attributes": ({"a": " x"}, {}, {})}, "cannot hold a ' x'"),
    ],
)
def test_what_a_table_cannot_hold(changes: dict[str, object], message: str) -> None:
    fields: dict[str, object] = {"coordinates": np.zeros((3, 2)), **changes}
    with pytest.raises(InputError, match=message):
        render(Instance(**fields))  # type: ignore[arg-type]


def test_a_table_holds_one_instance() -> None:
    assert FORMAT.render is not None
    with pytest.raises(InputError, match="holds one instance, not 2"):
        FORMAT.render([read(STOPS), read(STOPS)])


CELL = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda text: text == text.strip()
)


@st.composite
def table_instances(draw: st.DrawFn) -> Instance:
    n = draw(st.integers(1, 3))
    size = 2 * n + 1
    kinds = draw(st.sampled_from([CELL.map("n{}".format), st.integers(-9, 10**17)]))
    names = st.sampled_from(["note", "Adresse", "a;b", 'q"q', "line\r\nbreak", ";" * 9])
    opened = draw(st.sampled_from([(False, False), (False, True), (True, False)]))
    separate = opened == (False, False) and draw(st.booleans())
    ids = draw(st.lists(kinds, min_size=size + 1, max_size=size + 1, unique=True))  # type: ignore[var-annotated]
    pair = st.tuples(floats(), floats(-90, 90))
    return Instance(
        coordinates=np.array(draw(st.lists(pair, min_size=size, max_size=size))),
        metric=draw(st.sampled_from([Metric.EUCLIDEAN, Metric.GREAT_CIRCLE])),
        ids=tuple(ids[:-1]),
        requests=tuple(draw(st.lists(kinds, min_size=n, max_size=n, unique=True))),
        loads=draw(st.none() | st.lists(floats(0, 9), min_size=n, max_size=n).map(np.array)),  # type: ignore[arg-type]
        end=np.array(draw(pair)) if separate else None,
        end_id=ids[-1] if separate else None,
        open_start=opened[0],
        open_end=opened[1],
        attributes=draw(
            st.none()
            | st.lists(st.dictionaries(names, CELL, min_size=1), min_size=size, max_size=size).map(
                tuple
            )  # type: ignore[arg-type]
        ),
    )


@settings(max_examples=100, deadline=None)
@given(table_instances())
def test_what_a_table_can_hold_survives(instance: Instance) -> None:
    found = read(render(instance))
    for name in ("ids", "requests", "metric", "end_id", "open_start", "open_end", "attributes"):
        assert getattr(found, name) == getattr(instance, name), name
    for name in ("coordinates", "loads", "end"):
        here, there = getattr(found, name), getattr(instance, name)
        assert (here is None) == (there is None), name
        assert here is None or np.array_equal(here, there), name


@pytest.mark.parametrize("valid", [REQUESTS, STOPS, REQUESTS.replace(",", ";")])
def test_damage_is_read_or_refused(valid: str) -> None:
    @settings(max_examples=100, deadline=None)
    @given(mutated(valid.encode()) | mutated(valid.replace(",", " , ").encode()))
    def check(data: bytes) -> None:
        try:
            instance = read(data)
        except InputError:
            return
        assert evaluate(instance, instance.ids[1:]).cost >= 0

    check()


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\x00\x01,", b"{}", b"a,b\n", b'"', b"PK\x03\x04,", b"id,kind\n1,2"]
)
def test_what_is_no_table_of_stops_is_not_recognised(data: bytes) -> None:
    assert not FORMAT.recognises(Source("x.csv", data))


# --- routes ------------------------------------------------------------------------------------


def route_table(instance: Instance, route: list[Id]) -> str:
    return ROUTE_FORMAT.render(evaluate(instance, route), {}).decode()


def read_route(text: str, instance: Instance, name: str = "route.csv") -> list[Id]:
    source = Source(name, text.encode())
    assert ROUTE_FORMAT.recognises(source)
    assert ROUTE_FORMAT.parse is not None
    return ROUTE_FORMAT.parse(source, instance)


def test_a_route_row_by_row() -> None:
    instance = read(STOPS)
    text = route_table(instance, [2, 3, 5, 4])
    # (0,0) -> (3,4) 5 -> (3,0) 4 -> (6,8) sqrt(73) -> (0,4) sqrt(52) -> (0,0) 4
    lines = text.splitlines()
    assert lines[:3] == [
        "position,id,kind,request,x,y,leg,cumulative,load,note",
        "0,1,start,,0,0,0,0,0,",
        '1,2,pickup,a,3,4,5,5,1,"fragile, ""very"" so"',
    ]
    assert lines[3] == "2,3,delivery,a,3,0,4,9,0,"
    assert lines[6].startswith("5,1,end,,0,0,4,")
    assert read_route(text, instance) == [1, 2, 3, 5, 4, 1]


def test_the_stack_and_the_places_on_earth() -> None:
    source = read(REQUESTS)
    instance = Instance(
        coordinates=source.coordinates, metric=source.metric, ids=source.ids, variant=Variant.LIFO
    )
    rows = route_table(instance, ["7:pickup", "8:pickup", "8:delivery", "7:delivery"]).splitlines()
    assert rows[0] == "position,id,kind,request,lat,lon,leg,cumulative,load,stack"
    assert rows[1] == "0,depot,start,,52,4,0,0,0,"
    assert rows[3].startswith("2,8:pickup,pickup,2,52.3,4.3,")
    assert rows[3].endswith(",2,1 2")


def test_a_matrix_has_no_places_and_a_users_own_position_keeps_apart() -> None:
    kept = ({"position": "9", "Leg": "L"}, {}, {})
    instance = Instance(matrix=np.ones((3, 3)), attributes=kept, end_id="e")
    assert route_table(instance, [1, 2]) == (
        "position,id,kind,request,leg,cumulative,load,stop_position,stop_Leg\n"
        "0,0,start,,0,0,0,9,L\n1,1,pickup,1,1,1,1,,\n2,2,delivery,1,1,2,0,,\n3,e,end,,1,3,0,,\n"
    )


def test_a_separate_end_has_its_own_place() -> None:
    instance = read(HEAD + "h,depot,,0,0\ne,end,,9,9\n" + PAIR)
    assert route_table(instance, ["p", "d"]).splitlines()[-1].startswith("3,e,end,,9,9,")


@pytest.mark.parametrize(
    "text", ["2\n3\n5\n4\n", "id\n2\n3\n5\n4\n", "Stop\n2\n\n3\n5\n4", "id;note\n2;x\n3;\n5;\n4;\n"]
)
def test_other_tables_of_a_route(text: str) -> None:
    assert read_route(text, read(STOPS)) == [2, 3, 5, 4]


def test_an_unknown_stop_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"^route.csv:3: stop 'zz' is not a node of stops"):
        read_route("id\n2\nzz\n", read(STOPS))
    ended = read(HEAD + "h,depot,,0,0\ne,end,,9,9\n" + PAIR)
    assert read_route("id\nh\np\nd\ne\n", ended) == ["h", "p", "d", "e"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", STOPS),
        ("a.csv", REQUESTS),
        ("a.txt", "NAME : tour\nTOUR_SECTION\n1\n-1\n"),
        ("a.txt", "Route #1: 1 2 3\n"),
        ("a.json", "[1]"),
        ("a.csv", '{"route": [1]}'),
        ("a.csv", ""),
    ],
)
def test_what_is_no_route(name: str, text: str) -> None:
    assert not ROUTE_FORMAT.recognises(Source(name, text.encode()))
    assert not ROUTE_FORMAT.recognises(Source(name, b"\xff" + text.encode()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("position,id\n2,2\n1,3\n", "route.csv:3: position 1 comes after 2"),
        ("position,id\n0,2\nx,3\n", "route.csv:3: position is 'x'"),
        ("position,id\n0,\n", "route.csv:2: the stop has no id"),
        ("id\n", "the route is empty"),
    ],
)
def test_bad_routes_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_route(text, read(STOPS))
    assert message in str(caught.value)


def test_no_id_column() -> None:
    assert ROUTE_FORMAT.parse is not None
    with pytest.raises(InputError, match="no column 'id'"):
        ROUTE_FORMAT.parse(Source("a.csv", b"a,b\n1,2\n"), read(STOPS))


@settings(max_examples=100, deadline=None)
@given(mutated(route_table(read(STOPS), [2, 3, 5, 4]).encode()))
def test_damaged_routes_are_read_or_refused(data: bytes) -> None:
    assert ROUTE_FORMAT.parse is not None
    source = Source("route.csv", data)
    ROUTE_FORMAT.recognises(source)
    with suppress(InputError):
        assert ROUTE_FORMAT.parse(source, read(STOPS))


LIFO_TABLE = (
    b"id,kind,request,x,y,variant\n0,depot,,0,0,\na,pickup,r,1,0,lifo\nb,delivery,r,2,0,LIFO\n"
)


def test_a_table_may_name_its_loading_rule() -> None:
    (instance,) = FORMAT.parse(Source("t.csv", LIFO_TABLE))
    assert instance.variant is Variant.LIFO
    assert instance.attributes is None
    assert FORMAT.render is not None
    (again,) = FORMAT.parse(Source("t.csv", FORMAT.render([instance])))
    assert again.variant is Variant.LIFO


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (LIFO_TABLE.replace(b"LIFO", b"fastest"), r"t.csv:4: the variant is 'fastest', not one of"),
        (LIFO_TABLE.replace(b"LIFO", b"pdtsp"), r"t.csv:4: the variant is 'pdtsp' here and 'lifo'"),
    ],
)
def test_a_loading_rule_must_be_known_and_one(text: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        FORMAT.parse(Source("t.csv", text))


@pytest.mark.parametrize(
    "column", ["deadline", "pickup_time", "window_start", "deliver_by", "max_load", "Driver"]
)
def test_a_column_that_asks_for_more_is_refused(column: str) -> None:
    text = f"id,kind,request,x,y,{column}\n0,depot,,0,0,\na,pickup,r,1,0,9\nb,delivery,r,2,0,\n"
    with pytest.raises(UnsupportedError, match=f"t.csv:3: the column '{column}'"):
        FORMAT.parse(Source("t.csv", text.encode()))


def test_delimiters_inside_quotes_do_not_count() -> None:
    text = STOPS.replace("note", '"note; also;\nsee;;;;;; below"')
    assert read(text).ids == read(STOPS).ids


def test_tsv_is_written_with_tabs() -> None:
    instance = read(STOPS)
    for known in FORMATS:
        assert known.render is not None
        data = known.render([instance])
        assert (b"\t" in data) == (known.suffixes == (".tsv",))
        assert read(data).attributes == instance.attributes


def test_a_large_route_has_depth_and_top_of_the_stack() -> None:
    small, large = (generate(n, variant=Variant.LIFO)[0] for n in (499, 501))
    header, *rows = route_table(large, [1, 2]).splitlines()
    assert header.endswith(",load,depth,top")
    assert rows[2].endswith(",2,2,2")
    assert route_table(small, [1, 2]).splitlines()[3].endswith(",2,1 2")

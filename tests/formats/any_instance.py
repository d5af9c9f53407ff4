"""Random instances with every optional field, and equality down to the last of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from n2s.problem import Instance, Metric, Rounding, Variant

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
IDS = st.one_of(st.integers(-5, 10**20), TEXT)
FIELDS = (
    *("variant", "name", "metric", "rounding", "ids", "requests", "capacity", "end_id"),
    *("open_start", "open_end", "attributes"),
)
ARRAYS = ("coordinates", "matrix", "loads", "end")


def floats(low: float = -180.0, high: float = 180.0) -> st.SearchStrategy[float]:
    """Numbers that occur in files, whole ones among them."""
    return st.one_of(
        st.floats(low, high, allow_subnormal=False), st.integers(int(low), int(high)).map(float)
    )


@st.composite
def instances(
    draw: st.DrawFn,
    requests: int | None = None,
    metric: Metric | None = None,
    rounding: Rounding | None = None,
    variant: Variant | None = None,
) -> Instance:
    """Any instance there can be; what is given is fixed."""
    n = draw(st.integers(1, 3)) if requests is None else requests
    size = 2 * n + 1
    metric = draw(st.sampled_from(Metric)) if metric is None else metric
    has = draw(st.sampled_from(["coordinates", "matrix", "both"]))
    points = st.tuples(floats(), floats(-90, 90))
    coordinates = draw(st.lists(points, min_size=size, max_size=size))
    rows = st.lists(floats(0, 1e6), min_size=size, max_size=size)
    loads = draw(st.none() | st.lists(floats(0, 50), min_size=n, max_size=n))
    ids = draw(st.lists(IDS, min_size=size + 1, max_size=size + 1, unique_by=str))
    open_end = draw(st.booleans())
    columns = st.dictionaries(TEXT, TEXT, max_size=2)
    return Instance(
        coordinates=None if has == "matrix" else np.array(coordinates),
        matrix=None
        if has == "coordinates"
        else np.array(draw(st.lists(rows, min_size=size, max_size=size))),
        variant=draw(st.sampled_from(Variant)) if variant is None else variant,
        name=draw(TEXT),
        metric=metric,
        rounding=draw(st.sampled_from(Rounding)) if rounding is None else rounding,
        ids=draw(st.sampled_from([(), tuple(ids[:-1])])),
        requests=draw(
            st.just(()) | st.lists(IDS, min_size=n, max_size=n, unique_by=str).map(tuple)  # type: ignore[arg-type]
        ),
        loads=None if loads is None else np.array(loads),
        capacity=draw(st.none() | floats(50, 100)),
        end=None if open_end or has != "coordinates" else draw(st.none() | points.map(np.array)),  # type: ignore[arg-type]
        end_id=draw(st.sampled_from([None, f"{ids[-1]} end"])),
        open_start=draw(st.booleans()),
        open_end=open_end,
        attributes=draw(
            st.none() | st.lists(columns, min_size=size, max_size=size).map(tuple)  # type: ignore[arg-type]
        ),
    )


def assert_same(found: Instance, expected: Instance, *but: str) -> None:
    """Every field equal, types of ids included, except those named."""
    for name in FIELDS:
        if name not in but:
            assert getattr(found, name) == getattr(expected, name), name
    for name in ("ids", "requests"):
        if name not in but:
            assert [type(i) for i in getattr(found, name)] == [
                type(i) for i in getattr(expected, name)
            ], name
    for name in ARRAYS:
        if name not in but:
            here, there = getattr(found, name), getattr(expected, name)
            assert (here is None) == (there is None), name
            assert here is None or np.array_equal(here, there), name

"""NumPy archives: many instances of one size in one file, and the data sets of rl4co.

Ours holds ``coordinates`` (count, N, 2) and/or ``matrices`` (count, N, N). What else an instance
has is stored only where it is not the default: ``variant``, ``metric`` and ``rounding`` as one word
for all; ``loads`` (count, n), ``capacity`` (count,) and ``end`` (count, 2), with NaN where an
instance has none; ``open_start`` and ``open_end`` (count,); and ``names``, ``ids``, ``requests``,
``end_id`` and ``attributes`` as a JSON list with one entry per instance, or one that all share.

rl4co's holds ``locs`` (count, 2n, 2) and ``depot`` (count, 2): node i+n delivers what i picks up,
and distances are exact.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n2s.errors import InputError, quoted
from n2s.formats import bounded_zip, strict_json
from n2s.formats.base import Format, Source
from n2s.problem import Instance, Metric, Rounding, Variant

Array = NDArray[Any]

# Deflate reaches about 1000 to 1; numbers of use to anyone stay far below this.
LARGEST_EXPANSION = 100
SMALL = 1 << 24  # bytes that need no such check

_WORDS: dict[str, type[Variant] | type[Metric] | type[Rounding]] = {
    "variant": Variant,
    "metric": Metric,
    "rounding": Rounding,
}
_NUMBERS = ("coordinates", "matrices", "loads", "capacity", "end")
_FLAGS = ("open_start", "open_end")
_LISTS = ("names", "ids", "requests", "end_id", "attributes")
_OURS = {*_WORDS, *_NUMBERS, *_FLAGS, *_LISTS}
_RL4CO = {"locs", "depot"}


# --- reading ---------------------------------------------------------------------------------


def _recognises(source: Source) -> bool:
    if not source.data.startswith(b"PK"):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except Exception:  # a damaged archive is not ours to diagnose here
        return False


def _parse(source: Source) -> list[Instance]:
    arrays = _arrays(source)
    if set(arrays) >= _RL4CO:
        return _parse_rl4co(source, arrays)
    for name in arrays:
        if name not in _OURS:
            raise source.error(f"unknown array {quoted(name)}")
    if not {"coordinates", "matrices"} & set(arrays):
        raise source.error("there is neither an array 'coordinates' nor 'matrices' (nor 'locs')")
    numbers = {name: _numeric(source, name, arrays[name]) for name in _NUMBERS if name in arrays}
    count, size = _extent(source, numbers)
    flags = {name: _flags(source, name, arrays[name], count) for name in _FLAGS if name in arrays}
    lists = {name: _listed(source, name, arrays[name], count) for name in _LISTS if name in arrays}
    common = {name: _word(source, name, arrays[name]) for name in _WORDS if name in arrays}
    rows = {name: _optional_rows(array) for name, array in numbers.items()}
    default_ids, default_requests = list(range(size)), list(range(1, size // 2 + 1))
    ids = _id_tuples(source, "ids", lists.get("ids", [default_ids] * count), size)
    requests = _id_tuples(
        source, "requests", lists.get("requests", [default_requests] * count), size // 2
    )
    instances = []
    for k in range(count):
        own: dict[str, Any] = {**common, "ids": ids[k], "requests": requests[k]}
        for name, values in rows.items():
            own["matrix" if name == "matrices" else name] = values[k]
        for name, marks in flags.items():
            own[name] = marks[k]
        if "names" in lists:
            own["name"] = _checked(source, "names", lists["names"][k], str)
        if "end_id" in lists:
            own["end_id"] = _checked(source, "end_id", lists["end_id"][k], int, str, type(None))
        if "attributes" in lists:
            own["attributes"] = _attributes(source, lists["attributes"][k])
        if own.get("capacity") is not None:
            own["capacity"] = float(own["capacity"])
        instances.append(_made(source, k, own))
    return instances


def _parse_rl4co(source: Source, arrays: Mapping[str, Array]) -> list[Instance]:
    for name in arrays:
        if name not in _RL4CO:
            raise source.error(f"unknown array {quoted(name)} beside 'locs' and 'depot'")
    stops = _numeric(source, "locs", arrays["locs"])
    depots = _numeric(source, "depot", arrays["depot"])
    if stops.ndim != 3 or stops.shape[2] != 2 or stops.shape[1] % 2:
        raise source.error(f"the array 'locs' must be (count, 2n, 2), not {stops.shape}")
    _check_extent(source, len(stops), stops.shape[1] + 1)
    if depots.shape != (len(stops), 2):
        raise source.error(f"the array 'depot' must be ({len(stops)}, 2), not {depots.shape}")
    points = np.concatenate([depots[:, None], stops], axis=1)
    names = numbered(source.stem, len(points))
    ids = tuple(range(points.shape[1]))
    return [
        _made(source, k, {"coordinates": points[k], "ids": ids, "name": names[k]})
        for k in range(len(points))
    ]


def numbered(stem: str, count: int) -> list[str]:
    """Names for the instances of one file that gives them none."""
    digits = len(str(count - 1))
    return [stem] if count == 1 else [f"{stem}-{k:0{digits}d}" for k in range(count)]


def _made(source: Source, index: int, fields: dict[str, Any]) -> Instance:
    try:
        return Instance(**fields)
    except InputError as error:
        raise source.error(f"instance {index}: {error.message}") from None


def _arrays(source: Source) -> dict[str, Array]:
    """Every array of the archive, read without trusting what the archive says of itself."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            members = archive.infolist()
            total = sum(member.file_size for member in members)
            if total > SMALL and total > LARGEST_EXPANSION * len(source.data):
                raise source.error(
                    f"the archive claims to unpack to {total} bytes from {len(source.data)}"
                )
            found: dict[str, Array] = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                if name == member.filename:
                    raise source.error(f"the member {quoted(member.filename)} is not an .npy array")
                if name in found:
                    raise source.error(f"the array {quoted(name)} occurs twice")
                found[name] = _array(source, name, bounded_zip.unpacked(source.data, member))
            return found
    except InputError as error:
        error.source = source.name
        raise
    except Exception as error:  # zipfile and its codecs raise a dozen unrelated types
        raise source.error(f"this is not a sound .npz archive ({str(error)[:100]})") from None


def _array(source: Source, name: str, data: bytes) -> Array:
    stream = io.BytesIO(data)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(stream)
        shape, by_column, dtype = readers[version](stream)
    except Exception as error:  # the header is a Python literal: anything can be wrong with it
        raise source.error(
            f"the array {quoted(name)} has no readable header ({str(error)[:100]})"
        ) from None
    if dtype.kind not in "fiubU":
        raise source.error(
            f"the array {quoted(name)} is of type {str(dtype)[:60]}, neither numbers nor text"
        )
    count = 1
    for length in shape:
        if length < 0:
            raise source.error(f"the array {quoted(name)} declares the shape {quoted(shape)}")
        count *= length
    start = stream.tell()
    # Checked before anything is allocated: a header may declare any shape it likes.
    if count * dtype.itemsize != len(data) - start:
        raise source.error(
            f"the array {quoted(name)} declares the shape {quoted(shape)} of {dtype}, but holds "
            f"{len(data) - start} bytes"
        )
    if dtype.itemsize == 0 or count == 0:
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype, count, start)
    return flat.reshape(shape, order="F" if by_column else "C")


def _numeric(source: Source, name: str, array: Array) -> Array:
    if array.dtype.kind not in "fiu":
        raise source.error(f"the array {quoted(name)} must be numbers, not {array.dtype}")
    with np.errstate(all="ignore"):  # what is not a usable number is named later
        return array.astype(np.float64, copy=False)


def _extent(source: Source, numbers: Mapping[str, Array]) -> tuple[int, int]:
    first = "coordinates" if "coordinates" in numbers else "matrices"
    shape = numbers[first].shape
    if len(shape) != 3:
        expected = "(count, N, 2)" if first == "coordinates" else "(count, N, N)"
        raise source.error(f"the array {first!r} must be {expected}, not {shape}")
    count, size = shape[0], shape[1]
    _check_extent(source, count, size)
    expected_shapes = {
        "coordinates": (count, size, 2),
        "matrices": (count, size, size),
        "loads": (count, size // 2),
        "capacity": (count,),
        "end": (count, 2),
    }
    for name, array in numbers.items():
        if array.shape != expected_shapes[name]:
            raise source.error(
                f"the array {quoted(name)} must be {expected_shapes[name]}, not {array.shape}"
            )
    return count, size


def _check_extent(source: Source, count: int, size: int) -> None:
    """Refuse what holds nothing before anything is made as often as the file says."""
    if count == 0:
        raise source.error("the file holds no instance")
    if size < 3:
        raise source.error(f"an instance needs a depot and at least one request, not {size} nodes")


def _optional_rows(array: Array) -> Sequence[Array | None]:
    """One entry per instance: None where it is NaN throughout, which is how "none" is stored."""
    missing = np.asarray(np.isnan(array).reshape(len(array), -1).all(axis=1))
    return [None if gone else row for gone, row in zip(missing, array, strict=True)]


def _flags(source: Source, name: str, array: Array, count: int) -> list[bool]:
    if array.dtype.kind != "b" or array.shape != (count,):
        raise source.error(f"the array {quoted(name)} must be ({count},) of bool")
    marks: list[bool] = array.tolist()
    return marks


def _text(source: Source, name: str, array: Array) -> str:
    if array.dtype.kind != "U" or array.shape != ():
        raise source.error(f"the array {quoted(name)} must be a single text")
    try:
        return str(array[()])
    except ValueError:  # numbers beyond Unicode where characters should be
        raise source.error(f"the array {quoted(name)} holds no text") from None


def _word(source: Source, name: str, array: Array) -> Variant | Metric | Rounding:
    word = _text(source, name, array)
    kind = _WORDS[name]
    if word not in list(kind):
        raise source.error(f"{name} must be one of {', '.join(kind)}, not {quoted(word)}")
    return kind(word)


def _listed(source: Source, name: str, array: Array, count: int) -> list[Any]:
    text = _text(source, name, array)
    try:
        values = strict_json.load(Source(f"{source.name}: {name}", text.encode()))
    except UnicodeEncodeError:
        raise source.error(f"the array {quoted(name)} holds no text") from None
    if not isinstance(values, list) or len(values) not in (1, count):
        raise source.error(f"the array {quoted(name)} must be a JSON list of 1 or {count} entries")
    return values * count if len(values) == 1 else values


def _id_tuples(
    source: Source, name: str, lists: list[Any], length: int
) -> list[tuple[int | str, ...]]:
    made: dict[int, tuple[int | str, ...]] = {}  # lists that are shared stay shared
    for entry in lists:
        if id(entry) in made:
            continue
        if not isinstance(entry, list) or len(entry) != length:
            raise source.error(f"each entry of {quoted(name)} must be a list of {length} ids")
        made[id(entry)] = tuple(_checked(source, name, user_id, int, str) for user_id in entry)
    return [made[id(entry)] for entry in lists]


def _attributes(source: Source, entry: Any) -> tuple[Mapping[str, str], ...] | None:
    if entry is None:
        return None
    for columns in _checked(source, "attributes", entry, list):
        for value in _checked(source, "attributes", columns, dict).values():
            _checked(source, "attributes", value, str)
    return tuple(entry)


def _checked(source: Source, name: str, value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:  # not isinstance: true is no whole number
        raise source.error(f"the array {quoted(name)} holds {quoted(value)} where it should not")
    return value


# --- writing ---------------------------------------------------------------------------------


def _render(instances: Sequence[Instance]) -> bytes:
    if not instances:
        raise InputError("there is no instance to write")
    first = instances[0]
    for k, instance in enumerate(instances):
        for name in ("size", "variant", "metric", "rounding"):
            here, there = getattr(instance, name), getattr(first, name)
            if here != there:
                raise InputError(
                    f"an .npz file holds instances of one {name}, but instance {k} "
                    f"({quoted(instance.name)}) has {here} and instance 0 has {there}"
                )
    n, size = first.n, first.size
    arrays: dict[str, Array | None] = {
        name: np.array(str(getattr(first, name)))
        for name in _WORDS
        if getattr(first, name) != getattr(Instance, name)
    }
    arrays["coordinates"] = _stacked([i.coordinates for i in instances], (size, 2))
    arrays["matrices"] = _stacked([i.matrix for i in instances], (size, size))
    arrays["loads"] = _stacked([i.loads for i in instances], (n,))
    arrays["end"] = _stacked([i.end for i in instances], (2,))
    arrays["capacity"] = _stacked([i.capacity for i in instances], ())
    for name in _FLAGS:
        marks = np.array([bool(getattr(i, name)) for i in instances])
        arrays[name] = marks if marks.any() else None
    arrays["names"] = _as_json([i.name for i in instances], "")
    arrays["ids"] = _as_json([i.ids for i in instances], tuple(range(size)))
    arrays["requests"] = _as_json([i.requests for i in instances], tuple(range(1, n + 1)))
    arrays["end_id"] = _as_json([i.end_id for i in instances], None)
    arrays["attributes"] = _as_json(
        [None if i.attributes is None else [dict(c) for c in i.attributes] for i in instances], None
    )
    stream = io.BytesIO()
    stored: dict[str, Any] = {name: array for name, array in arrays.items() if array is not None}
    np.savez(stream, **stored)
    return stream.getvalue()


def _stacked(values: Sequence[Any], shape: tuple[int, ...]) -> Array | None:
    if all(value is None for value in values):
        return None
    nothing = np.full(shape, np.nan)
    return np.stack([nothing if value is None else np.asarray(value) for value in values])


def _as_json(values: Sequence[Any], default: object) -> Array | None:
    """JSON text of one entry per instance, of one entry for all, or nothing at all."""
    first = values[0]
    if all(value is first or value == first for value in values):
        if first == default and type(first) is type(default):
            return None
        values = [first]
    return np.array(strict_json.dump(list(values), levels=0).decode())


FORMAT = Format(
    name="NumPy archive", suffixes=(".npz",), recognises=_recognises, parse=_parse, render=_render
)

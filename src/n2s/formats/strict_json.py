"""JSON without surprises: what the grammar leaves open is an error here, and errors name a place.

Python's own reader keeps the last of two equal keys, accepts ``NaN`` and ``Infinity`` (which are no
JSON) and runs out of stack on deep nesting. A file that does any of this was not meant as it reads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from n2s.errors import InputError, quoted
from n2s.formats.base import Source
from n2s.problem import Id
from n2s.problem.distance import FloatArray

# Several formats share the suffix .json and each looks at the content: one parse serves them all.
# An entry lives as long as its source does.
_parsed: WeakKeyDictionary[Source, object] = WeakKeyDictionary()

LONGEST_KEY = 60  # longer ones are cut short in messages
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def load(source: Source) -> object:
    """The value in a JSON file; not to be changed, since readers share it."""
    if source in _parsed:
        return _parsed[source]
    text = source.text

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise source.error(f"the key {quoted(key)} occurs twice in one object")
                seen.add(key)
        return found

    def constant(word: str) -> NoReturn:
        raise source.error(f"{word} is not a JSON number")

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=constant)
        if _HALF_PAIR.search(
            text
        ):  # half of a surrogate pair is no character: it cannot be written
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise source.error(
            f"this is not JSON: {error.msg} (column {error.colno})", error.lineno
        ) from None
    except RecursionError:
        raise source.error("the JSON is nested too deeply") from None
    except UnicodeEncodeError:
        raise source.error("a text holds half of a surrogate pair (\\ud800 to \\udfff)") from None
    except ValueError:  # Python reads whole numbers of up to 4,300 digits
        raise source.error("a whole number has too many digits to be read") from None
    _parsed[source] = value
    return value


def peek(source: Source) -> object | None:
    """The value in a JSON file, or None if it is not one (nor the file JSON at all)."""
    if source.data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return load(source)
    except InputError:
        return None


def dump(value: object, levels: int = 1) -> bytes:
    """JSON bytes with one line per entry of the outer ``levels`` of containers of containers."""
    return (_lines(value, levels, "") + "\n").encode()


def _lines(value: object, levels: int, indent: str) -> str:
    entries: Iterable[object] = ()
    if levels > 0 and isinstance(value, (dict, list)):
        entries = value.values() if isinstance(value, dict) else value
    if not any(isinstance(entry, (dict, list)) for entry in entries):
        return json.dumps(value, default=_default, allow_nan=False)
    inner = indent + " "
    lines = [_lines(entry, levels - 1, inner) for entry in entries]
    first, last = "[]"
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {line}" for key, line in zip(value, lines, strict=True)]
        first, last = "{}"
    return f"{first}\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}{last}"


def plain(value: object) -> object:
    """NumPy values as the plain ones that JSON knows; anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else value


def _default(value: object) -> object:
    simple = plain(value)
    if simple is value:
        raise InputError(f"{quoted(value)} cannot be written as JSON")
    return simple


def short(value: float) -> int | float:
    """A number as a person would write it: 3 rather than 3.0."""
    value = float(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


class Fields:
    """The members of one JSON object, each taken by name and type; leftovers can be refused.

    ``path`` is the object's place in the file as messages write it: ``requests[3].pickup``.
    """

    def __init__(self, source: Source, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise source.error(f"{path or 'the file'} must be an object, not {_kind(value)}")
        self.source = source
        self.path = path
        self._value: Mapping[str, Any] = value
        self._taken: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def at(self, key: str) -> str:
        """The path of a member, whose name may be anything."""
        name = key if key.isprintable() and len(key) <= LONGEST_KEY else quoted(key)
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, key: str, message: str) -> InputError:
        """An error about a member, to be raised."""
        return self.source.error(f"{self.at(key)} {message}")

    def take(self, key: str) -> Any:
        """The member as it is; None where it is absent or null."""
        self._taken.add(key)
        return self._value.get(key)

    def untaken(self) -> list[str]:
        """Keys nobody asked for."""
        return [key for key in self._value if key not in self._taken]

    def refuse_others(self) -> None:
        """Raise an error that names the first member nobody asked for."""
        for key in self.untaken():
            raise self.source.error(f"unknown key {self.at(key)}")

    def number(self, key: str) -> float | None:
        """A finite number."""
        value = self.take(key)
        return None if value is None else self._finite(value, key)

    def numbers(self, key: str) -> list[float] | None:
        """A list of finite numbers."""
        value = self.take(key)
        if value is None:
            return None
        entries = self._listed(value, key)
        return [self._finite(entry, f"{key}[{i}]") for i, entry in enumerate(entries)]

    def matrix(self, key: str) -> FloatArray | None:
        """A square list of lists of numbers."""
        value = self.take(key)
        if value is None:
            return None
        rows = self._listed(value, key)
        for i, row in enumerate(rows):
            cells = self._listed(row, f"{key}[{i}]")
            if len(cells) != len(rows):
                raise self.wrong(f"{key}[{i}]", f"has {len(cells)} entries, not {len(rows)}")
            if not {type(cell) for cell in cells} <= {int, float}:
                for j, cell in enumerate(cells):
                    self._finite(cell, f"{key}[{i}][{j}]")
        try:
            return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows))
        except OverflowError:
            raise self.wrong(key, "holds a number that is too large") from None

    def text(self, key: str) -> str | None:
        """A text."""
        value = self.take(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, f"must be a text, not {_kind(value)}")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where absent."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, f"must be true or false, not {_kind(value)}")
        return bool(value)

    def identity(self, key: str) -> Id | None:
        """An id: a text or a whole number."""
        value = self.take(key)
        return None if value is None else self._identity(value, key)

    def identities(self, key: str) -> list[Id] | None:
        """A list of ids."""
        value = self.take(key)
        if value is None:
            return None
        entries = self._listed(value, key)
        return [self._identity(entry, f"{key}[{i}]") for i, entry in enumerate(entries)]

    def index(self, key: str) -> int | None:
        """A whole number that is not negative."""
        value = self.take(key)
        if value is not None and (type(value) is not int or value < 0):
            raise self.wrong(key, f"must be a whole number from 0 on, not {quoted(value)}")
        return value

    def one_of(self, key: str, choices: Iterable[str]) -> str | None:
        """One of a few words."""
        value = self.take(key)
        words = list(choices)
        if value is not None and value not in words:
            raise self.wrong(key, f"must be one of {', '.join(words)}, not {quoted(value)}")
        return None if value is None else str(value)

    def fields(self, key: str) -> Fields | None:
        """An object."""
        value = self.take(key)
        return None if value is None else Fields(self.source, value, self.at(key))

    def each(self, key: str) -> list[Fields]:
        """A list of objects; empty where absent."""
        value = self.take(key)
        if value is None:
            return []
        entries = self._listed(value, key)
        return [
            Fields(self.source, entry, f"{self.at(key)}[{i}]") for i, entry in enumerate(entries)
        ]

    def _listed(self, value: object, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong(key, f"must be a list, not {_kind(value)}")
        return value

    def _finite(self, value: object, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(key, f"must be a number, not {_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.wrong(key, "is a number that is too large")
        return number

    def _identity(self, value: object, key: str) -> Id:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise self.wrong(key, f"must be a text or a whole number, not {_kind(value)}")
        return value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {quoted(value)}"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"

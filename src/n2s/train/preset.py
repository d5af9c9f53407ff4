"""Presets: TOML files of sections that become frozen dataclasses; an unknown key is an error."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from n2s.errors import InputError, located, quoted

C = TypeVar("C")


def read_config(
    path: str | Path, changes: Sequence[str], config_of: Callable[[Mapping[str, object]], C]
) -> C:
    """A preset file with ``section.key=value`` changes on top, values as in TOML."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", str(path)) from error
    with located(str(path)):
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"is not TOML ({error})") from None
        config_of(table)  # what is wrong in the file is the file's, not that of a change
    for change in changes:
        _change(table, change)
    return config_of(table)


def folder_of(preset: str | Path, out: str | Path | None) -> Path:
    """Where a new run lives: where it is told to, or under its preset's name in runs/."""
    return Path("runs") / Path(preset).stem if out is None else Path(out)


def _change(table: dict[str, Any], change: str) -> None:
    """Enter one ``section.key=value``."""
    name, equals, text = change.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot or not key:
        raise InputError(f"a change is written section.key=value, not {quoted(change)}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()  # a bare word is a string
    table.setdefault(section, {})[key] = value


def section(kind: type[C], name: str, values: Mapping[str, object]) -> C:
    """A section as a dataclass, every key and type checked."""
    known = get_type_hints(kind)
    converted = {}
    for key, value in values.items():
        if key not in known:
            raise InputError(
                f"there is no key {quoted(f'{name}.{key}')} (there are {', '.join(known)})"
            )
        converted[key] = _converted(f"{name}.{key}", known[key], value)
    return kind(**converted)


def _converted(name: str, kind: Any, value: object) -> object:
    """A value of the kind that a field declares, or an error that names it."""
    if get_origin(kind) is tuple:
        entries = value if isinstance(value, list | tuple) else [value]
        return tuple(_converted(name, get_args(kind)[0], entry) for entry in entries)
    if issubclass(kind, StrEnum):
        if isinstance(value, str) and value in list(kind):
            return kind(value)
        raise InputError(f"{name} is {quoted(value)}, not one of {', '.join(kind)}")
    if type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[kind]
    raise InputError(f"{name} must be {wanted}, not {quoted(value)}")


def positive(values: Sequence[int], name: str) -> None:
    """At least one number, and all of them from 1 on."""
    if not values or min(values) < 1:
        raise InputError(f"{name} must be at least 1, not {', '.join(map(str, values)) or 'empty'}")

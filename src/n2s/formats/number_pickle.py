"""Pickles of numbers, read without running anything.

A pickle is a program for a small stack machine, and one of its instructions calls any function of
any module. This machine has no such instruction: it builds lists, tuples, numbers and NumPy arrays
of numbers from the instructions that describe them, and every other instruction is an error. The
arrays are taken from their bytes; nothing of NumPy's own unpickling runs either.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass
from typing import Any

import numpy as np

from n2s.errors import InputError, quoted


class _Mark:
    """The instruction MARK left this on the stack."""


@dataclass(frozen=True)
class _Global:
    name: str


@dataclass
class _DType:
    code: str
    order: str = "<"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.code).newbyteorder(self.order)  # type: ignore[arg-type]


@dataclass
class _Array:
    """An array between its creation and the instruction that fills it."""

    value: np.ndarray[Any, Any] | None = None


BYTES_PER_BYTE = 2  # an honest file writes every text it encodes

_MARK = _Mark()
_NUMERIC = {f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)} | {"f2", "f4", "f8", "b1"}
_GLOBALS = {
    f"numpy.{core}.{name}"
    for core in ("core", "_core")
    for name in ("multiarray._reconstruct", "multiarray.scalar", "numeric._frombuffer")
} | {"numpy.ndarray", "numpy.dtype", "_codecs.encode"}

_PUSH = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
    *("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8"),
}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def load(data: bytes) -> object:
    """What the pickle describes: numbers in lists, tuples and arrays, and nothing else.

    Raises
    ------
    InputError
        If it describes anything else, or is no pickle.
    """
    try:
        return _finished(_run(data))
    except InputError:
        raise
    except Exception as error:  # the instructions of a damaged pickle can be wrong in any way
        detail = str(error)[:100] or type(error).__name__
        raise InputError(f"this is not a sound pickle ({detail})") from None


def _finished(value: object) -> object:
    """The array in place of its shell; containers are looked into by whoever reads them."""
    return value.value if isinstance(value, _Array) else value


class _Budget:
    """Bytes that may still be made: one text, once written, can be encoded any number of times."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise InputError("the pickle repeats its texts to more bytes than the file can hold")


def _run(data: bytes) -> object:
    budget = _Budget(BYTES_PER_BYTE * len(data))
    stack: list[Any] = []
    memo: dict[int, Any] = {}

    def cut() -> list[Any]:
        """Everything above the last mark, taken off together with it."""
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is _MARK:
                entries = stack[at + 1 :]
                del stack[at:]
                return entries
        raise InputError("this is not a sound pickle (a mark is missing)")

    argument: Any
    for instruction, argument, position in pickletools.genops(data):
        name = instruction.name
        if name in _PUSH:
            stack.append(argument)
        elif name == "MARK":
            stack.append(_MARK)
        elif name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name in ("EMPTY_LIST", "LIST"):
            entries = [] if name == "EMPTY_LIST" else cut()
            stack.append([_finished(entry) for entry in entries])
        elif name == "APPEND":
            entry = _finished(stack.pop())
            _extend(stack[-1], [entry])
        elif name == "APPENDS":
            entries = [_finished(entry) for entry in cut()]
            _extend(stack[-1], entries)
        elif name in _TUPLES:
            start = len(stack) - _TUPLES[name]
            if start < 0:
                raise InputError("this is not a sound pickle (an entry is missing)")
            entries = [_finished(entry) for entry in stack[start:]]
            del stack[start:]
            stack.append(tuple(entries))
        elif name == "TUPLE":
            stack.append(tuple(_finished(entry) for entry in cut()))
        elif name in ("NEWTRUE", "NEWFALSE"):
            stack.append(name == "NEWTRUE")
        elif name == "NONE":
            stack.append(None)
        elif name in ("GLOBAL", "INST"):
            stack.append(_allowed(".".join(argument.split(" "))))
        elif name == "STACK_GLOBAL":
            attribute, module = stack.pop(), stack.pop()
            if not isinstance(module, str) or not isinstance(attribute, str):
                raise InputError("this is not a sound pickle (a name is no text)")
            stack.append(_allowed(f"{module}.{attribute}"))
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(_made(function, arguments, budget))
        elif name == "BUILD":
            state = stack.pop()
            _fill(stack[-1], state)
        elif name == "STOP":
            if position is not None and position + 1 < len(data):
                raise InputError("there is something behind the end of the pickle")
            return stack.pop()
        elif name not in ("PROTO", "FRAME"):
            raise InputError(f"the pickle holds more than lists of numbers (instruction {name})")
    raise InputError("this is not a sound pickle (it does not end)")


def _extend(target: object, entries: list[Any]) -> None:
    if not isinstance(target, list):
        raise InputError("this is not a sound pickle (entries without a list)")
    target.extend(entries)


def _allowed(name: str) -> _Global:
    if name not in _GLOBALS:
        raise InputError(
            f"the pickle asks for {quoted(name)}; only numbers and arrays of them are read"
        )
    return _Global(name.replace("numpy._core.", "numpy.core."))


def _made(function: object, arguments: Any, budget: _Budget) -> object:
    """What a call of one of the few known functions stands for.

    Types come before anything else that looks at a value: to print, hash or compare lists that hold
    each other many times over can take forever.
    """
    name = function.name if isinstance(function, _Global) else None
    if name == "_codecs.encode":  # how protocol 2 and older write bytes
        text, encoding = arguments
        if not isinstance(text, str) or not isinstance(encoding, str) or encoding != "latin1":
            raise InputError("the pickle holds bytes in an unknown encoding")
        budget.spend(len(text))
        return text.encode("latin1")
    if name == "numpy.dtype":
        code = arguments[0]
        if not isinstance(code, str) or code not in _NUMERIC:
            shown = repr(code) if isinstance(code, str) else "unknown"
            raise InputError(f"the pickle holds an array of type {shown}, not of numbers")
        return _DType(code)
    if name == "numpy.core.multiarray.scalar":
        kind, raw = arguments
        return _from_bytes(kind, (), raw, False).item()
    if name == "numpy.core.multiarray._reconstruct":
        return _Array()
    if name == "numpy.core.numeric._frombuffer":
        raw, kind, shape, order = arguments
        return _from_bytes(kind, shape, raw, order == "F")
    raise InputError("the pickle calls something that is no function")


def _fill(target: object, state: Any) -> None:
    if not isinstance(state, tuple):
        raise InputError("this is not a sound pickle (a state is no tuple)")
    if isinstance(target, _DType) and isinstance(state[1], str) and state[1] in "<>|=":
        target.order = state[1]
    elif isinstance(target, _Array) and target.value is None:
        _, shape, kind, by_column, raw = state
        target.value = _from_bytes(kind, shape, raw, bool(by_column))
    else:
        raise InputError("the pickle sets the state of something that is no array")


def _from_bytes(kind: object, shape: Any, raw: object, by_column: bool) -> np.ndarray[Any, Any]:
    if not isinstance(kind, _DType) or not isinstance(raw, (bytes, bytearray)):
        raise InputError("the pickle holds an array that is not of numbers")
    if (
        not isinstance(shape, tuple)
        or len(shape) > 8
        or any(type(n) is not int or not 0 <= n <= len(raw) for n in shape)
    ):
        raise InputError("the pickle holds an array without a proper shape")
    count = 1
    for length in shape:
        count *= length
    dtype = kind.dtype
    # Checked before anything is allocated: the shape is only a claim.
    if count * dtype.itemsize != len(raw):
        raise InputError(
            f"the pickle declares an array of shape {shape} of {dtype}, but holds {len(raw)} bytes"
        )
    values = np.frombuffer(raw, dtype) if count else np.zeros(0, dtype)
    return values.reshape(shape, order="F" if by_column else "C")

"""The file that an evolution is continued from: whole and unchanged, or refused in one sentence."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from n2s.errors import InputError
from n2s.formats.registry import store

FILE = "state.json"
FORMAT = 5

State = dict[str, Any]
"""Counters, costs, configuration and the strategy's memory by name, as JSON holds them."""


def save_state(state: State, folder: Path) -> None:
    """Write aside, then rename: a kill leaves the old file or the new one."""
    content = {"format": FORMAT, "sha256": _digest(state), "state": state}
    store(folder / FILE, json.dumps(content).encode())


def load_state(folder: str | Path) -> State:
    """Read what :func:`save_state` wrote."""
    path = Path(folder) / FILE
    if not os.path.exists(path):  # which, unlike Path.exists, never raises
        raise InputError("there is no run to resume: the folder holds no " + FILE, str(folder))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise InputError("was written by another version of the trainer", str(path))
        state: State = content["state"]
        whole = _digest(state) == content["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"is not a complete state of a run ({error})", str(path)) from None
    if not whole:
        raise InputError("is not the state that its hash was made of", str(path))
    return state


def _digest(state: State) -> str:
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()

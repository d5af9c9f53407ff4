"""What a run tells about itself: a line of JSON now and then, and the same numbers for TensorBoard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from n2s.errors import InputError, quoted
from n2s.formats.registry import store

FILE = "metrics.jsonl"
REQUIRED = {"kind", "update", "transitions"}
"""What every line holds."""


class Means:
    """Running means of named numbers."""

    def __init__(self, sums: dict[str, float] | None = None, count: int = 0) -> None:
        self.sums = dict(sums or {})
        self.count = count

    def add(self, values: dict[str, float]) -> None:
        """Enter one set of numbers."""
        self.count += 1
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def take(self) -> dict[str, float]:
        """The means; the next ones begin anew."""
        means = {name: value / max(1, self.count) for name, value in self.sums.items()}
        self.sums, self.count = {}, 0
        return means


class MetricsLog:
    """The metrics of a run folder; opened again, it forgets what lies behind ``update``."""

    def __init__(self, folder: Path, update: int) -> None:
        self.path = folder / FILE
        self._keep_until(update)
        self._board = _board(folder / "tensorboard", update)

    @property
    def board(self) -> bool:
        """Whether TensorBoard files are written."""
        return self._board is not None

    def write(self, kind: str, update: int, values: dict[str, Any]) -> None:
        """Append one line; numbers go to TensorBoard as ``kind/name``."""
        line = json.dumps({"kind": kind, "update": update, **values})
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror})", str(self.path)) from error
        if self._board is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(f"{kind}/{name}", value, update)

    def close(self) -> None:
        """Write out what is buffered."""
        if self._board is not None:
            self._board.close()

    def _keep_until(self, update: int) -> None:
        """Drop the lines that a killed run wrote after its last checkpoint: they will come again."""
        if self.path.exists():
            kept = [line for line in read_metrics(self.path.parent) if line["update"] <= update]
            store(self.path, "".join(f"{json.dumps(line)}\n" for line in kept).encode())


def read_metrics(folder: str | Path) -> list[dict[str, Any]]:
    """The lines of a run, in order; without a last one that a kill cut off."""
    path = Path(folder) / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", str(path)) from error
    lines = text[: text.rfind("\n") + 1].splitlines()
    return [_line(line, path, number) for number, line in enumerate(lines, 1)]


def _line(text: str, path: Path, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", str(path), number) from None
    counts = isinstance(line, dict) and type(line.get("update")) is int
    if not counts or not line.keys() >= REQUIRED:
        raise InputError(f"is no line of metrics: {quoted(text)}", str(path), number)
    return line


def _board(folder: Path, update: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    try:
        return SummaryWriter(str(folder), purge_step=update + 1)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", str(folder)) from error

"""What is kept of every single run: one line of JSON that can stand alone, in a file that only grows."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from n2s.errors import InputError, quoted

FILE = "runs.jsonl"
OK = "ok"
UNABLE = "unable"
MISSING = "missing"

Key = tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """One method on one instance with one seed."""

    suite: str
    group: str
    """The table of the suite it belongs to."""
    instance: str
    hash: str
    nodes: int
    variant: str
    method: str
    budget: str
    seed: int
    cores: int
    status: str
    """``ok``; ``unable`` or ``missing``; else how it failed: crash, hang, infeasible, lied."""
    reason: str = ""
    cost: float | None = None
    seconds: float | None = None
    """Wall clock of its process, start-up and all."""
    steps: int | None = None
    pace: float | None = None
    """Steps a second once the search ran."""
    history: list[list[float]] = field(default_factory=list)
    """Improvements: step, seconds since the process began, best cost. Empty if it tells none."""
    policy: str = ""
    stand_in: bool = False
    """Whether the policy takes the place of one trained for this size, which there is not."""
    scale: float = 1.0
    published: dict[str, float] = field(default_factory=dict)
    processes: int = 1
    software: str = ""
    versions: str = ""
    hardware: str = ""
    date: str = ""
    command: str = ""

    @property
    def key(self) -> Key:
        """What makes it this run and no other."""
        names = ("suite", "group", "instance", "hash", "method", "policy", "budget", "seed")
        return tuple(str(getattr(self, name)) for name in (*names, "cores", "hardware"))

    @property
    def final(self) -> bool:
        """Whether asking again would only give the same: a missing peer may be installed later."""
        return self.status != MISSING


def read_records(folder: str | Path) -> list[Record]:
    """The runs in a folder; of one that was repeated, the last. A line that a kill cut off is none."""
    path = Path(folder) / FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from error
    found: dict[Key, Record] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        record = _record(line, path, number)
        found[record.key] = record
    return list(found.values())


def _record(line: bytes, path: Path, number: int) -> Record:
    try:
        content: Any = json.loads(line)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", str(path), number) from None
    required = [f.name for f in fields(Record)][:_REQUIRED]
    known = {f.name for f in fields(Record)}
    if not isinstance(content, dict) or not content.keys() >= set(required):
        raise InputError(f"is no run of a benchmark: {quoted(str(content))}", str(path), number)
    return Record(**{name: value for name, value in content.items() if name in known})


_REQUIRED = 11  # fields without a default


class Log:
    """The runs of a folder, open for more; for one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / ".lock", timeout=0)
            self._lock.acquire()
        except Timeout:
            raise InputError("another benchmark is writing here", str(folder)) from None
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror})", str(folder)) from error
        self._drop_half_a_line()
        records = read_records(folder) if self.path.exists() else []
        self.done = {record.key for record in records if record.final}

    def append(self, record: Record) -> None:
        """Add a run; it is on the disk when this returns."""
        line = json.dumps(asdict(record)) + "\n"
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror})", str(self.path)) from error
        self.done.add(record.key)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def _drop_half_a_line(self) -> None:
        """What a kill left unfinished would spoil the next line."""
        if self.path.exists():
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                with self.path.open("r+b") as stream:
                    stream.truncate(whole)

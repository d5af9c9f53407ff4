"""The best route known of every instance, over all methods and runs, by the instance's fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from n2s.bench.case import Case
from n2s.errors import InputError
from n2s.formats.registry import store
from n2s.problem import evaluate_nodes

FILE = "best.json"


@dataclass(frozen=True)
class Best:
    """A route that was verified, and who found it."""

    cost: float
    nodes: tuple[int, ...]
    """In the package's numbering, so that it does not depend on ids."""
    instance: str
    method: str
    date: str


class BestKnown:
    """A file of the best routes, which several processes may improve at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Best]:
        """All of them, by fingerprint."""
        if not self.path.exists():
            return {}
        try:
            content: Any = json.loads(self.path.read_bytes())
            return {
                key: Best(
                    **{
                        **entry,
                        "cost": float(entry["cost"]),
                        "nodes": tuple(map(int, entry["nodes"])),
                    }
                )
                for key, entry in content.items()
            }
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", str(self.path)) from error
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise InputError(f"is no file of best routes ({error})", str(self.path)) from None

    def improve(self, found: Mapping[str, Best]) -> None:
        """Enter what is better than what is there; nothing that others enter meanwhile is lost."""
        if not _better(found, self.read()):
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(f".{self.path.name}.lock")):
                entries = self.read()
                entries |= _better(found, entries)
                text = json.dumps({key: asdict(entries[key]) for key in sorted(entries)}, indent=1)
                store(self.path, text.encode())
        except OSError as error:
            raise InputError(f"cannot be written ({error.strerror})", str(self.path)) from error

    def verify(self, cases: Iterable[Case]) -> None:
        """Judge the routes that are there for these cases.

        Raises
        ------
        InputError
            If one is infeasible or has another cost: the file was changed by other hands.
        """
        entries = self.read()
        for case in cases:
            entry = entries.get(case.fingerprint)
            if entry is None:
                continue
            size = case.instance.size
            verdict = (
                evaluate_nodes(case.instance, entry.nodes)
                if entry.nodes and all(0 <= node < size for node in entry.nodes)
                else None
            )
            if verdict is None or not verdict.feasible:
                raise InputError(f"the route of {case.name} is infeasible", str(self.path))
            if not abs(verdict.cost - entry.cost) <= 1e-9 * max(1.0, abs(verdict.cost)):  # or NaN
                raise InputError(
                    f"the route of {case.name} costs {verdict.cost:g}, not {entry.cost:g}",
                    str(self.path),
                )


def _better(found: Mapping[str, Best], known: Mapping[str, Best]) -> dict[str, Best]:
    return {
        key: best for key, best in found.items() if key not in known or best.cost < known[key].cost
    }

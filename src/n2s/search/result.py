"""What a search hands out: a verified route and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import n2s
from n2s import formats
from n2s.errors import InputError, N2SError, located
from n2s.formats import registry
from n2s.formats.base import Source
from n2s.formats.json_solution import as_dict
from n2s.formats.strict_json import load as load_json
from n2s.problem import Evaluation, Id, Instance, evaluate, evaluate_nodes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SearchError(N2SError):
    """A search produced a route that its judge refuses: a fault of this package."""


class HistoryPoint(NamedTuple):
    """An improvement: after how many steps and seconds the best cost became what."""

    step: int
    seconds: float
    best: float


@dataclass(frozen=True)
class Solution:
    """A route that was verified by code the search does not share, with its record."""

    evaluation: Evaluation
    method: str
    seed: int
    steps: int
    seconds: float
    stopped: str
    """Why the search ended: ``steps``, ``time``, ``no improvement``, ``target`` or ``interrupted``."""
    history: tuple[HistoryPoint, ...] = ()
    checkpoint: str = ""
    """Name and hash of the policy, where one was used."""
    version: str = n2s.__version__

    @property
    def instance(self) -> Instance:
        """The instance that was solved."""
        return self.evaluation.instance

    @property
    def route(self) -> list[Id]:
        """The stops in order, by the user's ids."""
        return self.evaluation.route

    @property
    def cost(self) -> float:
        """In the user's units, under the instance's rounding rule."""
        return self.evaluation.cost

    @property
    def record(self) -> dict[str, object]:
        """How the route was found, as the files hold it."""
        return {
            "method": self.method,
            "seed": self.seed,
            "steps": self.steps,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "checkpoint": self.checkpoint,
            "version": self.version,
            "history": [list(point) for point in self.history],
        }

    def as_dict(self) -> dict[str, Any]:
        """The solution as JSON holds it."""
        return as_dict(self.evaluation, self.record)

    def save(self, path: str | Path) -> None:
        """Write the solution; the suffix says how: .json .csv .geojson .tour .sol .html .png .svg .pdf."""
        suffix = Path(path).suffix.lower()
        if suffix == ".html":
            self.to_html(path)
        elif suffix in PICTURES:
            self._store_picture(path)
        else:
            formats.write_route(self.evaluation, path, self.record)

    def to_json(self, path: str | Path) -> None:
        """Write everything; ``Solution.from_json`` reads it back."""
        self._as(path, ".json")

    def to_csv(self, path: str | Path) -> None:
        """Write a row per stop."""
        self._as(path, ".csv")

    def to_geojson(self, path: str | Path) -> None:
        """Write the route as a line and a point per stop."""
        self._as(path, ".geojson")

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained page that draws the route and steps through its stops."""
        from n2s.report.page import route_page

        page = route_page(self.evaluation, self.history, self.instance.name)
        registry.store(path, page.encode())

    def plot(self) -> Figure:
        """A matplotlib figure: the tour, the stack over time where it matters, the best-so-far curve."""
        from n2s.report.figure import route_figure

        return route_figure(self.evaluation, self.history, self.instance.name)

    @staticmethod
    def from_json(path: str | Path, instance: Instance) -> Solution:
        """Read a solution of ``instance`` back; its route is judged anew."""
        route = formats.read_route(path, instance)
        content = load_json(Source(str(path), Path(path).read_bytes()))
        record = content.get("record") if isinstance(content, Mapping) else None
        if not isinstance(content, Mapping) or not isinstance(record, Mapping):
            raise InputError("this is no solution with its record", str(path))
        with located(str(path)):
            evaluation = evaluate(instance, route)
        if not evaluation.feasible:
            raise InputError(
                f"the route is infeasible: {evaluation.violations[0].message}", str(path)
            )
        try:
            claimed = float(content["cost"])
            if abs(claimed - evaluation.cost) > 1e-6 * max(1.0, abs(claimed)):
                raise InputError(
                    f"the file says cost {claimed:g}, the route has {evaluation.cost:g}", str(path)
                )
            return Solution(
                evaluation,
                method=str(record["method"]),
                seed=int(record["seed"]),
                steps=int(record["steps"]),
                seconds=float(record["seconds"]),
                stopped=str(record["stopped"]),
                history=tuple(
                    HistoryPoint(int(step), float(seconds), float(best))
                    for step, seconds, best in record["history"]
                ),
                checkpoint=str(record["checkpoint"]),
                version=str(record["version"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the record of the solution is incomplete ({error})", str(path)
            ) from None

    def _as(self, path: str | Path, suffix: str) -> None:
        if Path(path).suffix.lower() != suffix:
            raise InputError(f"the name should end in {suffix}", str(path))
        self.save(path)

    def _store_picture(self, path: str | Path) -> None:
        from n2s.report.figure import figure_bytes

        registry.store(path, figure_bytes(self.plot(), Path(path).suffix.lower()))


PICTURES = (".png", ".svg", ".pdf")
SUFFIXES = (".json", ".csv", ".geojson", ".tour", ".sol", ".html", *PICTURES)
"""What ``Solution.save`` can write."""


def verified(instance: Instance, nodes: Sequence[int], cost: float) -> Evaluation:
    """The judge's verdict on a route that a search believes to be feasible and to cost ``cost``.

    Raises
    ------
    SearchError
        If the judge finds a violation or another cost.
    """
    evaluation = evaluate_nodes(instance, nodes)
    if not evaluation.feasible:
        raise SearchError(f"the search broke a rule: {evaluation.violations[0].message}")
    if abs(evaluation.cost - cost) > 1e-6 * max(1.0, abs(cost)):
        raise SearchError(f"the search claims cost {cost!r}, the route has {evaluation.cost!r}")
    return evaluation

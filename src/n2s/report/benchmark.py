"""Figures of a benchmark: the gap over time, and performance profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from n2s.report.figure import need_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 3.4  # inches of a panel
WIDTH = 8.0


@dataclass(frozen=True)
class Panel:
    """What is drawn of one table."""

    title: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    """x and y by method; a single point is a method that tells no history."""


def gap_figure(panels: Sequence[Panel]) -> Figure:
    """Mean gap to the best known over wall-clock seconds; methods with an answer only are points."""
    figure, rows = _panels(panels)
    for axes, panel in zip(rows, panels, strict=True):
        for name, (seconds, gaps) in panel.lines.items():
            percent = [100 * gap for gap in gaps]
            style = {"marker": "o", "linestyle": "none"} if len(percent) == 1 else {}
            axes.plot(seconds, percent, label=name, **style)  # type: ignore[arg-type]
        axes.set_xlabel("seconds, start-up counted")
        axes.set_ylabel("mean gap to best known in %")
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        _finish(axes, panel)
    return figure


def profile_figure(panels: Sequence[Panel]) -> Figure:
    """Share of the instances solved within a gap to the best known."""
    figure, rows = _panels(panels)
    for axes, panel in zip(rows, panels, strict=True):
        for name, (gaps, shares) in panel.lines.items():
            axes.step([100 * gap for gap in gaps], shares, where="post", label=name)
        axes.set_xlabel("gap to best known in %")
        axes.set_ylabel("share of instances")
        axes.set_ylim(0, 1.02)
        axes.set_xscale("symlog", linthresh=0.1)
        axes.set_xlim(left=0)
        _finish(axes, panel)
    return figure


def _panels(panels: Sequence[Panel]) -> tuple[Figure, Sequence[Axes]]:
    need_matplotlib()
    from matplotlib.figure import Figure

    count = max(1, len(panels))
    figure = Figure(figsize=(WIDTH, 0.3 + HEIGHT * count), layout="constrained")
    rows: Sequence[Axes] = figure.subplots(count, 1, squeeze=False)[:, 0].tolist()
    return figure, rows[: len(panels)]


def _finish(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=10)
    axes.grid(alpha=0.3)
    if panel.lines:
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))

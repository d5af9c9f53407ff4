"""A picture of a route: the map, the stack over the stops and the course of the search."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from n2s.errors import InputError, printable, quoted
from n2s.formats.stops import full_stacks, separate_end
from n2s.problem import Evaluation
from n2s.report.chart import Chart, chart
from n2s.report.history import Point, checked
from n2s.report.palette import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.0  # inches
HEIGHTS = {"map": 6.0, "stack": 2.4, "curve": 2.2}
NO_MAP = 0.8  # inches for the sentence that stands where the map would be
LABELLED = 12  # requests; with more, names on the map hide each other
LETTERS = 18  # of a name on the map
MANY_BLOCKS = 10_000  # beyond this, vector files hold the stack as pixels

# What makes the same picture the same bytes: no date, no random names.
METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def route_figure(evaluation: Evaluation, history: Sequence[Point] = (), title: str = "") -> Figure:
    """Draw an evaluated route.

    Parameters
    ----------
    evaluation
        The route; also an infeasible or incomplete one.
    history
        (step, seconds, best cost so far) of the search, for a curve below.
    title
        What to call the picture; default the instance's name.

    Returns
    -------
    Figure
        With axes labelled ``map``, ``stack`` (if the order on board matters) and ``curve`` (if there
        is a history). It belongs to no window and no pyplot; see :func:`figure_bytes`.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    drawing, course = chart(evaluation), checked(history)
    panels = {"map": HEIGHTS["map"] if drawing.line else NO_MAP}
    if evaluation.instance.variant.ordered and evaluation.stops:
        panels["stack"] = HEIGHTS["stack"]
    if course:
        panels["curve"] = HEIGHTS["curve"]
    heights = list(panels.values())
    figure = Figure(figsize=(WIDTH, sum(heights) + 0.5), layout="constrained")
    rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    axes = dict(zip(panels, rows, strict=True))
    for label, panel in axes.items():
        panel.set_label(label)
    figure.suptitle(_headline(evaluation, title), parse_math=False)
    _draw_map(axes["map"], evaluation, drawing)
    if "stack" in axes:
        _draw_stack(axes["stack"], evaluation)
    if "curve" in axes:
        _draw_curve(axes["curve"], course)
    return figure


def figure_bytes(figure: Figure, suffix: str) -> bytes:
    """The figure as a ``.png``, ``.svg`` or ``.pdf`` file; the same figure gives the same bytes."""
    need_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    kind = suffix.lower().removeprefix(".")
    if kind not in METADATA:
        raise InputError(f"a picture is a .png, .svg or .pdf file, not {quoted(suffix)}")
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "n2s"}), warnings.catch_warnings():
        # A name in a script the font lacks shows as boxes; the route is still right.
        warnings.filterwarnings("ignore", message=".*Glyph .* missing from")
        figure.savefig(buffer, format=kind, dpi=120, metadata=METADATA[kind])
    return buffer.getvalue()


def need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("a picture needs matplotlib: pip install n2s[plot]") from None


def _headline(evaluation: Evaluation, title: str) -> str:
    instance = evaluation.instance
    name = printable(title or instance.name or "route")
    verdict = (
        "" if evaluation.feasible else f", INFEASIBLE (violations: {len(evaluation.violations)})"
    )
    return f"{name} ({instance.variant}): {evaluation.cost:,.6g}{verdict}"


def _draw_map(axes: Axes, evaluation: Evaluation, drawing: Chart) -> None:
    instance = evaluation.instance
    if not drawing.line:
        axes.text(0.5, 0.5, "no coordinates", ha="center", va="center", color="0.4")
        axes.set_axis_off()
        return
    size = float(np.clip(3000 / (instance.n + 20), 13, 80))  # smaller markers for many
    line = np.array(drawing.line)
    axes.plot(*line.T, color="0.6", linewidth=1.2 if instance.n < 80 else 0.7, gid="route")
    _draw_arrows(axes, line, inches=0.11 if instance.n < 80 else 0.06)
    colours = dict(zip(instance.requests, palette(instance), strict=True))
    ends = [stop.kind for stop in evaluation.stops if stop.kind in ("start", "end")]
    together = ends == ["start", "end"] and not separate_end(instance)
    for kind, marker in (
        ("pickup", "^"),
        ("delivery", "v"),
        ("start", "s"),
        ("end", "X"),
        ("depot", "s"),
    ):
        found = [
            (point, "black" if stop.request is None else colours[stop.request])
            for stop, point in zip(evaluation.stops, drawing.points, strict=True)
            if stop.kind == kind and point is not None
        ]
        if not found or (together and kind == "end"):
            continue
        across, up = np.array([point for point, _ in found]).T
        axes.scatter(
            across,
            up,
            c=[colour for _, colour in found],
            marker=marker,
            s=size if kind in ("pickup", "delivery") else max(size, 40),
            edgecolors="white",
            linewidths=0.4,
            zorder=3,
            label="start and end" if together and kind == "start" else kind,
            gid=kind,
        )
    if instance.n <= LABELLED:
        _draw_names(axes, evaluation, drawing)
    axes.set_aspect(drawing.aspect, adjustable="datalim")
    axes.set_xlabel("longitude" if drawing.geographic else "x")
    axes.set_ylabel("latitude" if drawing.geographic else "y")
    axes.tick_params(labelsize="small")
    axes.legend(
        fontsize="small", ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False
    )


def _draw_arrows(axes: Axes, line: np.ndarray[Any, Any], inches: float) -> None:
    """A head in the middle of each leg, of one size whatever the scale of the map."""
    legs = np.diff(line, axis=0)
    lengths = np.hypot(*legs.T)
    moving = lengths > 0
    if not moving.any():
        return
    middles = ((line[1:] + line[:-1]) / 2)[moving]
    axes.quiver(
        *middles.T,
        *(legs[moving] / lengths[moving, None]).T,
        angles="xy",
        pivot="mid",
        units="inches",
        scale_units="inches",
        scale=1 / inches,
        width=inches / 5,
        headwidth=4,
        headlength=5,
        headaxislength=4,
        color="0.4",
        zorder=2,
    )


def _draw_names(axes: Axes, evaluation: Evaluation, drawing: Chart) -> None:
    for stop, point in zip(evaluation.stops, drawing.points, strict=True):
        if point is None or (stop.kind == "end" and not separate_end(evaluation.instance)):
            continue
        name = printable(str(stop.id))
        axes.annotate(
            name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…",
            point,
            xytext=(5, 5),
            textcoords="offset points",
            fontsize="x-small",
            color="0.25",
            parse_math=False,
        )


def _draw_stack(axes: Axes, evaluation: Evaluation) -> None:
    """One column per stop, the request on top of the stack on top."""
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    instance = evaluation.instance
    positions = np.array([stop.position for stop in evaluation.stops])
    depths = np.array([stop.depth for stop in evaluation.stops])
    if full_stacks(instance):
        colours = dict(zip(instance.requests, palette(instance), strict=True))
        blocks = [
            (position, level, request)
            for position, stack in zip(positions, evaluation.stacks(), strict=True)
            for level, request in enumerate(stack)
        ]
        corners = np.array([(x, y) for x, y, _ in blocks], dtype=float).reshape(-1, 1, 2)
        axes.add_collection(
            PolyCollection(
                list(corners + np.array([(-0.5, 0), (0.5, 0), (0.5, 1), (-0.5, 1)])),
                facecolors=[colours[request] for _, _, request in blocks],
                edgecolors="white",
                linewidths=0.5 if len(positions) < 100 else 0.1,
                rasterized=len(blocks) > MANY_BLOCKS,
                gid="blocks",
            )
        )
    else:  # whole stacks would take the square of the route
        axes.stairs(depths, np.append(positions - 0.5, positions[-1] + 0.5), fill=True, color="0.6")
    axes.set_xlim(positions[0] - 0.5, positions[-1] + 0.5)
    axes.set_ylim(0, max(1, int(depths.max())) * 1.05)
    axes.set_xlabel("stop")
    axes.set_ylabel("stack")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize="small")


def _draw_curve(axes: Axes, course: Sequence[Point]) -> None:
    steps, seconds, bests = zip(*course, strict=True)
    axes.plot(steps, bests, drawstyle="steps-post", color="#1f5fa8", gid="best")
    axes.plot(steps[-1], bests[-1], "o", color="#1f5fa8", markersize=4)
    axes.set_xlabel(f"step ({seconds[-1]:,.3g} s in all)")
    axes.set_ylabel("best so far")
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize="small")

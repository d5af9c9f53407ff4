"""Curves of a training run: what its metrics say over the transitions seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from n2s.errors import InputError
from n2s.report.figure import need_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (
    ("reward", "reward of a step"),
    ("value_loss", "value loss"),
    ("kl", "approximate KL"),
    ("clip_fraction", "clipped ratios"),
    ("removal_entropy", "entropy, removal"),
    ("reinsertion_entropy", "entropy, reinsertion"),
    ("policy_norm", "gradient norm, policy"),
    ("transitions_per_second", "transitions per second"),
    ("cost_in_edges", "cost in mean edges"),
    ("spread", "spread of the candidates"),
    ("norm", "norm of the parameters"),
    ("steps_per_second", "steps per second"),
)
"""Of training by gradients, then of evolution; what no line holds is left out."""
LOGARITHMIC = {"value_loss", "kl", "policy_norm"}
POINTS = 200  # of a curve: longer ones are averaged down to this


def training_figure(lines: Sequence[Mapping[str, Any]], title: str = "") -> Figure:
    """Validation gaps above, the numbers of the updates below, from the lines of ``metrics.jsonl``."""
    need_matplotlib()
    from matplotlib.figure import Figure

    updates = [line for line in lines if line["kind"] == "train"]
    checks = [line for line in lines if line["kind"] == "validation"]
    if not updates and not checks:
        raise InputError("the run has no metrics yet")
    panels = [panel for panel in PANELS if any(panel[0] in line for line in updates)]
    rows = 1 + (len(panels) + 1) // 2
    figure = Figure(figsize=(9.0, 1.2 + 1.9 * rows), layout="constrained")
    if title:
        figure.suptitle(title)
    grid = figure.add_gridspec(rows, 2, height_ratios=[1.6] + [1.0] * (rows - 1))
    _draw_validation(figure.add_subplot(grid[0, :]), checks)
    for index, (name, label) in enumerate(panels):
        axes = figure.add_subplot(grid[1 + index // 2, index % 2])
        _draw_curve(axes, updates, name)
        axes.set_ylabel(label, fontsize=8)
        axes.tick_params(labelsize=7)
    return figure


def _draw_validation(axes: Axes, checks: Sequence[Mapping[str, Any]]) -> None:
    keys = {key for line in checks for key in line if key.startswith("gap_")}
    for name in sorted(keys, key=_numbers):
        held = [line for line in checks if name in line]
        axes.plot(
            [line["transitions"] for line in held],
            [100 * line[name] for line in held],
            marker=".",
            label=_label(name),
        )
    axes.set_ylabel("validation gap in %")
    axes.set_xlabel("transitions")
    gaps = [line[key] for line in checks for key in keys if key in line]
    if min(gaps, default=0.0) >= 0:  # a policy may be better than what gaps refer to
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if keys:
        axes.legend()


def _numbers(name: str) -> list[int]:
    """gap_101, gap_101_1000 or gap_101_1000x8: the size, the steps, how many copies."""
    return [int(number) for number in name.removeprefix("gap_").replace("x", "_").split("_")]


def _label(name: str) -> str:
    size, *budget = _numbers(name)
    words = zip((", {} steps", ", best of {}"), budget, strict=False)
    return f"N = {size}" + "".join(word.format(number) for word, number in words)


def _draw_curve(axes: Axes, updates: Sequence[Mapping[str, Any]], name: str) -> None:
    held = [line for line in updates if name in line]
    x = [line["transitions"] for line in held]
    y = [line[name] for line in held]
    stride = -(-len(y) // POINTS) if y else 1
    groups = range(0, len(y), stride)
    means = [sum(y[i : i + stride]) / len(y[i : i + stride]) for i in groups]
    axes.plot([x[i] for i in groups], means, linewidth=1)
    if name in LOGARITHMIC and any(value > 0 for value in means):
        axes.set_yscale("log")
    axes.grid(alpha=0.3)

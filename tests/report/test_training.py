"""Curves of a run: every number where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from n2s.errors import InputError
from n2s.report import figure_bytes
from n2s.report.training import LOGARITHMIC, PANELS, POINTS, training_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib")


def train(update: int, **values: float) -> dict[str, Any]:
    """A line in which every number is its own."""
    numbers = {name: (update + index) / 100 for index, (name, _) in enumerate(PANELS)}
    line = {"kind": "train", "update": update, "transitions": 640 * update}
    return {**line, **numbers, **values}


def check(update: int, **gaps: float) -> dict[str, Any]:
    return {"kind": "validation", "update": update, "transitions": 640 * update, **gaps}


def axes_of(figure: Figure, label: str) -> Axes:
    (found,) = [axes for axes in figure.axes if axes.get_ylabel() == label]
    return found


def points(axes: Axes, index: int = 0) -> list[tuple[float, float]]:
    line = axes.get_lines()[index]
    return list(zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_every_panel_draws_its_own_numbers() -> None:
    lines = [check(0, gap_5=0.5), train(10), train(20), check(20, gap_5=0.25), train(30)]
    figure = training_figure(lines, title="a run")
    assert figure.get_suptitle() == "a run"
    assert len(figure.axes) == 1 + len(PANELS)
    for index, (name, label) in enumerate(PANELS):
        axes = axes_of(figure, label)
        expected = [(640 * u, (u + index) / 100) for u in (10, 20, 30)]
        assert points(axes) == [pytest.approx(point) for point in expected]
        assert axes.get_yscale() == ("log" if name in LOGARITHMIC else "linear")
    gaps = axes_of(figure, "validation gap in %")
    assert points(gaps) == [(0, 50.0), (12800, 25.0)]


def test_every_size_has_its_own_line_of_gaps() -> None:
    lines = [check(0, gap_21=0.4, gap_101=0.8), check(5, gap_21=0.2, gap_101=0.6, gap_51=0.1)]
    axes = axes_of(training_figure(lines), "validation gap in %")
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["N = 21", "N = 51", "N = 101"]
    assert points(axes, 0) == [pytest.approx(p) for p in [(0, 40), (3200, 20)]]
    assert points(axes, 1) == [pytest.approx((3200, 10))]
    assert points(axes, 2) == [pytest.approx(p) for p in [(0, 80), (3200, 60)]]


def test_an_evolution_draws_its_own_numbers_only() -> None:
    """Gaps by size and steps; panels that no line fills are left out."""
    own = {"cost_in_edges": 1.5, "spread": 0.2, "norm": 5.0, "steps_per_second": 9.0}
    lines = [
        check(0, gap_21_300=0.4, gap_21_1000=0.2, gap_101_300=0.8),
        {"kind": "train", "update": 1, "transitions": 640, **own},
        check(1, gap_21_300=0.3, gap_21_1000=-0.1, gap_101_300=0.6),
    ]
    figure = training_figure(lines)
    assert {axes.get_ylabel() for axes in figure.axes} == {
        "validation gap in %",
        "cost in mean edges",
        "spread of the candidates",
        "norm of the parameters",
        "steps per second",
    }
    assert points(axes_of(figure, "spread of the candidates")) == [(640, 0.2)]
    assert points(axes_of(figure, "cost in mean edges")) == [(640, 1.5)]
    gaps = axes_of(figure, "validation gap in %")
    legend = gaps.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "N = 21, 300 steps",
        "N = 21, 1000 steps",
        "N = 101, 300 steps",
    ]
    assert points(gaps, 1) == [pytest.approx(p) for p in [(0, 20), (640, -10)]]
    assert gaps.get_ylim()[0] < -10  # better than the reference is in sight


def test_gaps_of_copies_have_a_line_and_say_so() -> None:
    figure = training_figure([check(0, gap_101_1000x8=0.4, gap_101_3000=0.5, gap_21_1000x8=0.1)])
    axes = axes_of(figure, "validation gap in %")
    assert [line.get_label() for line in axes.get_lines()] == [
        "N = 21, 1000 steps, best of 8",
        "N = 101, 1000 steps, best of 8",
        "N = 101, 3000 steps",
    ]
    assert [line.get_ydata()[0] for line in axes.get_lines()] == pytest.approx([10, 40, 50])


def test_gaps_above_zero_are_drawn_from_zero() -> None:
    assert axes_of(training_figure([check(0, gap_5=0.5)]), "validation gap in %").get_ylim()[0] == 0


def test_a_long_curve_is_averaged_down() -> None:
    """401 lines in threes: 134 points, each a mean; the last stands for two lines."""
    figure = training_figure([train(update, reward=float(update)) for update in range(401)])
    drawn = points(axes_of(figure, "reward of a step"))
    assert len(drawn) == 134 <= POINTS
    assert drawn[0] == (0, 1.0)
    assert drawn[1] == (640 * 3, 4.0)
    assert drawn[-1] == (640 * 399, 399.5)


def test_a_curve_that_never_leaves_zero_is_not_logarithmic() -> None:
    figure = training_figure([train(1, kl=0.0), train(2, kl=0.0)])
    assert axes_of(figure, "approximate KL").get_yscale() == "linear"
    assert points(axes_of(figure, "approximate KL")) == [(640, 0.0), (1280, 0.0)]


@pytest.mark.parametrize(
    "lines", [[check(0, gap_5=0.5)], [train(1)], [train(1), check(1)]], ids=["gaps", "one", "bare"]
)
def test_the_first_minutes_of_a_run_can_be_drawn(lines: list[dict[str, Any]]) -> None:
    assert figure_bytes(training_figure(lines), ".png").startswith(b"\x89PNG")


def test_lines_from_before_a_number_was_logged_are_left_out() -> None:
    old = train(1)
    del old["policy_norm"]
    figure = training_figure([old, train(2)])
    assert len(points(axes_of(figure, "gradient norm, policy"))) == 1
    assert len(points(axes_of(figure, "value loss"))) == 2


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match=r"^the run has no metrics yet$"):
        training_figure([])

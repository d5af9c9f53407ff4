from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.problem import Evaluation, Instance, Metric, Variant, evaluate, evaluate_nodes, random_tour
from n2s.report import figure_bytes, route_figure
from n2s.report.palette import palette
from report.routes import (
    EVERY,
    HISTORY,
    POINTS,
    broken,
    ended,
    geographic,
    matrix_only,
    opened,
    planar,
    single,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib")


def panels(figure: Figure) -> dict[str, Axes]:
    return {str(axes.get_label()): axes for axes in figure.axes}


def named(axes: Axes, gid: str) -> Any:
    (found,) = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    return found


def drawn_line(evaluation: Evaluation) -> list[list[float]]:
    line = named(panels(route_figure(evaluation))["map"], "route")
    return [list(point) for point in line.get_xydata()]


def test_the_line_goes_through_the_places_of_the_route() -> None:
    tour = [POINTS[node].tolist() for node in (0, 1, 2, 4, 3, 0)]
    assert drawn_line(planar()) == tour
    assert drawn_line(geographic()) == tour
    assert drawn_line(opened()) == tour[1:-1]
    assert drawn_line(ended()) == [*tour[:-1], [9.0, 50.0]]
    assert drawn_line(single()) == POINTS[[0, 1, 2, 0]].tolist()


def test_pickups_and_deliveries_stand_at_their_places_in_the_colour_of_their_request() -> None:
    from matplotlib.colors import to_hex

    evaluation = planar()
    axes = panels(route_figure(evaluation))["map"]
    one, two = palette(evaluation.instance)
    assert one != two
    for kind, nodes, colours in (("pickup", [1, 2], [one, two]), ("delivery", [4, 3], [two, one])):
        dots = named(axes, kind)
        assert dots.get_offsets().tolist() == POINTS[nodes].tolist()
        assert [to_hex(colour) for colour in dots.get_facecolors()] == colours
    assert named(axes, "start").get_offsets().tolist() == [POINTS[0].tolist()]


def test_start_and_end_are_told_apart_where_they_are_apart() -> None:
    def legend(evaluation: Evaluation) -> list[str]:
        found = panels(route_figure(evaluation))["map"].get_legend()
        assert found is not None
        return [text.get_text() for text in found.get_texts()]

    assert legend(planar()) == ["pickup", "delivery", "start and end"]
    assert legend(ended()) == ["pickup", "delivery", "start", "end"]
    assert legend(opened()) == ["pickup", "delivery"]
    assert legend(broken()) == ["pickup", "delivery", "start and end", "depot"]


def test_one_arrow_head_per_leg_points_along_it() -> None:
    from matplotlib.quiver import Quiver

    axes = panels(route_figure(single()))["map"]
    (heads,) = [artist for artist in axes.get_children() if isinstance(artist, Quiver)]
    line = POINTS[[0, 1, 2, 0]]
    legs = np.diff(line, axis=0)
    np.testing.assert_allclose(heads.get_offsets(), (line[1:] + line[:-1]) / 2)
    directions = np.column_stack([np.asarray(heads.U), np.asarray(heads.V)])
    np.testing.assert_allclose(directions, legs / np.linalg.norm(legs, axis=1)[:, None])


def test_the_stack_has_a_block_for_every_request_on_board_after_every_stop() -> None:
    from matplotlib.colors import to_hex

    evaluation = planar()
    blocks = named(panels(route_figure(evaluation))["stack"], "blocks")
    one, two = palette(evaluation.instance)
    found = [
        (*path.vertices[:4].mean(axis=0), to_hex(colour))
        for path, colour in zip(blocks.get_paths(), blocks.get_facecolors(), strict=True)
    ]
    # Request 1 lies below, on board after stops 1, 2 and 3; request 2 on top of it after stop 2.
    assert found == [(1, 0.5, one), (2, 0.5, one), (2, 1.5, two), (3, 0.5, one)]


@pytest.mark.parametrize("n", [1, 7, 60])
def test_the_number_of_blocks_is_the_sum_of_the_depths(n: int) -> None:
    rng = np.random.default_rng(n)
    instance = Instance(coordinates=rng.random((2 * n + 1, 2)), variant=Variant.LIFO)
    evaluation = evaluate_nodes(instance, random_tour(n, Variant.LIFO, rng))
    blocks = named(panels(route_figure(evaluation))["stack"], "blocks")
    assert len(blocks.get_paths()) == sum(stop.depth for stop in evaluation.stops)


def test_beyond_a_thousand_nodes_the_stack_is_drawn_by_its_depth() -> None:
    rng = np.random.default_rng(0)
    instance = Instance(coordinates=rng.random((1201, 2)), variant=Variant.LIFO)
    evaluation = evaluate_nodes(instance, random_tour(600, Variant.LIFO, rng))
    (steps,) = panels(route_figure(evaluation))["stack"].patches
    assert steps.get_data().values.tolist() == [stop.depth for stop in evaluation.stops]  # type: ignore[attr-defined]


def test_the_curve_is_the_history() -> None:
    best = named(panels(route_figure(planar(), HISTORY))["curve"], "best")
    assert best.get_xydata().tolist() == [[step, cost] for step, _, cost in HISTORY]
    assert best.get_drawstyle() == "steps-post"  # the best stays what it was until it is beaten


def test_only_the_panels_there_is_something_for() -> None:
    assert list(panels(route_figure(single()))) == ["map"]
    assert list(panels(route_figure(planar()))) == ["map", "stack"]
    assert list(panels(route_figure(planar(), HISTORY))) == ["map", "stack", "curve"]
    assert list(panels(route_figure(single(), HISTORY))) == ["map", "curve"]


def test_a_bare_matrix_says_that_it_has_no_map_and_shows_the_rest() -> None:
    axes = panels(route_figure(matrix_only(), HISTORY))
    assert [text.get_text() for text in axes["map"].texts] == ["no coordinates"]
    assert not axes["map"].lines
    assert len(named(axes["stack"], "blocks").get_paths()) == 4
    assert named(axes["curve"], "best").get_ydata().tolist() == [9.5, 7.0, 6.25]


def test_degrees_of_longitude_are_as_short_as_they_are_there() -> None:
    axes = panels(route_figure(geographic()))["map"]
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.radians(52.2)))
    assert panels(route_figure(planar()))["map"].get_aspect() == 1
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("longitude", "latitude")


def test_tsplib_degrees_and_minutes_are_drawn_as_degrees() -> None:
    points = np.array([[52.30, 4.0], [-52.15, 4.0], [52.0, -4.45]])
    evaluation = evaluate(Instance(coordinates=points, metric=Metric.TSPLIB_GEO), [1, 2])
    expected = [[4.0, 52.5], [4.0, -52.25], [-4.75, 52.0], [4.0, 52.5]]
    np.testing.assert_allclose(drawn_line(evaluation), expected)


def test_a_route_across_the_date_line_is_not_torn() -> None:
    points = np.array([[179.0, 10.0], [-179.0, 11.0], [178.0, 12.0]])
    evaluation = evaluate(Instance(coordinates=points, metric=Metric.GREAT_CIRCLE), [1, 2])
    assert drawn_line(evaluation) == [[179, 10], [181, 11], [178, 12], [179, 10]]


def test_the_headline_says_what_it_is_worth() -> None:
    assert route_figure(planar()).get_suptitle() == f"plane (lifo): {planar().cost:,.6g}"
    assert route_figure(planar(), title="Round $1").get_suptitle().startswith("Round $1 (lifo)")
    count = len(broken().violations)
    assert route_figure(broken()).get_suptitle().endswith(f"INFEASIBLE (violations: {count})")


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_of_route_becomes_a_png(name: str) -> None:
    data = figure_bytes(route_figure(EVERY[name](), HISTORY, title="$\ud800 東京"), ".PNG")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data.endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF-")])
def test_vector_files_come_out_the_same_every_time(suffix: str, start: bytes) -> None:
    first, second = (figure_bytes(route_figure(planar(), HISTORY), suffix) for _ in range(2))
    assert first.startswith(start)
    assert first == second


def test_drawing_leaves_pyplot_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    figure_bytes(route_figure(planar(), HISTORY), ".png")
    assert "matplotlib.pyplot" not in sys.modules


def test_other_files_are_refused() -> None:
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf file, not '\.gif'"):
        figure_bytes(route_figure(single()), ".gif")


@pytest.mark.parametrize("entry", [(0, 0.0, np.inf), (0, np.nan, 1.0), (0, 1.0), None])
def test_a_history_that_is_none_is_refused(entry: Any) -> None:
    with pytest.raises(InputError, match=r"history\[1\] must be a step, seconds and a cost"):
        route_figure(single(), [HISTORY[0], entry])


def test_without_matplotlib_the_way_to_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"pip install n2s\[plot\]"):
        route_figure(single())

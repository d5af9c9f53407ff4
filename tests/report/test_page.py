from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.formats.stops import attributes
from n2s.problem import Evaluation, Instance, Variant, evaluate_nodes, random_tour
from n2s.report import route_page
from n2s.report.palette import palette
from report.routes import (
    EVERY,
    HISTORY,
    HOSTILE,
    POINTS,
    broken,
    ended,
    geographic,
    hostile,
    matrix_only,
    nowhere,
    opened,
    planar,
    single,
)

CHROMIUM = Path("/usr/bin/chromium")


class Scripts(HTMLParser):
    """The tags of a page as a browser would see them, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.texts[-1] += data


def data_of(page: str) -> dict[str, Any]:
    found = json.loads(Scripts(page).texts[0])
    assert isinstance(found, dict)
    return found


def text(value: object) -> str | None:
    return None if value is None else str(value)


@pytest.mark.parametrize("name", EVERY)
def test_the_data_in_the_page_is_the_evaluation(name: str) -> None:
    evaluation = EVERY[name]()
    data = data_of(route_page(evaluation, HISTORY))
    instance = evaluation.instance
    assert data["cost"] == evaluation.cost
    assert data["variant"] == instance.variant.value
    assert data["capacity"] == instance.capacity
    assert data["requests"] == [str(request) for request in instance.requests]
    assert data["colours"] == palette(instance)
    assert data["history"] == [list(point) for point in HISTORY]
    assert len(data["stops"]) == len(evaluation.stops)
    for shown, stop in zip(data["stops"], evaluation.stops, strict=True):
        for field in ("position", "kind", "leg", "cumulative", "load", "depth"):
            assert shown[field] == getattr(stop, field), field
        for field in ("id", "request", "top"):
            assert shown[field] == text(getattr(stop, field)), field
        assert shown["attributes"] == attributes(evaluation, stop)
    assert [shown["message"] for shown in data["violations"]] == [
        violation.message for violation in evaluation.violations
    ]
    stacks = [list(map(str, stack)) for stack in evaluation.stacks()]
    assert data["stacks"] == (stacks if instance.variant.ordered else None)


def points(evaluation: Evaluation) -> Any:
    return [stop["point"] for stop in data_of(route_page(evaluation))["stops"]]


def test_the_points_are_the_places_of_the_route() -> None:
    tour = POINTS[[0, 1, 2, 4, 3, 0]].tolist()
    assert points(planar()) == tour
    assert points(opened()) == tour[1:-1]
    assert points(ended()) == [*tour[:-1], [9.0, 50.0]]
    assert points(matrix_only()) == [None] * 6
    assert data_of(route_page(planar()))["aspect"] == 1
    aspect = data_of(route_page(geographic()))["aspect"]
    assert aspect == pytest.approx(1 / np.cos(np.radians(52.2)))


def test_a_very_long_route_comes_without_its_stacks() -> None:
    rng = np.random.default_rng(0)
    instance = Instance(coordinates=rng.random((1201, 2)), variant=Variant.LIFO)
    evaluation = evaluate_nodes(instance, random_tour(600, Variant.LIFO, rng))
    data = data_of(route_page(evaluation))
    assert data["stacks"] is None
    assert [s["depth"] for s in data["stops"]] == [s.depth for s in evaluation.stops]


def test_hostile_names_stay_text() -> None:
    page = route_page(hostile(), title=HOSTILE)
    plain, cruel = Scripts(route_page(planar())), Scripts(page)
    assert [tag for tag, _ in cruel.tags] == [tag for tag, _ in plain.tags]
    assert page.isascii()  # also no lone surrogate that no file could hold
    assert data_of(page)["title"] == HOSTILE
    assert data_of(page)["stops"][3]["id"] == str(2**60 + 1)


def test_names_that_look_like_the_template_stay_text() -> None:
    assert data_of(route_page(planar(), title="%DATA%"))["title"] == "%DATA%"


@pytest.mark.parametrize("name", EVERY)
def test_the_page_asks_the_network_for_nothing(name: str) -> None:
    page = route_page(EVERY[name](), HISTORY)
    addresses = re.findall(r"(?:https?:)?//[a-z][\w.]*\.[a-z]+[\w./]*", page)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}  # a name, not a place
    for tag, found in Scripts(page).tags:
        assert tag not in ("link", "img", "iframe", "object"), tag
        assert not {"src", "href"} & set(found), tag
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_a_history_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"history\[0\]"):
        route_page(single(), [(0, 0.0, float("nan"))])


# --- in a browser ------------------------------------------------------------------------------------

in_a_browser = pytest.mark.skipif(
    not CHROMIUM.exists(), reason=f"NO BROWSER: {CHROMIUM} is missing, the page itself is not tried"
)
FINISH = """<script>
{actions}
document.body.dataset.seen = JSON.stringify({{
  title: document.title, current: current, count: $("count").textContent,
  rows: rows.map((row) => [...row.cells].map((cell) => cell.textContent)),
  marked: rows.findIndex((row) => row.hasAttribute("aria-current")),
  name: $("name").textContent, slider: $("slider").value, load: $("load-title").textContent,
  pile: [...document.querySelectorAll("#pile div")].map((block) => block.title),
  markers: document.querySelectorAll("#map polygon").length, done: map.done?.points.length,
  map: !$("map").hidden, stack: !$("stack").hidden, course: !$("course").hidden, list: !$("list").hidden,
  violations: [...document.querySelectorAll("#violations li")].map((item) => item.textContent),
  errors: errors, bold: document.querySelectorAll("main b b, main i, main img").length,
  width: document.body.clientWidth, needed: document.body.scrollWidth,
}});
</script></body>"""
WATCH = "<head><script>const errors = []; onerror = (message) => errors.push(message);</script>"


def seen(folder: Path, page: str, actions: str = "", place: str = "", width: int = 1200) -> Any:
    """What a person would find on the page after ``actions``, from a real browser."""
    page = page.replace("<head>", WATCH).replace("</body>", FINISH.format(actions=actions))
    file = folder / "page.html"
    # Half a character is shown as a box, but --dump-dom dies of it.
    file.write_text(page.replace("\\ud800", "?"), encoding="utf-8")
    switches = (
        "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    )
    result = subprocess.run(
        [
            str(CHROMIUM),
            *switches.split(),
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},844",
            "--dump-dom",
            f"{file.as_uri()}{place}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    (found,) = [found["data-seen"] for tag, found in Scripts(result.stdout).tags if tag == "body"]
    view = json.loads(found or "")
    assert view["errors"] == []
    return view


def press(*keys: str) -> str:
    return "".join(
        f'document.body.dispatchEvent(new KeyboardEvent("keydown", {{key: "{key}", bubbles: true}}));'
        for key in keys
    )


@in_a_browser
def test_stepping_by_keys_buttons_and_slider(tmp_path: Path) -> None:
    page = route_page(planar(), HISTORY)
    view = seen(tmp_path, page, press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"))
    assert (view["current"], view["marked"], view["slider"]) == (2, 2, "2")
    assert (view["name"], view["count"], view["load"]) == ("2", "3 / 6", "Load 2")
    assert view["pile"] == ["1", "2"]
    assert (view["markers"], view["done"]) == (6, 3)
    assert (view["map"], view["stack"], view["course"]) == (True, True, True)
    assert seen(tmp_path, page, press("End"))["current"] == 5
    assert seen(tmp_path, page, press("ArrowLeft"))["current"] == 0
    assert (
        seen(tmp_path, page, '$("next").click();$("next").click();$("back").click();')["current"]
        == 1
    )
    slide = '$("slider").value = 4; $("slider").dispatchEvent(new Event("input"));'
    assert seen(tmp_path, page, slide)["current"] == 4
    assert seen(tmp_path, page, place="#3")["current"] == 3


@in_a_browser
def test_the_table_shows_every_stop(tmp_path: Path) -> None:
    evaluation = planar()
    view = seen(tmp_path, route_page(evaluation))
    assert [row[0] for row in view["rows"]] == ["0", "1", "2", "3", "4", "5"]
    assert [row[2] for row in view["rows"]] == [stop.kind for stop in evaluation.stops]
    assert [float(row[4]) for row in view["rows"]] == pytest.approx(
        [stop.leg for stop in evaluation.stops], abs=5e-5
    )


@in_a_browser
def test_routes_without_a_map_or_with_faults_or_hostile_names(tmp_path: Path) -> None:
    view = seen(tmp_path, route_page(matrix_only()), press("ArrowRight"))
    assert (view["map"], view["stack"], view["current"], view["pile"]) == (False, True, 1, ["1"])
    view = seen(tmp_path, route_page(broken()))
    assert len(view["violations"]) == len(broken().violations)
    view = seen(tmp_path, route_page(nowhere(), HISTORY))
    assert (view["list"], view["course"], view["rows"]) == (False, True, [])
    view = seen(tmp_path, route_page(hostile()), press("ArrowRight", "ArrowRight"))
    assert view["title"].startswith("</script><script>document.title='stolen'")
    assert view["bold"] == 0
    assert view["rows"][3][1] == str(2**60 + 1)
    assert view["pile"] == ["<i>one</i>", "__proto__"]


@in_a_browser
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_is_no_wider_than_its_window(tmp_path: Path, width: int) -> None:
    # Chromium's windows are at least 500 wide; a phone's page is made by hand.
    narrow = f'document.body.style.width = "{width}px"; redraw();'
    view = seen(tmp_path, route_page(hostile(), HISTORY), narrow, width=max(width, 500))
    assert (view["width"], view["needed"]) == (width, width)

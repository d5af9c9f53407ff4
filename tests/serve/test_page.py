"""The page in a real browser: from an instance to a route, and whatever one can do on the way."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect, sync_playwright

from serve.browser import CHROMIUM, SWITCHES, need_browser
from serve.servers import ROOT, SQUARE, Server, serving

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
PATIENCE = 30_000  # milliseconds


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need_browser()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page of the service, on a desk; whatever it logs or asks others for is a failure."""
    yield from opened(browser, server, width=1400, height=900)


@pytest.fixture
def phone(browser: Browser, server: Server) -> Iterator[Page]:
    yield from opened(browser, server, width=390, height=844)


def opened(browser: Browser, server: Server, width: int, height: int) -> Iterator[Page]:
    fresh = browser.new_page(viewport={"width": width, "height": height}, accept_downloads=True)
    fresh.set_default_timeout(PATIENCE)
    said: list[str] = []
    asked: list[str] = []
    fresh.on("pageerror", lambda error: said.append(str(error)))
    fresh.on("console", lambda message: said.append(message.text))
    fresh.on("request", lambda request: asked.append(request.url))
    fresh.goto(server.address)
    yield fresh
    local = ("blob:", "data:", server.address)
    assert [url for url in asked if not url.startswith(local)] == []
    # A browser logs every answer that is an error; those are tested for, too.
    assert [line for line in said if "Failed to load resource" not in line] == []
    fresh.close()


def generate(page: Page, requests: int, kind: str = "uniform") -> None:
    page.fill("#requests", str(requests))
    page.select_option("#kind", kind)
    page.click("#generate")
    expect(page.locator("#facts")).to_have_text(f"{requests} requests, {2 * requests + 1} nodes")


def solve(page: Page, seconds: float, variant: str = "lifo") -> float:
    """The cost of a finished search."""
    page.check(f"input[value={variant}]")
    page.fill("#seconds", str(seconds))
    page.click("#solve")
    expect(page.locator("#stop")).to_be_disabled(timeout=PATIENCE)
    expect(page.locator("#slider")).to_be_enabled()
    return cost(page)


def cost(page: Page) -> float:
    return float(page.inner_text("#cost").replace(",", "").removesuffix(" m"))


def test_an_example_is_solved_watched_stepped_through_and_downloaded(page: Page) -> None:
    generate(page, 90)
    page.check("input[value=lifo]")
    page.fill("#seconds", "4")  # long enough to be seen at work by a browser on a busy machine
    page.click("#solve")
    expect(page.locator("#cost")).not_to_have_text("–", timeout=PATIENCE)
    first = cost(page)
    assert page.locator("#curve path.best").count() == 1
    expect(page.locator("#solve")).to_be_disabled()
    expect(page.locator("#stop")).to_be_disabled(timeout=PATIENCE)
    assert cost(page) < first  # it fell while one looked

    expect(page.locator("#count")).to_have_text("1 / 182")
    page.click("#next")
    page.click("#next")
    page.click("#back")
    expect(page.locator("#count")).to_have_text("2 / 182")
    assert page.inner_text("#stop-kind").startswith("pickup of request")
    expect(page.locator("#load-title")).to_have_text("Load 1")
    assert page.inner_text("#pile-title").startswith("Stack 1 high, top ")
    assert page.locator("#pile div").count() == 1
    page.locator("#map").focus()
    page.keyboard.press("End")
    expect(page.locator("#count")).to_have_text("182 / 182")
    expect(page.locator("#pile-title")).to_have_text("Stack empty")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#count")).to_have_text("181 / 182")

    for kind, start in (
        ("json", '{"format": "n2s-solution"'),
        ("csv", "position,"),
        ("geojson", "{"),
        ("html", "<!DOCTYPE html>"),
    ):
        with page.expect_download() as download:
            page.click(f"[data-to={kind}]")
        assert download.value.suggested_filename == f"uniform-181-0-0.route.{kind}"
        text = Path(download.value.path()).read_text()
        assert text.startswith(start)
        if kind == "json":
            assert json.loads(text)["cost"] == pytest.approx(cost(page), abs=0.005)


def test_two_runs_are_compared_and_one_can_go_on_from_a_route(page: Page) -> None:
    generate(page, 12, "clustered")
    free = solve(page, 0.3, "pdtsp")
    expect(page.locator("#compare-row")).to_be_hidden()
    strict = solve(page, 0.3, "lifo")
    assert strict > free
    assert page.locator("#compare option").count() == 2
    assert page.inner_text("#difference").endswith("longer.")
    assert page.locator("#curve path.ghost").count() == 1
    expect(page.locator("#pile-box")).to_be_visible()
    page.select_option("#compare", "")
    expect(page.locator("#difference")).to_have_text("")
    page.check("#go-on")
    assert solve(page, 0.2, "lifo") <= strict


def test_a_dropped_file_with_latitudes_is_drawn_in_mercator(page: Page) -> None:
    page.set_input_files("#file", ROOT / "examples" / "city.csv")
    expect(page.locator("#name")).to_have_text("city")
    label = page.locator("#map")
    expect(label).to_have_attribute(
        "aria-label", "Map in Web Mercator, 32 stops; the scale bar is 2 km"
    )
    assert solve(page, 0.2) > 10_000
    assert page.inner_text("#cost").endswith(" m")
    page.click("#zoom-in")
    page.click("#zoom-in")
    expect(label).to_have_attribute("aria-label", re.compile("bar is 1 km$"))


def test_a_file_can_really_be_dropped(page: Page) -> None:
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], "mine.json"));
            dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        json.dumps(SQUARE),
    )
    expect(page.locator("#facts")).to_have_text("2 requests, 5 nodes")


def test_sets_of_instances_offer_a_choice(page: Page, tmp_path: Path) -> None:
    body = {"format": "n2s-instances", "version": 1, "instances": [SQUARE, {**SQUARE, "name": "b"}]}
    (tmp_path / "set.json").write_text(json.dumps(body))
    page.set_input_files("#file", tmp_path / "set.json")
    expect(page.locator("#name")).to_have_text("square")
    page.select_option("#which", "1")
    expect(page.locator("#name")).to_have_text("b")


def test_instances_without_places_are_solved_without_a_map(page: Page, tmp_path: Path) -> None:
    body = {
        "depot": {"id": 0},
        "requests": [{"pickup": {"id": 1}, "delivery": {"id": 2}}],
        "matrix": [[0, 3, 4], [4, 0, 5], [6, 7, 0]],
    }
    (tmp_path / "matrix.json").write_text(json.dumps(body))
    page.set_input_files("#file", tmp_path / "matrix.json")
    expect(page.locator("#no-map")).to_be_visible()
    assert solve(page, 0.1) == 3 + 5 + 6
    expect(page.locator("[data-to=geojson]")).to_be_disabled()


def test_errors_of_the_api_are_shown_as_they_are(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("request_id,pickup_x,pickup_y,delivery_x,delivery_y\n1,0,0,five,0\n")
    page.set_input_files("#file", bad)
    expect(page.locator("#alert")).to_contain_text("bad.csv:2: delivery_x is 'five'")
    expect(page.locator("#solve")).to_be_disabled()
    generate(page, 3)
    expect(page.locator("#alert")).to_be_hidden()
    page.evaluate("document.getElementById('seconds').removeAttribute('max')")
    page.fill("#seconds", "21")
    page.click("#solve")
    expect(page.locator("#alert")).to_have_text("seconds is 21, more than the 20 allowed here")


def test_hostile_names_stay_text(page: Page, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    first, second = SQUARE["requests"]
    body = {**SQUARE, "name": evil, "requests": [{**first, "id": evil}, second]}  # type: ignore[dict-item]
    (tmp_path / "evil.json").write_text(json.dumps(body))
    page.set_input_files("#file", tmp_path / "evil.json")
    expect(page.locator("#name")).to_have_text(evil)
    solve(page, 0.1)
    page.click("#next")
    assert page.locator("img").count() == 1  # the one in the header


def test_drawing_with_the_mouse(page: Page) -> None:
    page.click("#draw")
    box = page.locator("#map").bounding_box()
    assert box is not None
    for number, (x, y) in enumerate([(100, 100), (300, 120), (200, 300), (150, 220), (350, 300)]):
        page.mouse.click(box["x"] + x, box["y"] + y)
        words = ["Request 1: click its pickup.", "Request 1: click its delivery."]
        if number < 2:
            expect(page.locator("#hint")).to_have_text(words[number])
    expect(page.locator("#facts")).to_have_text("2 requests, 5 nodes")
    page.click("#undo")
    page.click("#undo")
    expect(page.locator("#hint")).to_have_text("Request 2: click its pickup.")
    expect(page.locator("#facts")).to_have_text("1 request, 3 nodes")
    assert solve(page, 0.1) > 0
    expect(page.locator("#draw")).to_have_attribute("aria-pressed", "false")


def test_everything_works_by_keyboard_alone(page: Page) -> None:
    page.locator("#draw").focus()
    page.keyboard.press("Enter")
    for keys in (["ArrowLeft"] * 9, ["ArrowUp"] * 9, ["ArrowRight"] * 18):
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.locator("#facts")).to_have_text("1 request, 3 nodes")
    page.locator("#seconds").fill("0.1")
    page.locator("#seconds").press("Enter")
    expect(page.locator("#slider")).to_be_enabled(timeout=PATIENCE)
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select")].filter((one) =>
            !one.hidden && !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()
        ).map((one) => one.id)"""
    )
    assert unnamed == []


def test_a_long_search_can_be_stopped_and_keeps_its_best(page: Page) -> None:
    generate(page, 20)
    page.fill("#seconds", "20")
    page.click("#solve")
    expect(page.locator("#cost")).not_to_have_text("–", timeout=PATIENCE)
    page.click("#stop")
    expect(page.locator("#slider")).to_be_enabled(timeout=5000)
    assert cost(page) > 0


def test_a_phone_shows_it_without_scrolling_sideways(phone: Page) -> None:
    generate(phone, 8, "city")
    solve(phone, 0.2)
    wide = phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    small = phone.evaluate(
        """[...document.querySelectorAll("#controls button, #solve, #draw")]
            .filter((one) => one.offsetWidth && (one.offsetWidth < 40 || one.offsetHeight < 40)).length"""
    )
    assert small == 0


def test_light_and_dark(page: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(paper) != light


def test_tiles_are_off_until_asked_for(page: Page, server: Server) -> None:
    wanted: list[str] = []

    def about(route: Route) -> None:
        answer = json.loads(server.get("/v1/about").body)
        answer["tiles"] = f"{server.address}/tiles/{{z}}/{{x}}/{{y}}.png"
        answer["tiles_credit"] = "by somebody"
        route.fulfill(json=answer)

    def tile(route: Route, request: Request) -> None:
        wanted.append(request.url)
        route.fulfill(body=PIXEL, content_type="image/png")

    page.route("**/v1/about", about)
    page.route("**/tiles/**", tile)
    page.reload()
    generate(page, 5)
    expect(page.locator("#tiles-label")).to_be_hidden()  # no tiles for the plane
    generate(page, 5, "city")
    page.wait_for_timeout(200)
    assert wanted == []
    with page.expect_request("**/tiles/**"):
        page.check("#tiles")
    expect(page.locator("#credit")).to_have_text("by somebody")


def test_the_page_of_the_api_works_without_the_world(page: Page) -> None:
    page.click("text=API")
    expect(page.locator("details.card")).to_have_count(13)
    solving = page.locator("details.card", has_text="/v1/solve").first
    solving.locator("summary").first.click()
    solving.get_by_role("button", name="Try").click()
    expect(solving.locator("form pre")).to_contain_text("n2s-solution", timeout=PATIENCE)


def test_a_token_is_asked_for(browser: Browser) -> None:
    with serving("--workers", "1", token="sesame", ready=0) as guarded:
        page = browser.new_page()
        page.goto(guarded.address)
        expect(page.locator("#alert")).to_contain_text("a token is needed")
        page.fill("#token", "sesame")
        page.press("#token", "Enter")
        expect(page.locator("#token-form")).to_be_hidden()
        page.click("#generate")
        expect(page.locator("#facts")).to_have_text("15 requests, 31 nodes")
        page.close()

"""The picture of the page in the README: python tests/serve/screenshot.py ADDRESS docs/images/page.png."""

from __future__ import annotations

import sys

from browser import CHROMIUM, SWITCHES
from PIL import Image
from playwright.sync_api import sync_playwright

address, target = sys.argv[1:]
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
    page = browser.new_page(viewport={"width": 1320, "height": 860})
    page.goto(address)
    page.fill("#requests", "24")
    page.select_option("#kind", "city")
    page.click("#generate")
    page.wait_for_selector("#solve:not([disabled])")
    for variant, seconds in (("pdtsp", "1"), ("lifo", "2")):
        page.check(f"input[value={variant}]")
        page.fill("#seconds", seconds)
        page.click("#solve")
        page.wait_for_selector("#stop:not([disabled])")
        page.wait_for_selector("#stop[disabled]", state="attached", timeout=60_000)
    page.select_option("#compare", "")
    for _ in range(14):
        page.click("#next")
    page.mouse.move(0, 0)
    page.screenshot(path=target)
    browser.close()
Image.open(target).convert("RGB").quantize(128, dither=0).save(target, optimize=True)

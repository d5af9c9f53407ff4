"""A real Chromium: Debian's, which the set-up of the tests installs where it can (``make browser``)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MISSING = f"NO BROWSER: {CHROMIUM} is missing (make browser installs it), THE PAGE IS NOT TESTED"


def need_browser() -> None:
    """Skip loudly without a browser; where everything has to be tested, fail."""
    if CHROMIUM.exists():
        return
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(MISSING)
    pytest.skip(MISSING)

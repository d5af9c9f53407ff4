"""Benchmarks are run by hand and rarely: here each of them at least finds what it imports."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_can_be_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    try:
        assert importlib.import_module(name).__doc__
    finally:
        sys.modules.pop(name, None)

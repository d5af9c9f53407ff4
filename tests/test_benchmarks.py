"""Benchmarks are run by hand and rarely: here each of them at least finds what it imports."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_can_be_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    name = f"benchmark_{path.stem}"  # one of them is called as a package of the tests
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where dataclasses look for their own
    environment = dict(os.environ)
    spec.loader.exec_module(module)
    assert module.__doc__
    assert dict(os.environ) == environment  # numba reads it again whenever it compiles

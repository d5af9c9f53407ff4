"""Imports go one way through the package, and torch and numba stay out of where they are not used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import n2s

SOURCE = Path(n2s.__file__).parent
# Each package may import from those before it in this order, and from itself.
ORDER = [
    "errors",
    "problem",
    "kernels",
    "formats",
    "report",
    "model",
    "local",
    "native",
    "search",
    "peers",
    "train",
    "evolve",
    "bench",
    "serve",
    "cli",
]


def imported(path: Path) -> set[str]:
    """The packages of n2s that a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("n2s"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found & set(ORDER)


@pytest.mark.parametrize("package", ORDER)
def test_imports_go_one_way(package: str) -> None:
    allowed = set(ORDER[: ORDER.index(package) + 1])
    folder = SOURCE / package
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{package}.py"]
    assert files
    for path in files:
        if path.name == "__main__.py":
            continue  # a command, like those of the cli
        assert imported(path) <= allowed, path


def test_peers_see_the_problem_and_its_judge_only() -> None:
    """Other solvers must not share what they are compared with."""
    for path in (SOURCE / "peers").rglob("*.py"):
        assert imported(path) <= {"errors", "problem", "formats", "search", "peers"}, path
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("n2s.search"):
                assert node.module == "n2s.search.result", path


def test_every_package_has_its_place_in_the_order() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages <= set(ORDER)


def test_reading_and_judging_needs_neither_torch_nor_numba() -> None:
    code = (
        "import sys, n2s, n2s.cli.main; print({'torch', 'numba', 'matplotlib'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"

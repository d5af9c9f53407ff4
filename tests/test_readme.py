"""What README and docs show is run."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import n2s
from n2s.train import TrainConfig, config_of

ROOT = Path(__file__).parents[1]


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    printed = []
    for block in blocks:
        result = subprocess.run(
            [sys.executable, "-c", block], capture_output=True, text=True, cwd=tmp_path, timeout=300
        )
        assert result.returncode == 0, result.stderr
        printed.append(result.stdout)
    solved, judged = printed
    cost, _, route = solved.partition(" ")
    instance = n2s.read(ROOT / "examples" / "city.csv")
    verdict = n2s.evaluate(instance, ast.literal_eval(route))
    assert verdict.feasible
    assert abs(verdict.cost - float(cost)) < 1e-6 * verdict.cost
    assert "<html" in (tmp_path / "route.html").read_text()
    assert judged.startswith("True ")


def test_the_csv_of_the_readme_is_the_start_of_the_example() -> None:
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```\n(request_id,.*?)```", text, re.DOTALL)
    assert block is not None
    rows = block.group(1).splitlines()
    assert [row.split(",")[:5] for row in rows] == [
        row.split(",")[:5]
        for row in (ROOT / "examples" / "city.csv").read_text().splitlines()[: len(rows)]
    ]


def test_the_version_is_said_once_and_the_same() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{n2s.__version__}"' in project
    assert f"version: {n2s.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_links_between_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_the_training_page_names_every_key_with_its_default() -> None:
    text = (ROOT / "docs" / "training.md").read_text()
    sections = re.findall(r"### `\[(\w+)\]`\n(.*?)(?=\n##)", text, re.DOTALL)
    table = {
        name: tomllib.loads("\n".join(" = ".join(row) for row in _rows(body)))
        for name, body in sections
    }
    config = TrainConfig()
    assert config_of(table) == config
    assert {name: list(keys) for name, keys in table.items()} == {
        part.name: [key.name for key in fields(getattr(config, part.name))]
        for part in fields(config)
    }


def _rows(section: str) -> list[tuple[str, str]]:
    """Key and default of the rows of a table."""
    rows: list[tuple[str, str]] = re.findall(r"^\| `(\w+)` \| `(.*?)` \|", section, re.MULTILINE)
    return rows

"""The main job, as ``make solve`` runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import n2s

ROOT = Path(__file__).parents[1]


def test_the_example_improves_a_route_and_writes_it(tmp_path: Path) -> None:
    options = ["--variant", "lifo", "--steps", "3000", "--out", str(tmp_path)]
    result = subprocess.run(
        [sys.executable, "examples/improve.py", "examples/city.csv", *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    instance = n2s.read(ROOT / "examples" / "city.csv")
    lifo = n2s.Instance(
        coordinates=instance.coordinates,
        metric=instance.metric,
        ids=instance.ids,
        requests=instance.requests,
        variant=n2s.Variant.LIFO,
    )
    verdict = n2s.evaluate(lifo, n2s.read_route(tmp_path / "route.json", lifo))
    assert verdict.feasible
    # Serving one request after the other, in the file's order, costs more than twice as much.
    naive = [f"{request}:{what}" for request in lifo.requests for what in ("pickup", "delivery")]
    assert verdict.cost < 0.5 * n2s.evaluate(lifo, naive).cost
    assert (tmp_path / "route.png").read_bytes().startswith(b"\x89PNG")

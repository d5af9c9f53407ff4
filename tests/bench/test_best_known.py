"""The store of best routes only gets better, whoever writes to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from n2s.bench.best_known import Best, BestKnown
from n2s.bench.case import Case
from n2s.errors import InputError
from n2s.problem import Instance, evaluate_nodes

ROUTE = (0, 1, 2, 3, 6, 5, 4)


def best(cost: float, nodes: tuple[int, ...] = ROUTE) -> Best:
    return Best(cost, nodes, "tiny", "by hand", "today")


def test_only_better_routes_are_entered(tmp_path: Path) -> None:
    store = BestKnown(tmp_path / "new" / "best.json")
    assert store.read() == {}
    store.improve({"a": best(2.0), "b": best(5.0)})
    store.improve({"a": best(3.0), "b": best(4.0), "c": best(1.0)})
    assert {key: entry.cost for key, entry in store.read().items()} == {
        "a": 2.0,
        "b": 4.0,
        "c": 1.0,
    }
    assert store.read()["a"] == best(2.0)


WRITER = """
import sys
from pathlib import Path
from n2s.bench.best_known import Best, BestKnown
path, who = Path(sys.argv[1]), int(sys.argv[2])
for k in range(15):
    mine = {f"{who}-{k}": Best(1.0, (0, 1, 2), "x", "m", "d")}
    shared = {"shared": Best(1000.0 - 2 * k - who, (0, 1, 2), "x", "m", "d")}
    BestKnown(path).improve(mine | shared)
"""


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, str(who)]) for who in (0, 1)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    entries = BestKnown(path).read()
    assert set(entries) == {f"{who}-{k}" for who in (0, 1) for k in range(15)} | {"shared"}
    assert entries["shared"].cost == 1000.0 - 2 * 14 - 1


def test_routes_are_judged_again(tiny: Instance, tmp_path: Path) -> None:
    store = BestKnown(tmp_path / "best.json")
    case = Case("tiny", tiny)
    cost = evaluate_nodes(tiny, ROUTE).cost
    store.improve({case.fingerprint: best(cost)})
    store.verify([case])
    for wrong, message in (
        (best(cost - 1), r"costs 8\.82843, not 7\.82843"),
        (best(cost - 2, (0, 4, 1, 2, 3, 6, 5)), "infeasible"),
        (best(cost - 3, (0, 1, 2, 3, 6, 5, 40)), "infeasible"),
    ):
        store.improve({case.fingerprint: wrong})
        with pytest.raises(InputError, match=message):
            store.verify([case])
    store.path.unlink()
    store.improve({case.fingerprint: best(float("nan"))})
    with pytest.raises(InputError, match="not nan"):
        store.verify([case])


@pytest.mark.parametrize(
    "text",
    [
        *("nonsense", "[]", '{"a": {"cost": 1}}', '{"a": 3}'),
        '{"a": {"cost": 1, "nodes": [Infinity]}}',
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "best.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is no file of best routes"):
        BestKnown(path).read()

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from formats.mutate import mutated
from n2s.errors import InputError
from n2s.formats import carrabs, tsppdlib
from n2s.formats.base import Source
from n2s.problem import Instance, Variant, evaluate

TSP = """\
NAME : seven
TYPE : TSP
DIMENSION : 7
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 8
4 0 1
5 1 1
6 50 50
7 60 60
EOF
"""
MTC = "0 3 0\n1 1 3\n2 0 4\n3 0 1\n4 1 2\n"  # 1 -> 3 and 4 -> 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "seven.tsp").write_text(TSP)
    return tmp_path


def parse(text: str, folder: Path | None, name: str = "seven.mtc") -> Instance:
    (instance,) = carrabs.FORMAT.parse(Source(name, text.encode(), folder))
    return instance


@pytest.mark.parametrize("name", ["seven.mtc", "seven.5.type1.mtc"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_reading(folder: Path, name: str, line_end: str) -> None:
    instance = parse(MTC.replace("\n", line_end), folder, name)
    assert instance.name == name.removesuffix(".mtc")
    assert instance.variant is Variant.LIFO
    assert instance.ids == (0, 1, 4, 3, 2)
    # 0-1: 5; 1-4: sqrt(4 + 9) = 3.6 -> 4; 4-2: sqrt(25 + 49) = 8.6 -> 9; 2-3: sqrt(36 + 49) = 9.2
    # -> 9; 3-0: 1.
    evaluation = evaluate(instance, [0, 1, 4, 2, 3, 0])
    assert evaluation.feasible
    assert evaluation.cost == 28


def test_the_same_name_comes_before_a_beginning(folder: Path) -> None:
    (folder / "seven.5.TSP").write_text(TSP.replace("2 3 4", "2 0 3"))
    assert parse(MTC, folder, "seven.5.mtc").costs[0, 1] == 3


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("1 1 3", "1 1", "a row here is 'vertex kind mate', not '1 1'", 2),
        ("1 1 3", "1 2 3", "vertex 1 has kind 2, not 1", 2),
        ("1 1 3", "1 x 3", "the kind of vertex 1 must be a whole number", 2),
        ("1 1 3", "2 1 3", r"node 2 occurs twice \(first in line 2\)", 3),
        ("1 1 3", "5 1 3", "node 5 is outside 0..4", 2),
        ("1 1 3", "1 1 9", "vertex 1 has the mate 9, which is neither", 2),
        ("1 1 3", "1 1 0", "vertex 1 has the mate 0, which is neither", 2),
        ("1 1 3", "1 1 2", "vertex 1 has the mate 2, which has the mate 4", 2),
        ("1 1 3", "1 0 3", "vertex 1 and its mate 3 are both deliveries", 2),
        ("1 1 3", "1 3 3", r"vertex 1 is a depot \(kind 3\), and so is vertex 0", 2),
        ("0 3 0", "0 1 0", "no vertex is the depot", None),
    ],
)
def test_errors(folder: Path, old: str, new: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse(MTC.replace(old, new, 1), folder)
    assert caught.value.line == line


def test_errors_of_the_partner(folder: Path) -> None:
    with pytest.raises(InputError, match=r"needs seven\.tsp beside it, but .* without a folder"):
        parse(MTC, None)
    with pytest.raises(InputError, match=r"there is no other\.tsp beside it"):
        parse(MTC, folder, "other.mtc")
    with pytest.raises(InputError, match="cannot be read"):
        parse(MTC, folder / "nowhere")
    (folder / "sev.tsp").write_text(TSP)
    with pytest.raises(InputError, match=r"more than one .* fits seven\.5: sev\.tsp, seven\.tsp"):
        parse(MTC, folder, "seven.5.mtc")
    (folder / "sev.tsp").unlink()
    (folder / "seven.tsp").write_text(TSP.replace("7 60 60\n", ""))
    with pytest.raises(InputError, match="has 6 rows but DIMENSION is 7") as caught:
        parse(MTC, folder)
    assert str(caught.value.source).endswith("seven.tsp")
    rows = "\n".join(TSP.splitlines()[5:8])
    (folder / "seven.tsp").write_text(TSP.split("1 0 0")[0].replace("7", "3") + rows)
    with pytest.raises(InputError, match="has 3 nodes, fewer than the 5 vertices"):
        parse(MTC, folder)


def test_the_tsp_alone_points_to_the_mtc() -> None:
    with pytest.raises(InputError, match=r"open the \.mtc"):
        tsppdlib.TSP_FORMAT.parse(Source("seven.tsp", TSP.encode()))


def test_recognition() -> None:
    assert carrabs.recognises(Source("x", MTC.encode()))
    assert not carrabs.recognises(Source("x", TSP.encode()))
    assert not carrabs.recognises(Source("x", b""))
    assert not carrabs.recognises(Source("x", bytes(range(256))))


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(mtc=mutated(MTC.encode()), tsp=mutated(TSP.encode()))
def test_damaged_files_are_read_or_refused(tmp_path: Path, mtc: bytes, tsp: bytes) -> None:
    for data, partner in ((mtc, TSP.encode()), (MTC.encode(), tsp)):
        (tmp_path / "seven.tsp").write_bytes(partner)
        source = Source("seven.mtc", data, tmp_path)
        carrabs.recognises(source)
        try:
            (instance,) = carrabs.parse(source)
        except InputError:
            continue
        assert np.isfinite(instance.costs).all()

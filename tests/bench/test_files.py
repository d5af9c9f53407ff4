"""Benchmark folders with routes and tables beside the instances."""

from __future__ import annotations

from pathlib import Path

import pytest

from n2s import formats
from n2s.bench.files import folders_of, read_cases
from n2s.errors import InputError
from n2s.problem import Instance, Variant, generate

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def folder(tmp_path: Path, tiny: Instance) -> Path:
    """One folder with a route, one with tables, a set, and things that are no instances."""
    root = tmp_path / "sets"
    (root / "routes").mkdir(parents=True)
    (root / "tables").mkdir()
    (root / "empty").mkdir()
    formats.write(tiny, root / "routes" / "tiny.json")
    (root / "routes" / "tiny.sol").write_text(
        '{"instance": "x", "cost": 9, "route": [0,1,2,3,6,5,4,0]}'
    )
    (root / "routes" / "README.txt").write_text("Not an instance.\n")
    (root / "routes" / "notes.md").write_text("Neither.\n")
    lifo = generate(2, 2, seed=1, variant=Variant.LIFO)
    formats.write(lifo[0], root / "tables" / "a.5.type1.pdtspl")
    formats.write(lifo, root / "tables" / "many.npz")
    (root / "tables" / "known.csv").write_text(
        "type,base,n_nodes,B1,B2_avg,note\n1,a,5,4.5,,about\n1,b,5,3,3,\n"
    )
    (root / "tables" / "more.csv").write_text("instance,optimum\na.5.type1,4.25\n")
    return root


def test_folders_and_what_is_known(folder: Path) -> None:
    (routes, first), (tables, second) = folders_of(folder)
    assert (routes, tables) == ("routes", "tables")
    (tiny,) = read_cases(first, None, None)
    assert (tiny.name, tiny.route) == ("tiny", (0, 1, 2, 3, 6, 5, 4))
    assert tiny.published == {"sol": pytest.approx(6 + 2 * 2**0.5)}  # the judge's, not the file's
    one, two, three = read_cases(second, None, None)
    assert [one.name, two.name, three.name] == ["a.5.type1", "many[0]", "many[1]"]
    assert one.published == {"B1": 4.5, "optimum": 4.25}
    assert (one.route, two.published) == ((), {})
    assert [case.name for case in read_cases(second, None, 2)] == ["a.5.type1", "many[0]"]


def test_a_route_for_another_rule_is_no_reference(folder: Path) -> None:
    ((_, files), _) = folders_of(folder)
    (case,) = read_cases(files, Variant.LIFO, None)
    assert (case.instance.variant, case.published, case.route) == (Variant.LIFO, {}, ())
    (_, (_, files)) = folders_of(folder)
    assert [case.published for case in read_cases(files, Variant.PDTSP, None)] == [{}, {}, {}]


def test_an_instance_of_a_set_is_named_with_its_place(folder: Path) -> None:
    (folder / "tables" / "more.csv").write_text("instance,optimum\nmany,1\nmany[1],3.5\n,2\n,\n")
    (_, (_, files)) = folders_of(folder)
    assert [case.published for case in read_cases(files, None, None)] == [
        {"B1": 4.5},
        {},
        {"optimum": 3.5},
    ]


def test_what_is_no_table_is_read_as_an_instance(folder: Path) -> None:
    (folder / "tables" / "huge.csv").write_text("x" * 200_000)
    names = [path.name for path in folders_of(folder)[1][1]]
    assert names == ["a.5.type1.pdtspl", "huge.csv", "many.npz"]


def test_a_folder_itself_may_hold_the_files(folder: Path) -> None:
    ((title, files),) = folders_of(folder / "routes")
    assert (title, len(files)) == ("routes", 1)


def test_what_is_wrong_is_named(folder: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        folders_of(folder / "nowhere")
    with pytest.raises(InputError, match="no instance in this folder"):
        folders_of(folder / "empty")
    (folder / "routes" / "tiny.sol").write_text('{"route": [0, 4, 1, 2, 3, 6, 5, 0]}')
    with pytest.raises(InputError, match=r"tiny\.sol: the route is infeasible"):
        read_cases(folders_of(folder)[0][1], None, None)


@pytest.mark.skipif(not DATA.exists(), reason="the public instances are not beside the project")
def test_the_public_folders_are_read_with_their_values() -> None:
    sets = {title: read_cases(files, None, None) for title, files in folders_of(DATA)}
    assert {title: len(cases) for title, cases in sets.items()} == {
        "dumitrescu": 3,
        "grubhub": 3,
        "lifo": 24,
        "rbo00": 10,
    }
    optima = {case.name: case.published["sol"] for case in sets["rbo00"]}
    assert (optima["N101p1"], optima["N101p10"]) == (799, 754)
    assert all("B2_li2011_avg" in case.published for case in sets["lifo"])
    (first,) = [case for case in sets["lifo"] if case.name == "brd14051.25.type1"]
    assert first.published["B2_li2011_avg"] == 4672

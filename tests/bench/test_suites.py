"""What each suite comes to, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from n2s import formats
from n2s.bench.contender import Budget, Entry
from n2s.bench.suites import Suite, Wish, plan
from n2s.errors import InputError
from n2s.problem import Instance, Variant, generate
from n2s.search.options import Method


def test_uniform() -> None:
    wish = Wish(
        nodes=(5, 7),
        count=2,
        seed=9,
        variants=(Variant.LIFO,),
        methods=("anneal", "lkh:20", "anneal"),
        seconds=2.0,
        seeds=(4, 5),
    )
    made = plan(Suite.UNIFORM, wish)
    assert [group.title for group in made.groups] == ["lifo, 5 nodes", "lifo, 7 nodes"]
    expected = generate(3, 2, 9, Variant.LIFO)
    found = [case.instance.coordinates for case in made.groups[1].cases]
    assert all((a == b.coordinates).all() for a, b in zip(found, expected, strict=True))
    assert made.groups[0].entries == [
        Entry("anneal", Budget(seconds=2.0)),
        Entry("lkh", Budget(steps=20)),
    ]
    jobs = [(job.case.name, job.seed, job.contender.label) for job in made.jobs()]
    assert len(jobs) == 2 * 2 * 2 * 2
    assert jobs[:3] == [
        ("uniform-5-9-0", 4, "anneal"),
        ("uniform-5-9-0", 4, "lkh"),
        ("uniform-5-9-0", 5, "anneal"),
    ]


def test_paper_is_tables_1_and_2() -> None:
    made = plan(Suite.PAPER, Wish(count=1))
    assert [group.title for group in made.groups] == [
        f"{variant}, {size} nodes" for variant in ("pdtsp", "lifo") for size in (21, 51, 101)
    ]
    assert [f"{entry.name}:{entry.budget}" for entry in made.groups[0].entries] == [
        "lkh:5000",
        "lkh:10000",
        *(f"n2s:{steps}" for steps in (1000, 2000, 3000)),
        *(f"n2s-a:{steps}" for steps in (1000, 2000, 3000)),
    ]
    assert list(made.references) == ["lkh:10000"]
    assert len(plan(Suite.PAPER, Wish(nodes=(3,))).cases) == 2 * 2000


def test_ablation_has_the_rows_there_are_and_says_what_is_missing() -> None:
    made = plan(Suite.ABLATION, Wish(count=1))
    assert [group.title for group in made.groups] == [
        "decoders (Table 6): pdtsp, 51 nodes",
        "encoders (Table 5): pdtsp, 51 nodes",
        "decoders (Table 6): lifo, 51 nodes",
    ]
    assert {entry.policy for entry in made.groups[1].entries if entry.name == "n2s"} == {
        "paper-pdtsp"
    }
    policies = {entry.policy for entry in made.groups[0].entries if entry.name == "n2s"}
    assert policies == {
        "paper-pdtsp",
        "random",
        "epsilon-greedy",
        "random+epsilon-greedy",
        "epsilon-greedy+random",
    }
    decoders, encoders, lifo = made.notes
    assert decoders == (
        "Rows are missing until there are checkpoints for pdtsp trained at 51 nodes with learned "
        "removal and random reinsertion; learned removal and epsilon-greedy reinsertion; random "
        "removal and learned reinsertion; epsilon-greedy removal and learned reinsertion."
    )
    assert "with vanilla attention of width 64; dac" in encoders
    assert "for lifo trained at 51 nodes" in lifo


def test_generalization_takes_its_two_folders(tmp_path: Path, tiny: Instance) -> None:
    for name in ("rbo00", "lifo", "grubhub"):
        (tmp_path / name).mkdir()
        formats.write(tiny, tmp_path / name / "tiny.json")
    made = plan(Suite.GENERALIZATION, Wish(folder=tmp_path))
    assert sorted(group.title for group in made.groups) == ["lifo", "rbo00"]
    assert list(made.seeds) == list(range(1, 11))
    with pytest.raises(InputError, match="no folder rbo00 or lifo"):
        plan(Suite.GENERALIZATION, Wish(folder=tmp_path / "grubhub"))


def test_speed_takes_every_method_of_ours_that_needs_nothing_named() -> None:
    made = plan(Suite.SPEED, Wish())
    assert [entry.name for entry in made.groups[0].entries] == [
        method for method in Method if method is not Method.NATIVE_N2S
    ]


def test_files_may_be_solved_under_several_rules(tmp_path: Path, tiny: Instance) -> None:
    formats.write(tiny, tmp_path / "tiny.json")
    made = plan(Suite.FILES, Wish(folder=tmp_path, variants=tuple(Variant)))
    assert [group.title for group in made.groups] == [
        f"{tmp_path.name}, pdtsp",
        f"{tmp_path.name}, lifo",
    ]


@pytest.mark.parametrize(
    ("suite", "wish", "message"),
    [
        (Suite.UNIFORM, Wish(nodes=(50,)), "an odd number of nodes, not 50"),
        (Suite.UNIFORM, Wish(folder=Path(".")), "a folder has no meaning for uniform"),
        (Suite.UNIFORM, Wish(seconds=1.0, steps=1), "--seconds or --steps, not both"),
        (Suite.UNIFORM, Wish(seconds=-1.0), "must be positive"),
        (Suite.UNIFORM, Wish(count=0), "at least 1"),
        (Suite.FILES, Wish(folder=Path("."), count=0), "--count must be at least 1, not 0"),
        (Suite.FILES, Wish(), "say which folder"),
        (Suite.FILES, Wish(folder=Path("."), nodes=(5,)), "--nodes has no meaning for files"),
        (Suite.GENERALIZATION, Wish(), "say which folder"),
        (Suite.PAPER, Wish(methods=("cplex",)), "no method 'cplex'"),
    ],
)
def test_what_makes_no_sense_is_refused(suite: Suite, wish: Wish, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(suite, wish)

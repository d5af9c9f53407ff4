"""Tables of hand-made records, every figure worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.records import record
from n2s.bench.best_known import Best
from n2s.bench.pictures import over_time, profiles
from n2s.bench.record import Record
from n2s.bench.report import markdown, tables
from n2s.errors import InputError
from n2s.report.benchmark import gap_figure, profile_figure
from n2s.report.figure import figure_bytes

LKH = {"method": "lkh", "budget": "10000", "software": "LKHpy 1"}


def row(text: str, method: str) -> list[str]:
    """The cells of the first row that begins with a method."""
    (line, *_) = [line for line in text.splitlines() if line.startswith(f"| {method} |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def two_methods() -> list[Record]:
    """Ours: 10 and 22; LKH: 11 and 20; the best known of y is 16."""
    return [
        record("x", cost=10.0, seconds=2.0),
        record("x", cost=11.0, seconds=3.0, **LKH),
        record("y", cost=22.0, seconds=3.0),
        record("y", cost=20.0, seconds=6.0, **LKH),
    ]


KNOWN = {"hash-y": Best(16.0, (0, 1, 2), "y", "somebody", "long ago")}


def test_a_table() -> None:
    text = markdown(tables(two_methods(), KNOWN))
    # Gaps of ours: 0 and 22/16 - 1 = 37.5 %; to LKH 10/11 - 1 = -9.09 % and 22/20 - 1 = 10 %.
    assert row(text, "anneal") == [
        *("anneal", "2 s", "2 of 2", "16", "18.75 %", "37.50 %", "1"),
        *("0.45 %", "-9.09 % to 10.00 %", "2.50", "0"),
    ]
    assert "* anneal took longer than its 2 s in 1 of 2 runs, up to 3.0 s." in text
    assert "lkh took longer" not in text  # its budget is steps
    # Gaps of LKH: 10 % and 25 %.
    assert row(text, "lkh") == [
        *("lkh", "10,000 steps", "2 of 2", "15.5", "17.50 %", "25.00 %", "1"),
        *("–", "–", "4.50", "0"),
    ]
    assert "gap to lkh:10000" in text
    assert "2 instances, 1 seed, 1 core a run; a machine, 2 cores; 2026-01-02" in text
    assert "`n2s bench uniform`" in text
    assert "one run at a time" in text
    assert "start of that process" in text
    assert "Versions: n2s 0." in text
    assert "lkh: LKHpy 1" in text


def test_failures_are_counted_and_never_results() -> None:
    records = [
        *two_methods(),
        record("z", cost=5.0, seconds=2.0),
        record("z", status="hang", reason="lkh was ended: it gave no answer", **LKH),
        *(record(name, "liar", status="lied", reason="liar says 1") for name in "xyz"),
        *(record(name, "hgs", status="unable", reason="hgs cannot do lifo: why") for name in "xyz"),
    ]
    text = markdown(tables(records, {}))
    assert row(text, "lkh")[2:4] == ["2 of 3", "15.5"]
    assert row(text, "lkh")[-1] == "1"
    # The pairs are those that both solved; the best known of y is now the 20 of LKH.
    assert row(text, "anneal")[4:8] == ["3.33 %", "10.00 %", "2", "0.45 %"]
    assert row(text, "liar") == ["liar", "2 s", *["–"] * 8, "3"]
    assert row(text, "hgs") == ["hgs", "2 s", *["–"] * 9]
    assert "* hgs cannot do lifo: why\n" in text
    assert "* liar failed in 3 of 3 runs (3 lied); the first: liar says 1" in text
    assert "* lkh failed in 1 of 3 runs (1 hang)" in text


def test_several_seeds_give_an_average_and_a_best() -> None:
    records = [
        record("x", cost=cost, seed=seed, seconds=1.0) for seed, cost in ((1, 10.0), (2, 14.0))
    ]
    text = markdown(tables(records, {}))
    # The average of 10 and 14 is 20 % above 10, the best of both is 10.
    assert row(text, "anneal") == [
        *("anneal", "2 s", "1 of 1", "12", "20.00 %", "0.00 %", "20.00 %", "1", "1.00", "0")
    ]
    assert "best of 2" in text


def test_references() -> None:
    published = {"B1_avg": 12.5, "B2_avg": 8.0}
    records = [
        record("x", cost=10.0, seconds=1.0, published=published),
        record("x", cost=11.0, seconds=1.0, published=published, **LKH),
        record("x", cost=12.0, seconds=1.0, published=published, **{**LKH, "budget": "5000"}),
    ]
    found = tables(records, {})
    # One instance says nothing of others: there is no interval.
    assert row(markdown(found, ["B2"]), "anneal")[7:9] == ["25.00 %", "–"]
    assert row(markdown(found, ["B1_avg"]), "anneal")[7] == "-20.00 %"
    assert row(markdown(found, ["lkh:5000"]), "anneal")[7] == "-16.67 %"
    assert row(markdown(found, ["anneal"]), "lkh")[7] == "10.00 %"
    assert "gap to lkh:5000" in markdown(found)  # the last budget, in the order of the runs
    with pytest.raises(InputError, match="could be any of B1_avg, B2_avg"):
        markdown(found, ["B"])
    with pytest.raises(InputError, match="could be any of lkh:10000, lkh:5000"):
        markdown(found, ["lkh"])
    with pytest.raises(InputError, match="no reference 'cplex', only anneal:2s"):
        markdown(found, ["cplex"])
    assert "gap to cplex" not in markdown(found, (), ["cplex"])
    with pytest.raises(InputError, match="no runs"):
        markdown([])


def test_each_table_takes_the_first_reference_that_it_knows() -> None:
    records = [
        record("x", group="one", cost=10.0, seconds=1.0, published={"sol": 8.0}),
        record("y", group="two", cost=10.0, seconds=1.0, published={"B2": 5.0}),
    ]
    text = markdown(tables(records, {}), ["sol", "B2"])
    assert "25.00 %" in text
    assert "100.00 %" in text


def test_what_cannot_be_compared_is_in_tables_of_its_own() -> None:
    records = [
        record(cost=1.0),
        record(cost=1.0, cores=2),
        record(cost=1.0, hardware="another machine"),
        record(cost=1.0, group="lifo, 7 nodes"),
    ]
    assert len(tables(records, {})) == 4


def test_a_policy_that_was_trained_again_counts_once() -> None:
    records = [
        record("x", "n2s", policy="pdtsp-7 old", cost=9.0, seconds=1.0),
        record("x", "n2s", policy="pdtsp-7 new", cost=8.0, seconds=1.0),
    ]
    assert row(markdown(tables(records, {})), "n2s")[3] == "8"


def test_a_policy_that_stands_in_is_said_once() -> None:
    records = [
        record(str(size), "n2s@random", nodes=size, stand_in=True, policy="random", cost=1.0)
        for size in (101, 51)
    ]
    sentence = (
        "There is no checkpoint for pdtsp trained at 51, 101 nodes yet: n2s used the policy random."
    )
    assert markdown(tables(records, {})).count(sentence) == 1


def test_speed_is_a_table_of_its_own() -> None:
    records = [
        record(
            str(nodes),
            suite="speed",
            group=f"pdtsp, {nodes} nodes",
            cost=1.0,
            pace=pace,
            history=[[0, 0.75, 2.0], [9, 1.0, 1.0]],
        )
        for nodes, pace in ((21, 12345.6), (51, 999.4))
    ]
    records.append(
        record("51", "n2s", suite="speed", group="pdtsp, 51 nodes", status="crash", reason="why")
    )
    text = markdown(tables(records, {}))
    assert "| method | pdtsp, 21 nodes | pdtsp, 51 nodes |" in text
    assert "* pdtsp, 51 nodes: n2s failed in 1 of 1 runs (1 crash); the first: why" in text
    assert "| anneal | 12,346 (0.8 s) | 999 (0.8 s) |" in text


def test_figures(tmp_path: Path) -> None:
    records = two_methods()
    history = [[0, 1.0, 20.0], [9, 2.0, 10.0]]
    records[0] = record("x", cost=10.0, seconds=2.0, history=history)
    records[2] = record("y", cost=22.0, seconds=3.0, history=[[0, 1.5, 22.0]])
    records.append(record("x", "hgs", status="unable"))
    found = tables(records, KNOWN)
    (panel,) = over_time(found)
    assert list(panel.lines) == ["anneal:2s", "lkh:10000"]
    times, gaps = panel.lines["anneal:2s"]
    assert (times[0], times[-1]) == (1.5, 3.0)  # from when both have a route to the end
    assert (gaps[0], gaps[-1]) == pytest.approx(((1.0 + 0.375) / 2, 0.375 / 2))
    assert panel.lines["lkh:10000"] == ([4.5], [pytest.approx(0.175)])
    (panel,) = profiles(found)
    gaps, shares = panel.lines["lkh:10000"]
    assert gaps[:4] == pytest.approx([0.0, 0.1, 0.25, 0.375])
    assert list(shares) == [0.0, 0.5, 1.0, 1.0, 1.0]
    assert list(panel.lines["anneal:2s"][1]) == [0.5, 0.5, 0.5, 1.0, 1.0]
    for figure in (gap_figure(over_time(found)), profile_figure(profiles(found))):
        assert figure_bytes(figure, ".png").startswith(b"\x89PNG")
        assert figure.axes[0].get_title() == "uniform: pdtsp, 7 nodes"

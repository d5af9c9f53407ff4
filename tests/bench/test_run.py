"""Benches of fake peers and of our own methods, in real processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from n2s import formats
from n2s.bench.best_known import Best, BestKnown
from n2s.bench.folder import report_of
from n2s.bench.ours import Pace
from n2s.bench.record import Record, read_records
from n2s.bench.run import Outcome, Settings, run
from n2s.bench.suites import Suite, Wish, plan
from n2s.errors import InputError
from n2s.peers import PEERS, Peer
from n2s.peers.base import Answer, Task
from n2s.problem import Instance, Variant, generate
from n2s.search.interrupt import Interrupt
from n2s.search.tick import Tick
from peers import fakes
from peers.test_asking_peers import gone

FAKES = {
    "honest": fakes.honest,
    "liar": fakes.liar,
    "crossing": fakes.crossing,
    "crash": fakes.crash,
    "hang": fakes.hang,
    "refuses": fakes.unable,
    "absent": fakes.missing,
}


@pytest.fixture(autouse=True)
def peers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fakes in the registry, which the child processes find."""
    monkeypatch.setenv("PYTHONPATH", str(Path(fakes.__file__).parents[1]))
    monkeypatch.setenv(fakes.PIDS, str(tmp_path / "pids"))
    for name, function in FAKES.items():
        add(monkeypatch, name, function)


def add(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    function: Callable[[Task], Answer],
    **details: object,
) -> None:
    peer = Peer(name, "nothing", function, takes_trials=True, **details)  # type: ignore[arg-type]
    monkeypatch.setitem(PEERS, name, peer)


def bench(folder: Path, *methods: str, limit: float | None = None, **wishes: object) -> Outcome:
    wish = Wish(nodes=(7,), count=1, methods=methods, steps=20)
    settings = Settings(folder, limit=limit, command="n2s bench")
    planned = plan(Suite.UNIFORM, replace(wish, **wishes))  # type: ignore[arg-type]
    return run(planned, settings, lambda line: None, Interrupt())


def by_method(folder: Path) -> dict[str, Record]:
    return {record.method: record for record in read_records(folder)}


def test_whatever_peers_do_is_on_record_and_only_routes_count(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    outcome = bench(folder, *FAKES, variants=(Variant.LIFO,), limit=6.0)
    assert outcome == (len(FAKES), False)
    found = by_method(folder)
    assert {name: record.status for name, record in found.items()} == {
        "honest": "ok",
        "liar": "lied",
        "crossing": "infeasible",
        "crash": "crash",
        "hang": "hang",
        "refuses": "unable",
        "absent": "missing",
    }
    assert "out of cheese" in found["crash"].reason
    assert "within 6 seconds" in found["hang"].reason
    assert {name for name, record in found.items() if record.cost is not None} == {"honest"}
    text = report_of(folder)
    assert "| honest | 20 steps | 1 of 1 |" in text
    assert "liar failed in 1 of 1 runs (1 lied)" in text
    # Asked again, only what was not installed is tried again.
    assert bench(folder, *FAKES, variants=(Variant.LIFO,), limit=6.0) == (1, False)


def test_our_methods_are_runs_like_others(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    bench(folder, "anneal", "n2s", "honest")
    found = by_method(folder)
    assert list(found) == ["anneal", "n2s", "honest"]
    assert {record.status for record in found.values()} == {"ok"}
    ours = found["anneal"]
    assert (ours.suite, ours.instance, ours.nodes, ours.variant) == (
        *("uniform", "uniform-7-2022-0", 7, "pdtsp"),
    )
    assert (ours.budget, ours.steps, ours.seed, ours.cores) == ("20", 20, 1, 1)
    assert ours.history[0][0] == 0
    assert ours.history[-1][2] == pytest.approx(ours.cost)
    # Seconds count from the start of the process, which takes a while to load its libraries.
    assert 0.1 < ours.history[0][1] <= (ours.seconds or 0.0)
    assert found["n2s"].policy.startswith("n2s-pdtsp ")
    assert found["n2s"].stand_in  # it was trained at other sizes
    assert ours.hardware
    assert ours.versions.startswith("n2s ")
    assert (found["honest"].scale, found["honest"].history) == (1e6, [])
    best = BestKnown(folder / "best.json").read()[ours.hash]
    assert best.cost == min(record.cost or 9e9 for record in found.values())
    assert len(best.nodes) == 7


def test_the_seconds_of_a_run_count_its_start_up(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    bench(folder, "anneal", steps=None, seconds=1.5)
    (record,) = read_records(folder)
    assert 1.4 < (record.seconds or 0.0) < 20.0  # a busy machine starts processes slowly


def test_the_pace_is_that_of_the_search_alone() -> None:
    pace = Pace()
    assert pace.value is None
    pace(Tick(0, 5.0, 1.0, 1.0))
    assert pace.value is None
    for tick in (Tick(100, 5.5, 1.0, 1.0), Tick(300, 6.5, 1.0, 1.0)):
        pace(tick)
    assert pace.value == 200.0


def test_a_shared_store_is_verified_and_improved(tmp_path: Path, tiny: Instance) -> None:
    formats.write(tiny, tmp_path / "tiny.json")
    (tmp_path / "tiny.sol").write_text('{"route": [0, 1, 2, 3, 6, 5, 4, 0]}')
    shared = tmp_path / "elsewhere" / "best.json"
    planned = plan(Suite.FILES, Wish(folder=tmp_path, methods=("honest",), steps=20))
    settings = Settings(tmp_path / "run", best_known=shared)
    run(planned, settings, lambda line: None, Interrupt())
    ((key, best),) = BestKnown(shared).read().items()
    assert (best.method, best.cost) == ("sol", pytest.approx(6 + 2 * 2**0.5))
    assert BestKnown(tmp_path / "run" / "best.json").read() == {key: best}
    text = report_of(tmp_path / "run", ["sol"])
    # The fake serves one request after the other: 8 + sqrt 2 against 6 + 2 sqrt 2.
    assert "| 6.64 % |" in text
    BestKnown(shared).improve({key: Best(1.0, best.nodes, "tiny", "nobody", "")})
    with pytest.raises(InputError, match=r"costs 8\.82843, not 1"):
        run(planned, settings, lambda line: None, Interrupt())


def test_an_interrupt_ends_what_runs_and_leaves_no_record(tmp_path: Path) -> None:
    interrupt = Interrupt()
    wish = Wish(nodes=(7,), count=1, methods=("honest", "hang", "crash"), steps=20)
    begun = time.monotonic()

    def ask() -> None:
        while not (tmp_path / "pids").exists():  # the second one hangs now
            time.sleep(0.05)
        interrupt.ask()

    threading.Thread(target=ask).start()
    outcome = run(
        plan(Suite.UNIFORM, wish), Settings(tmp_path / "run"), lambda line: None, interrupt
    )
    assert outcome == (1, True)
    assert time.monotonic() - begun < 120  # of the 600 that the fake sleeps
    assert list(by_method(tmp_path / "run")) == ["honest"]
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        assert gone(pid)


def test_a_fault_of_ours_ends_the_bench_at_once(tmp_path: Path) -> None:
    def full(line: str) -> None:
        if line.startswith("1/"):
            raise OSError("no space left")

    wish = Wish(nodes=(7,), count=1, methods=("honest", "hang"), steps=20)
    with pytest.raises(OSError, match="no space left"):
        run(plan(Suite.UNIFORM, wish), Settings(tmp_path), full, Interrupt())


def test_processes_need_cores_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none would be measured fairly"):
        Settings(tmp_path, cores=500, processes=3).slots()
    with pytest.raises(InputError, match="processes must be at least 1"):
        Settings(tmp_path, processes=0).slots()


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="there is one core only",
)
def test_runs_at_the_same_time_have_different_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, two, *_) = sorted(os.sched_getaffinity(0))
    settings = Settings(tmp_path, processes=2)
    assert settings.slots()[:2] == [[one], [two]]
    add(monkeypatch, "pinned", fakes.on_one_core)
    wish = Wish(nodes=(7,), count=4, methods=("pinned",), steps=20)
    run(plan(Suite.UNIFORM, wish), settings, lambda line: None, Interrupt())
    assert [record.status for record in read_records(tmp_path)] == ["ok"] * 4


def test_an_instance_that_ours_cannot_do_is_a_dash(tmp_path: Path) -> None:
    tight = replace(generate(2, seed=1)[0], capacity=1.0)
    formats.write(tight, tmp_path / "tight.json")
    planned = plan(Suite.FILES, Wish(folder=tmp_path, methods=("anneal", "honest"), steps=20))
    run(planned, Settings(tmp_path / "run"), lambda line: None, Interrupt())
    found = by_method(tmp_path / "run")
    assert {record.status for record in found.values()} == {"unable"}
    assert "capacity" in found["anneal"].reason

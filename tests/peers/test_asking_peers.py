"""What a peer says counts only if it comes in time and the judge agrees."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from n2s.errors import InputError
from n2s.peers import PEERS, Peer, PeerFailed, PeerMissing, PeerUnable, find, solve
from n2s.peers.base import Answer, PeerCancelled, Task, scaled
from n2s.problem import Instance, Metric, Rounding, Variant, generate
from peers import fakes


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child process finds the fakes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(fakes.__file__).parents[1]))


def fake(function: Callable[[Task], Answer], **details: object) -> Peer:
    return Peer("fake", "nothing", function, **details)  # type: ignore[arg-type]


def gone(pid: int) -> bool:
    """Whether a process has ended (or only waits to be buried by its new parent)."""
    for _ in range(100):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_an_honest_answer_is_judged_and_recorded(tiny: Instance) -> None:
    found = solve(tiny, fake(fakes.honest), seconds=1, seed=7)
    assert found.route == [0, 1, 4, 2, 5, 3, 6, 0]
    assert found.cost == pytest.approx(1 + 2**0.5 + 1 + 1 + 1 + 1 + 3)
    assert found.record["scale"] == 1e6
    assert (found.method, found.seed, found.record["cores"]) == ("fake", 7, 1)
    assert 0 < found.seconds < 60


def test_the_depot_may_close_the_route(tiny: Instance) -> None:
    assert solve(tiny, fake(fakes.closed), seconds=1).route == [0, 1, 4, 2, 5, 3, 6, 0]


@pytest.mark.parametrize(
    ("function", "variant", "kind", "message"),
    [
        (fakes.liar, "pdtsp", "lied", "its route has"),
        (fakes.nonsense, "pdtsp", "lied", "its route has"),
        (fakes.forgetful, "pdtsp", "infeasible", "is not visited"),
        (fakes.twice, "pdtsp", "infeasible", "is visited at"),
        (fakes.stranger, "pdtsp", "infeasible", "which is none"),
        (fakes.backwards, "pdtsp", "infeasible", "before its pickup"),
        (fakes.crossing, "lifo", "infeasible", "has to go first"),
        (fakes.crash, "pdtsp", "crash", "out of cheese"),
        (fakes.killed, "pdtsp", "crash", "Segmentation fault"),
        (fakes.silent, "pdtsp", "crash", "said nothing"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_bad_answer_does_not_count(
    function: Callable[[Task], Answer], variant: str, kind: str, message: str
) -> None:
    instance = generate(3, seed=1, variant=Variant(variant))[0]
    with pytest.raises(PeerFailed, match=message) as caught:
        solve(instance, fake(function), seconds=1)
    assert caught.value.kind == kind


def test_a_hanging_peer_is_ended_with_all_it_started(
    tiny: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv(fakes.PIDS, str(pids))
    with pytest.raises(PeerFailed, match="within 5 seconds") as caught:
        solve(tiny, fake(fakes.hang), seconds=1, limit=5)
    assert caught.value.kind == "hang"
    for pid in map(int, pids.read_text().split()):
        assert gone(pid)


def test_what_a_peer_leaves_running_is_ended(
    tiny: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv(fakes.PIDS, str(pids))
    solve(tiny, fake(fakes.leaves), seconds=1)
    assert gone(int(pids.read_text()))


def test_a_missing_peer_says_how_to_get_it(tiny: Instance) -> None:
    with pytest.raises(PeerMissing, match=r"no_such_solver.*pip install 'n2s\[peers\]'"):
        solve(tiny, fake(fakes.missing), seconds=1)


@pytest.mark.parametrize("name", list(PEERS))
def test_every_peer_can_be_missing(
    name: str, tiny: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = ["LKHpy", "pdtsp", "ortools", "vroom", "pyvrp"]
    blocker = f"import sys; sys.modules.update(dict.fromkeys({blocked!r}))"
    (tmp_path / "sitecustomize.py").write_text(blocker)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PeerMissing, match=f"{name} is not installed"):
        solve(tiny, name, seconds=1)


def test_what_a_peer_cannot_do_is_said_without_asking_it(tiny: Instance) -> None:
    lifo = generate(3, seed=1, variant=Variant.LIFO)[0]
    with pytest.raises(PeerUnable, match="cannot do lifo: it has no stack"):
        solve(lifo, fake(fakes.crash, unable=fakes.NO_LIFO), seconds=1)
    matrix = Instance(matrix=np.ones((3, 3)))
    with pytest.raises(PeerUnable, match="matrix of costs: it is flat"):
        solve(matrix, fake(fakes.crash, euclidean_only="it is flat"), seconds=1)
    with pytest.raises(PeerUnable, match="no number of trials"):
        solve(tiny, fake(fakes.crash), trials=1, limit=9)
    with pytest.raises(PeerUnable, match="no time limit"):
        solve(tiny, fake(fakes.crash, takes_seconds=False), seconds=1)
    with pytest.raises(PeerUnable, match="cannot do this today"):
        solve(tiny, fake(fakes.unable), seconds=1)
    tight = Instance(coordinates=tiny.coordinates, capacity=1)
    with pytest.raises(PeerUnable, match="capacities"):
        solve(tight, fake(fakes.honest), seconds=1)


def test_a_wall_clock_counts_from_the_start_of_the_process(tmp_path: Path) -> None:
    task = Task(Variant.PDTSP, 1.0, None, None, None, None, 3, 1, tmp_path, wall=10.0)
    task.save()
    left = Task.load(tmp_path, time.monotonic() - 4).seconds
    assert left == pytest.approx(6, abs=0.5)
    assert Task.load(tmp_path, time.monotonic() - 11).seconds == 0.001


def test_an_exact_peer_gets_the_instance_itself(tiny: Instance) -> None:
    tight = Instance(coordinates=tiny.coordinates, capacity=1, name="tight")
    peer = fake(fakes.exact, exact=True, options={"greeting": "hello"})
    found = solve(tight, peer, wall=10)
    assert found.route == [0, 1, 4, 2, 5, 3, 6, 0]
    assert (found.steps, found.pace, found.checkpoint) == (7, 3.5, "hello tight")
    assert found.history == ((0, 0.5, 12.0), (7, 0.75, found.cost))


def test_a_peer_can_be_cancelled(
    tiny: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setenv(fakes.PIDS, str(pids))
    with pytest.raises(PeerCancelled, match="nobody waits"):
        solve(tiny, fake(fakes.hang), seconds=1, cancelled=pids.exists)
    for pid in map(int, pids.read_text().split()):
        assert gone(pid)


def test_odd_budgets_are_refused(tiny: Instance) -> None:
    peer = fake(fakes.honest, takes_trials=True)
    with pytest.raises(InputError, match="seconds or trials"):
        solve(tiny, peer)
    with pytest.raises(InputError, match="trials need a limit"):
        solve(tiny, peer, trials=5)
    with pytest.raises(InputError, match="seconds must be positive"):
        solve(tiny, peer, seconds=0)
    with pytest.raises(InputError, match="of its search or of its process, not both"):
        solve(tiny, peer, seconds=1, wall=1)
    with pytest.raises(InputError, match="number of cores"):
        solve(tiny, peer, seconds=1, cores=10_000)
    with pytest.raises(InputError, match="no peer 'cplex', only lkh, hgs"):
        find("cplex")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot pin")
def test_a_peer_is_pinned_to_its_cores(tiny: Instance) -> None:
    assert solve(tiny, fake(fakes.on_one_core), seconds=1, cores=1).cores == 1


def test_scales() -> None:
    """Whole costs stay; others become seven digits; only what is plainly Euclidean keeps coordinates."""
    points = np.random.default_rng(1).random((7, 2))

    def view(**details: object) -> tuple[float, bool]:
        scale, coordinates, costs = scaled(Instance(**details))  # type: ignore[arg-type]
        assert (coordinates is None) != (costs is None)
        return scale, coordinates is not None

    assert view(coordinates=points) == (1e6, True)
    assert view(coordinates=1000 * points) == (1e3, True)
    assert view(coordinates=1e9 * points) == (1e-3, True)
    assert view(coordinates=100 * points, rounding=Rounding.NEAREST) == (1.0, True)
    assert view(coordinates=1e9 * points, rounding=Rounding.NEAREST) == (1e-3, False)
    assert view(coordinates=100 * points, rounding=Rounding.UP) == (1.0, False)
    assert view(coordinates=100 * points, metric=Metric.MANHATTAN)[1] is False
    assert view(coordinates=points, open_end=True)[1] is False
    assert view(coordinates=points, end=np.zeros(2))[1] is False
    assert view(matrix=np.ones((3, 3))) == (1.0, False)
    assert view(matrix=np.zeros((3, 3))) == (1.0, False)


def test_a_task_survives_its_folder(tmp_path: Path) -> None:
    instance = generate(4, seed=2)[0]
    scale, coordinates, costs = scaled(instance)
    task = Task(Variant.LIFO, scale, coordinates, costs, 1.5, None, 3, 1, tmp_path)
    task.save()
    loaded = Task.load(tmp_path)
    assert (loaded.variant, loaded.scale, loaded.seconds) == (Variant.LIFO, scale, 1.5)
    assert (loaded.matrix() == task.matrix()).all()
    assert np.abs(loaded.matrix() / scale - instance.costs).max() <= 0.51 / scale

"""How methods are spelled, and what a spelling means for an instance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from n2s.bench.contender import Budget, Entry, _policy, contender, method_names
from n2s.errors import InputError
from n2s.model import load
from n2s.native import find
from n2s.peers import PEERS
from n2s.problem import Variant, generate
from n2s.search import library
from n2s.search.options import Method
from search.test_bridging import tiny

COMMON = Budget(seconds=2.0)


def test_every_method_and_every_peer_can_take_part() -> None:
    assert method_names() == [*Method, *PEERS]
    for name in method_names():
        assert Entry.parse(name, COMMON) == Entry(name, COMMON)


def test_spellings() -> None:
    assert Entry.parse("lkh:10000", COMMON) == Entry("lkh", Budget(steps=10000))
    assert Entry.parse(" anneal:0.5s ", COMMON) == Entry("anneal", Budget(seconds=0.5))
    entry = Entry.parse("n2s-a:3000@random+epsilon-greedy", COMMON)
    assert entry == Entry("n2s-a", Budget(steps=3000), "random+epsilon-greedy")
    assert (str(entry.budget), entry.budget.words) == ("3000", "3,000 steps")
    assert (str(COMMON), COMMON.words) == ("2s", "2 s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cplex", "no method 'cplex', only auto, anneal"),
        ("lkh:many", "a number of steps .* or of seconds .* not 'many'"),
        ("lkh:0", "must be positive"),
        ("lkh:-1s", "must be positive"),
        ("lkh:nans", "must be positive"),
        ("lkh:infs", "must be positive"),
        ("lkh@random", "lkh uses no policy"),
        ("anneal@random", "anneal uses no policy"),
        ("auto@native-lifo", "auto uses no policy"),
        (":5", "NAME"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Entry.parse(text, COMMON)


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package without networks."""
    monkeypatch.setattr(library, "shipped", dict)
    _policy.cache_clear()
    yield
    _policy.cache_clear()


def test_a_policy_by_hand_that_stands_in_is_named(nothing_shipped: None) -> None:
    """Where no trained checkpoint is shipped, the hand-made operators take its place."""
    instance = generate(3, seed=1)[0]
    found = contender(Entry("n2s", COMMON), instance)
    assert (found.label, found.stand_in) == ("n2s@epsilon-greedy", True)
    assert found.peer.options == {"method": "n2s", "checkpoint": "epsilon-greedy"}
    named = contender(Entry("n2s", COMMON, "random"), instance)
    assert (named.label, named.policy, named.stand_in) == ("n2s@random", "random", False)
    with pytest.raises(InputError, match="no checkpoint 'nobody'"):
        contender(Entry("n2s", COMMON, "nobody"), instance)


@pytest.mark.parametrize("variant", list(Variant), ids=str)
def test_the_shipped_network_is_what_the_method_stands_for(variant: Variant) -> None:
    """At a size it was trained for; at another one it stands in, as the tables say."""
    for n, stand_in in ((10, False), (3, True)):
        found = contender(Entry("n2s-a", COMMON), generate(n, seed=1, variant=variant)[0])
        assert (found.label, found.stand_in) == ("n2s-a", stand_in)
        assert found.policy == library.find(f"n2s-{variant}", variant, 21).label
        assert found.peer.options == {"method": "n2s-a", "checkpoint": f"n2s-{variant}"}


def test_others_need_no_policy() -> None:
    instance = generate(3, seed=1)[0]
    assert contender(Entry("anneal", COMMON), instance).label == "anneal"
    assert contender(Entry("lkh", COMMON), instance).peer is PEERS["lkh"]


def test_the_native_policy_is_on_record() -> None:
    """Trained again, or with another choice of auto, runs are other runs."""
    lifo = generate(3, seed=1, variant=Variant.LIFO)[0]
    label = f"native {find(None, Variant.LIFO).sha256[:12]}"
    native = contender(Entry("native", COMMON), lifo)
    assert (native.label, native.policy, native.stand_in) == ("native", label, False)
    assert contender(Entry("auto", COMMON), lifo).policy == label
    assert contender(Entry("anneal", COMMON), lifo).policy == ""
    named = contender(Entry.parse("native:9@native-lifo", COMMON), lifo)
    assert (named.label, named.policy) == ("native@native-lifo", label)
    assert named.peer.options == {"method": "native", "checkpoint": "native-lifo"}


def test_a_bridge_is_on_record_with_both_its_ends(tmp_path: Path) -> None:
    instance = generate(3, seed=1, variant=Variant.LIFO)[0]
    path = tiny(tmp_path, Variant.LIFO)
    entry = Entry.parse(f"native+n2s:9@{path}", COMMON)
    found = contender(entry, instance)
    ends = [f"tiny-0 {load(path).sha256[:12]}", f"native {find(None, Variant.LIFO).sha256[:12]}"]
    assert (found.label, found.policy) == ("native+n2s@tiny-0", ", ".join(ends))
    assert found.peer.options == {"method": "native+n2s", "checkpoint": str(path)}

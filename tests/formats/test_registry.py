"""Where formats meet the disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import n2s
from n2s.errors import InputError
from n2s.formats import registry
from n2s.formats.base import Format, Source
from n2s.formats.registry import store


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("target")
    store(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=r"pipe.json: cannot be written: .* not a regular file"):
        store(pipe, b"new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(InputError, match="not a regular file"):
        store(tmp_path, b"new")


def test_the_longest_name_there_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250 + ".json")
    store(path, b"new")
    assert path.read_bytes() == b"new"


def test_an_interruption_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store(tmp_path / "a.json", b"new")
    assert not list(tmp_path.iterdir())


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.csv")
    path.write_text("id,kind,request,x,y\np,pickup,r,1,1\nd,delivery,r,3,5\n")
    instance = n2s.read(path)
    assert instance.name == "\ufffd"
    n2s.write(instance, tmp_path / "a.json")
    assert n2s.read(tmp_path / "a.json").name == "\ufffd"


def test_a_format_that_finds_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Format("empty", (".e",), lambda source: True, lambda source: [])
    monkeypatch.setattr(registry, "FORMATS", (empty,))
    with pytest.raises(InputError, match=r"a.e: the file holds no instance"):
        registry.parse(Source("a.e", b"x"))

"""A file of runs survives what happens to those who write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.records import record
from n2s.bench.record import FILE, Log, read_records
from n2s.errors import InputError


def test_records_come_back(tmp_path: Path) -> None:
    first = record("x", cost=1.5, history=[[0, 0.1, 2.0], [5, 0.2, 1.5]], published={"B2": 1.0})
    second = record("y", status="crash", reason="out of cheese")
    with Log(tmp_path / "new" / "run") as log:
        log.append(first)
        log.append(second)
    assert read_records(tmp_path / "new" / "run") == [first, second]


def test_half_a_line_is_no_run_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.append(record("x"))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + whole[: len(whole) // 2])
    assert read_records(tmp_path) == [record("x")]
    with Log(tmp_path) as log:
        assert log.done == {record("x").key}
        log.append(record("y"))
    assert read_records(tmp_path) == [record("x"), record("y")]


def test_a_missing_peer_is_asked_again_and_its_last_answer_counts(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.append(record(status="missing"))
        log.append(record("y", status="hang"))
    with Log(tmp_path) as log:
        assert log.done == {record("y").key}
        log.append(record(cost=3.0))
    assert [found.cost for found in read_records(tmp_path)] == [3.0, None]


def test_what_makes_a_run_another_run() -> None:
    keys = {
        record().key,
        record("y").key,
        record(method="lkh").key,
        record(seed=2).key,
        record(budget="3s").key,
        record(cores=2).key,
        record(policy="pdtsp-51 0123").key,
        record(hardware="another machine").key,
    }
    assert len(keys) == 8
    assert record(cost=1.0, date="tomorrow", command="n2s").key == record().key


def test_a_folder_is_for_one_at_a_time(tmp_path: Path) -> None:
    with Log(tmp_path), pytest.raises(InputError, match="another benchmark is writing here"):
        Log(tmp_path)
    with Log(tmp_path):
        pass


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path)
    (tmp_path / FILE).write_text('{"suite": "uniform"}\n')
    with pytest.raises(InputError, match=r"runs\.jsonl:1: is no run of a benchmark"):
        read_records(tmp_path)
    (tmp_path / FILE).write_text("nonsense\n")
    with pytest.raises(InputError, match=r"runs\.jsonl:1: is not JSON"):
        read_records(tmp_path)

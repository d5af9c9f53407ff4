"""Records as short as a test needs them."""

from __future__ import annotations

from n2s.bench.record import Record


def record(instance: str = "x", method: str = "anneal", **details: object) -> Record:
    content: dict[str, object] = {
        "suite": "uniform",
        "group": "pdtsp, 7 nodes",
        "instance": instance,
        "hash": f"hash-{instance}",
        "nodes": 7,
        "variant": "pdtsp",
        "method": method,
        "budget": "2s",
        "seed": 1,
        "cores": 1,
        "status": "ok",
        "hardware": "a machine, 2 cores",
        "versions": "n2s 0",
        "date": "2026-01-02T03:04:05+00:00",
        "command": "n2s bench uniform",
    }
    return Record(**{**content, **details})  # type: ignore[arg-type]

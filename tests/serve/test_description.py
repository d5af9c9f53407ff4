"""The service against its own OpenAPI description, by schemathesis; and the description against docs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from n2s.serve import schema
from serve.servers import ROOT, Server, serving

LEFT_OUT = (
    # What a schema can say is only part of what makes an instance: ids must differ, pairs be complete.
    "positive_data_acceptance",
    # It sends QUERY and the like, at which HTTP parsers hang up.
    "unsupported_method",
)


@pytest.fixture(scope="module")
def hasty() -> Iterator[Server]:
    """A server whose searches are short, so that many fit into a test."""
    with serving("--workers", "1", "--max-seconds", "0.05") as running:
        yield running


def test_random_requests_by_the_description_are_answered_as_described(
    hasty: Server, tmp_path: Path
) -> None:
    result = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{hasty.address}/openapi.json",
            "--phases=examples,fuzzing,stateful",
            "--max-examples=4",
            "--seed=1",
            "--generation-database=none",
            "--request-timeout=30",
            "--no-color",
            f"--exclude-checks={','.join(LEFT_OUT)}",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=180,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    assert "Tested: 13" in result.stdout
    assert hasty.get("/health").json["status"] == "ok"


def test_every_address_is_described_and_documented(server: Server) -> None:
    paths = server.get("/openapi.json").json["paths"]
    text = (ROOT / "docs" / "service.md").read_text()
    wanted = {
        "/v1/solve", "/v1/jobs", "/v1/jobs/{id}", "/v1/jobs/{id}/events", "/v1/evaluate",
        "/v1/validate", "/v1/convert", "/v1/example", "/v1/models", "/v1/about", "/health", "/metrics",
    }  # fmt: skip
    assert set(paths) == wanted
    for path in wanted:
        assert path in text, path


@pytest.mark.parametrize("key", schema.INSTANCE["properties"])
def test_the_schema_of_an_instance_is_that_of_the_json_page(key: str) -> None:
    assert f"`{key}`" in (ROOT / "docs" / "json.md").read_text()

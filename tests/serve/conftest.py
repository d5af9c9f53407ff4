from __future__ import annotations

from collections.abc import Iterator

import pytest

from serve.servers import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests that leave it as they found it."""
    with serving("--workers", "1", "--max-seconds", "20", "--max-body", "1") as running:
        yield running

"""Reading what clients send: never more than allowed, from one or from all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from n2s.serve.problems import Problem
from n2s.serve.settings import MEGABYTE

PATIENCE = 30.0
"""Seconds in which a body must have come."""
TOGETHER = 8
"""Bodies of the largest size that may be in memory at a time."""


class Bodies:
    """All bodies that are being read or worked on."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._held = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request; its bytes count as held until the context ends."""
        parts: list[bytes] = []
        size = 0
        try:
            self._check(int(request.headers.get("content-length", "0")))
            try:
                async with asyncio.timeout(PATIENCE):
                    # A length may be missing or wrong: what comes is what counts.
                    async for part in request.stream():
                        size += len(part)
                        self._held += len(part)
                        parts.append(part)
                        self._check(size)
            except TimeoutError:
                raise Problem(408, f"the body did not come within {PATIENCE:g} seconds") from None
            except ClientDisconnect:
                raise Problem(400, "the client went away") from None
            if not size:
                raise Problem(422, "the body is empty")
            yield b"".join(parts)
        finally:
            self._held -= size

    def _check(self, size: int) -> None:
        if size > self._largest:
            limit = self._largest // MEGABYTE
            raise Problem(413, f"the body is larger than the {limit} megabytes allowed here")
        if self._held > TOGETHER * self._largest:
            raise Problem(503, "too many large bodies at a time: come back later", Retry_After="5")

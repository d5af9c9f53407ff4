"""The improvements of a job as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from starlette.requests import Request

from n2s.serve.jobs import Job
from n2s.serve.leaving import leaving
from n2s.serve.pool import Pool

CONTENT_TYPE = "text/event-stream"
HEARTBEAT = 10.0
"""Seconds without news after which a line is sent that means nothing: proxies end silent streams."""


async def stream(request: Request, job: Job, pool: Pool, after: int) -> AsyncIterator[bytes]:
    """Everything behind improvement number ``after``, then what happens, to the end of the job.

    A reader who is slow or late misses routes, never improvements: routes between the first and the last
    of several that are due together are null.
    """
    job.watched = True
    job.watchers += 1
    try:
        async with leaving(request) as gone:
            async for event in _events(job, pool, after, gone):
                yield event
    finally:
        job.watchers -= 1
        job.seen_at = time.monotonic()


async def _events(
    job: Job, pool: Pool, after: int, gone: asyncio.Future[Any]
) -> AsyncIterator[bytes]:
    state = None
    while not gone.done():
        news = job.news
        if job.state is not state:
            state = job.state
            if not job.finished:
                standing = {"state": state.value, "before": pool.place(job.task)}
                yield _event("state", json.dumps(standing).encode())
        due = job.improvements[after:]
        for number, improvement in enumerate(due, start=after + 1):
            route = job.route if number == after + len(due) else b"null"
            head = json.dumps(asdict(improvement)).encode()[:-1]
            yield _event("improvement", head + b', "route": ' + route + b"}", number)
        after += len(due)
        if job.finished:
            yield _event("end", job.as_json(None))
            return
        change: asyncio.Future[Any] = asyncio.ensure_future(news.wait())
        await asyncio.wait([change, gone], timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
        if not change.done():
            change.cancel()
            yield b": still here\n\n"


def _event(name: str, data: bytes, number: int | None = None) -> bytes:
    identity = b"" if number is None else b"id: %d\n" % number
    return identity + b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"

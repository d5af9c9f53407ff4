"""Clients that open connections and say nothing, or ask and do not listen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from n2s.serve import border, connection
from n2s.serve.border import PIECE, Border
from n2s.serve.connection import Connection
from n2s.serve.metrics import Metrics
from n2s.serve.settings import Settings

SCOPE = {"type": "http", "method": "GET", "path": "/v1/x", "headers": [(b"host", b"localhost")]}


class Transport(asyncio.Transport):
    """Takes everything, or nothing any more; remembers whether it was cut."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = False

    def write(self, data: Any) -> None:
        self.written += data

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def resume_reading(self) -> None:
        pass


def connected(app: Callable[..., Awaitable[None]]) -> tuple[Connection, Transport]:
    from uvicorn import Config
    from uvicorn.server import ServerState

    config = Config(app, http=Connection, ws="none", log_level="error", limit_concurrency=10)
    protocol = Connection(config, ServerState(), {}, asyncio.get_running_loop())
    transport = Transport()
    protocol.connection_made(transport)
    return protocol, transport


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def test_silence_and_trickles_end_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BETWEEN", 0.2)

    async def run() -> None:
        protocol, transport = connected(hello)
        protocol.data_received(b"GET / HTTP/1.1\r\n")
        for _ in range(4):  # a head that never ends
            protocol.data_received(b"A: b\r\n")
            await asyncio.sleep(0.1)
        assert transport.aborted
        protocol.connection_lost(None)

        protocol, transport = connected(hello)
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert transport.written.endswith(b"hello\r\n0\r\n\r\n")
        assert not transport.aborted
        await asyncio.sleep(0.4)  # nothing more comes
        assert transport.aborted
        protocol.connection_lost(None)

    asyncio.run(run())


def test_a_request_under_way_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BETWEEN", 0.05)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.3)
        await hello(scope, receive, send)

    async def run() -> None:
        protocol, transport = connected(slow)
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(0.15)
        assert not transport.aborted
        while not transport.written:
            await asyncio.sleep(0.01)
        protocol.connection_lost(None)

    asyncio.run(run())


def test_who_does_not_take_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "STALLED", 0.05)

    async def run() -> None:
        protocol, transport = connected(hello)
        protocol.pause_writing()
        protocol.resume_writing()
        await asyncio.sleep(0.1)
        assert not transport.aborted
        protocol.pause_writing()
        await asyncio.sleep(0.1)
        assert transport.aborted
        protocol.connection_lost(None)

    asyncio.run(run())


def test_large_answers_go_in_pieces_and_not_too_many_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(border, "MOST_SENDING", 3 * PIECE)
    size = 2 * PIECE + 5

    async def large(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"%d" % size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"a" * size})

    async def run() -> None:
        guarded = Border(large, Settings(), Metrics())
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await guarded(SCOPE, None, send)  # type: ignore[arg-type]
        assert [len(one.get("body", b"")) for one in sent] == [0, PIECE, PIECE, 5]
        assert [one.get("more_body") for one in sent] == [None, True, True, False]

        guarded._sending = 2 * PIECE  # others' answers, which are not taken
        sent.clear()
        await guarded(SCOPE, None, send)  # type: ignore[arg-type]
        assert [one.get("status") for one in sent] == [503, None]
        assert b"too many large answers" in sent[1]["body"]
        assert (b"x-frame-options", b"DENY") in sent[0]["headers"]
        guarded._sending = 0
        sent.clear()
        await guarded(SCOPE, None, send)  # type: ignore[arg-type]
        assert sent[0]["status"] == 200
        assert guarded._sending == 0

    asyncio.run(run())

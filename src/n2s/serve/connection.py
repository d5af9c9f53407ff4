"""A connection as uvicorn has it, with an end to waiting for what a client neither sends nor takes."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

BETWEEN = 20.0
"""Seconds without a request under way: for its head to come, and after an answer for the next one."""
SPARE = 16
"""Connections beyond the limit that are told so; further ones are not even listened to."""
STALLED = 30.0
"""Seconds in which a client must have taken the piece of an answer that waits for it."""


class Connection(H11Protocol):
    """Who opens connections and says nothing, or asks and does not listen, does not keep them."""

    _idle: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency + SPARE:
            transport.abort()
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        for timer in (self._idle, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """An answer is written, though perhaps not yet taken."""
        self._expect_request()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """More waits for the client than fits into its piece."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken it."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def _expect_request(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self.loop.call_later(BETWEEN, self._give_up, self.cycle)

    def _give_up(self, last: object) -> None:
        if self.cycle is last:  # no request has come since
            self.transport.abort()

"""Listen at once, serve, and end kindly: SIGTERM lets running searches answer with their best."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

from n2s.errors import InputError
from n2s.serve.settings import Settings

BACKLOG = 512
MOST_CONNECTIONS = 1000
LAST_ANSWERS = 10
"""Seconds that clients have to take their answers once the searches have ended."""


def serve(settings: Settings, tell: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; ``tell`` is given the address as soon as clients can connect."""
    listening = _listen(settings)
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    tell(f"n2s is at http://{name}:{port}")  # connections wait while the rest is loaded
    _run(settings, listening)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, or asyncio would not turn off Nagle's delay, which costs 40 ms an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{settings.host} port {settings.port} cannot be used ({error.strerror or error})"
        ) from None
    return listening


def _run(settings: Settings, listening: socket.socket) -> None:
    import uvicorn

    from n2s.serve.app import application
    from n2s.serve.connection import Connection
    from n2s.serve.service import Service

    service = Service(settings)

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """End the searches before waiting for the connections that wait for them."""
            await service.drain()
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """A signal is the usual end of a server, not a failure; a second Ctrl-C means at once."""
            self.force_exit = self.should_exit and sig == signal.SIGINT
            self.should_exit = True

    Server(
        uvicorn.Config(
            application(service),
            http=Connection,
            ws="none",
            log_level="error",  # clients can cause warnings, as many as they like
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LAST_ANSWERS,
        )
    ).run([listening])

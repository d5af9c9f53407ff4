"""Who may come in, and what every answer carries.

Plain ASGI around the application: nothing here reads a body or gets between a stream and its reader.
"""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from n2s.serve.metrics import Metrics
from n2s.serve.problems import Problem
from n2s.serve.settings import LOOPBACK, MEGABYTE, Settings

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

PIECE = 2**16
"""Bytes of an answer that are written at a time: what a slow client has not taken is then ours to see."""
MOST_SENDING = 512 * MEGABYTE
"""Bytes of all answers that are on their way."""


class Border:
    """Checks host, origin and token; adds headers; counts."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._sending = 0
        images = f"'self' data: {settings.tiles_origin}".strip()
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src {images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        same = {} if settings.origins else {"cross-origin-resource-policy": "same-origin"}
        headers = {**HEADERS, **same, "content-security-policy": policy}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        hosts = {urlsplit(origin).hostname or "" for origin in settings.origins}
        self._hosts = {*LOOPBACK, *hosts} if settings.local else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        refused = False

        async def sending(message: Message) -> None:
            nonlocal refused
            if refused:
                return
            if not self._room(message):
                await self._refuse(message, scope, receive, sending)
                refused = True  # whatever the application still sends of it
            elif message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                added = [pair for pair in self._headers if pair[0] not in known]
                if b"cache-control" not in known:
                    added.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message["headers"], *added]}
                self._count(scope, message["status"])
                await send(message)
            else:
                await self._pass_on(message, send)

        problem = self._problem(scope)
        if problem is not None:
            await problem.response()(scope, receive, sending)
        else:
            await self._app(scope, receive, sending)

    def _room(self, message: Message) -> bool:
        """Whether an answer, or a part of a stream, can be held until its client has taken it."""
        if message["type"] == "http.response.start":
            size = int(dict(message["headers"]).get(b"content-length", b"0"))
        else:  # an answer with a length was let in by its start
            size = len(message.get("body", b"")) if message.get("more_body") else 0
        return size <= PIECE or self._sending + size <= MOST_SENDING

    async def _refuse(self, message: Message, scope: Scope, receive: Receive, send: Send) -> None:
        """A sentence instead of an answer, or the end of a stream: its client comes back by itself."""
        if message["type"] == "http.response.start":
            sentence = "too many large answers are on their way: come back later"
            await Problem(503, sentence, Retry_After="5").response()(scope, receive, send)
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pass_on(self, message: Message, send: Send) -> None:
        """Send a part of an answer piece by piece, each when the client has taken the one before."""
        body = message.get("body", b"")
        if len(body) <= PIECE:
            await send(message)
            return
        self._sending += len(body)
        try:
            view = memoryview(body)
            for start in range(0, len(body), PIECE):
                more = start + PIECE < len(body) or message.get("more_body", False)
                piece = bytes(view[start : start + PIECE])
                await send({"type": message["type"], "body": piece, "more_body": more})
        finally:
            self._sending -= len(body)

    def _problem(self, scope: Scope) -> Problem | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self._hosts is not None and _hostname(host) not in self._hosts:
            # A foreign name that leads here is how a web site would reach this machine's services.
            return Problem(421, "this service answers to the name of this machine only")
        origin = headers.get(b"origin")
        if not (origin in (None, *self._settings.origins) or _netloc(origin) == host):
            return Problem(403, "pages of other origins are not allowed to use this service")
        if self._settings.token and _guarded(scope["path"]) and scope["method"] != "OPTIONS":
            given = headers.get(b"authorization", "")
            wanted = f"Bearer {self._settings.token}"
            if not hmac.compare_digest(given.encode("latin-1"), wanted.encode("latin-1")):
                sentence = "a token is needed: send the header Authorization: Bearer TOKEN"
                return Problem(401, sentence, WWW_Authenticate="Bearer")
        return None

    def _count(self, scope: Scope, status: int) -> None:
        # The route's own path, not the client's: it could name a new one with every request.
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE") else "other"
        self._metrics.requests.add(method=method, path=path, status=str(status))


def _guarded(path: str) -> bool:
    """What a token guards: all that works or tells; the pages, which hold no data, stay open."""
    return path.startswith("/v1/") or path == "/metrics"


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str | None) -> str | None:
    try:
        return urlsplit(origin or "").netloc or None
    except ValueError:
        return None

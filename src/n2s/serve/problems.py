"""Errors as clients see them: one sentence, a status, and when to come back."""

from __future__ import annotations

import json

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route

from n2s.errors import printable
from n2s.serve.pool import RefusedError

SENTENCES = {
    404: "there is no such page",
    405: "this address does not take that method",
}


class Problem(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> Response:
        """As it is sent."""
        return Response(
            json.dumps({"error": printable(self.sentence)}),
            self.status,
            self.headers,
            "application/json",
        )


def refused(error: RefusedError) -> Problem:
    """Too many others, or going down."""
    return Problem(429 if error.full else 503, str(error), Retry_After=str(error.retry_after))


async def answer_problem(request: Request, error: Exception) -> Response:
    """What we raise."""
    if isinstance(error, Problem):
        return error.response()
    raise error


async def answer_http(request: Request, error: Exception) -> Response:
    """What the router raises."""
    if isinstance(error, HTTPException):
        sentence = SENTENCES.get(error.status_code, str(error.detail))
        problem = Problem(error.status_code, sentence)
        problem.headers.update(error.headers or {})
        if error.status_code == 405:
            problem.headers["Allow"] = ", ".join(_methods(request))
        return problem.response()
    raise error


def _methods(request: Request) -> list[str]:
    """What an address takes: the router only knows of the first route that has it."""
    found: set[str] = set()
    for route in request.app.state.addresses:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return sorted(found)


async def answer_invalid(request: Request, error: Exception) -> Response:
    """A query that is not as described: which parameter, and what is wrong with it."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "extra_forbidden":
        return Problem(422, f"unknown parameter {name}").response()
    return Problem(422, f"{name}: {first['msg']}").response()

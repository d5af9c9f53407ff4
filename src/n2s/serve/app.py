"""The application: the service behind its addresses, inside its border."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

import n2s
from n2s.serve import api, pages, problems
from n2s.serve.border import Border
from n2s.serve.service import Service

ABOUT = (
    "Pickup-and-delivery routes (PDTSP and PDTSP-LIFO). Errors are one sentence: "
    '`{"error": "..."}`. Unknown fields and parameters are errors that name them.'
)


def application(service: Service) -> ASGIApp:
    """What an ASGI server runs."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await service.close()

    app = FastAPI(
        title="n2s",
        version=n2s.__version__,
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,  # theirs loads scripts from elsewhere; /docs is our own
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.addresses = (*api.router.routes, *pages.router.routes)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.add_exception_handler(problems.Problem, problems.answer_problem)
    app.add_exception_handler(HTTPException, problems.answer_http)
    app.add_exception_handler(RequestValidationError, problems.answer_invalid)
    bordered: ASGIApp = Border(app, service.settings, service.metrics)
    if service.settings.origins:
        bordered = CORSMiddleware(
            bordered,
            allow_origins=service.settings.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Last-Event-ID"],
            expose_headers=["Location", "Retry-After", "Server-Timing"],
        )
    return bordered

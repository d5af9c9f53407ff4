"""The addresses under ``/v1``, ``/health`` and ``/metrics``."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

import n2s
from n2s.problem import Distribution, Variant
from n2s.serve import events, metrics, schema
from n2s.serve.jobs import Job
from n2s.serve.leaving import leaving
from n2s.serve.problems import Problem
from n2s.serve.service import Service
from n2s.serve.wire import Message

LARGEST = 2**53 - 1  # what every client can count to
JSON = "application/json"
ROUTE_TYPES = ("text/csv", "application/geo+json", "text/html", "text/plain")
INSTANCE_TYPES = (
    "text/csv",
    "text/tab-separated-values",
    "application/octet-stream",
    "text/plain",
)
JOB_LINKS = ("get_job", "watch_job", "end_job")

router = APIRouter()


def service_of(request: Request) -> Service:
    """The service behind the application."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(service_of)]


class Asked(BaseModel):
    """Parameters; one that is not known is an error."""

    model_config = ConfigDict(extra="forbid")


class FileQuery(Asked):
    """Of everything that takes an instance."""

    name: str | None = Field(None, max_length=200, description="The file's name, for its suffix.")
    index: int | None = Field(
        None, ge=0, le=LARGEST, description="Which instance of a set, from 0."
    )
    variant: Variant | None = Field(None, description="Overrides what the instance says.")


class SearchQuery(FileQuery):
    """Options of a search whose body is an instance as it is."""

    seconds: float | None = Field(None, gt=0, allow_inf_nan=False, description="Time limit.")
    steps: int | None = Field(
        None, ge=0, le=LARGEST, description="Step limit, for reproducibility."
    )
    target: float | None = Field(None, allow_inf_nan=False, description="Stop at this cost.")
    method: schema.Offered | None = Field(None, description="Default: auto.")
    checkpoint: str | None = Field(None, max_length=100, description="A policy of /v1/models.")
    seed: int | None = Field(None, ge=0, le=LARGEST)


class ConvertQuery(FileQuery):
    """Of a conversion."""

    to: str | None = Field(None, max_length=20, description="json, csv, tsv, npz, pdtsp or pdtspl.")


class RouteQuery(Asked):
    """Of a judgement."""

    variant: Variant | None = Field(None, description="Overrides what the instance says.")
    to: str | None = Field(
        None, max_length=20, description="json, csv, geojson, html, tour or sol."
    )


class ExampleQuery(Asked):
    """Of a random instance."""

    requests: int = Field(10, ge=1, le=LARGEST)
    seed: int = Field(0, ge=0, le=LARGEST)
    variant: Variant = Variant.PDTSP
    distribution: Distribution = Distribution.UNIFORM


@router.post(
    "/v1/solve",
    summary="Search a route and wait for it",
    tags=["search"],
    responses=schema.answers(schema.SOLUTION, 400, 408, 413, 422, 429, 500, 503),
    openapi_extra=schema.body(schema.SEARCH, schema.INSTANCE, schema.VROOM, files=True),
)
async def solve(
    request: Request, service: TheService, query: Annotated[SearchQuery, Query()]
) -> Response:
    """Answer with the route. A client that goes away cancels the search."""
    async with service.bodies.read(request) as body, leaving(request) as gone:
        answer, task = await service.solve(_given(query), body, gone)
    timing = f"queue;dur={1000 * task.waited:.1f}, solve;dur={1000 * answer.head['seconds']:.1f}"
    return _answer(answer, {"Server-Timing": timing})


@router.post(
    "/v1/jobs",
    summary="Begin a search and come back for it",
    tags=["search"],
    status_code=202,
    responses=schema.answers(
        schema.JOB, 400, 408, 413, 422, 429, 500, 503, status=202, links=JOB_LINKS
    ),
    openapi_extra=schema.body(schema.SEARCH, schema.INSTANCE, schema.VROOM, files=True),
)
async def begin_job(
    request: Request, service: TheService, query: Annotated[SearchQuery, Query()]
) -> Response:
    """Answer at once with the job, whose id leads to the rest."""
    async with service.bodies.read(request) as body:
        job = await service.enqueue(_given(query), body)
    place = service.solvers.place(job.task)
    return Response(job.as_json(place), 202, {"Location": f"/v1/jobs/{job.id}"}, JSON)


JobId = Annotated[str, Path(description="As /v1/jobs gave it.", max_length=100)]


@router.get(
    "/v1/jobs/{id}",
    operation_id="get_job",
    summary="How far a job is, and its solution",
    tags=["search"],
    responses=schema.answers(schema.JOB, 404, 422),
)
async def get_job(id: JobId, service: TheService) -> Response:  # noqa: A002 - as clients see it
    """Answer with the job as it is now."""
    job = _found(service, id)
    return Response(job.as_json(service.solvers.place(job.task)), media_type=JSON)


@router.delete(
    "/v1/jobs/{id}",
    operation_id="end_job",
    summary="End a job, or forget a finished one",
    tags=["search"],
    responses=schema.answers(schema.JOB, 404, 422),
)
async def end_job(id: JobId, service: TheService) -> Response:  # noqa: A002 - as clients see it
    """Answer with the job as it ended; a running one keeps its best route so far."""
    job = _found(service, id)
    if job.finished:
        service.jobs.drop(job)
    while not job.finished:
        service.jobs.cancel(job)
        await job.news.wait()
    return Response(job.as_json(None), media_type=JSON)


@router.get(
    "/v1/jobs/{id}/events",
    operation_id="watch_job",
    summary="Improvements as they happen (server-sent events)",
    tags=["search"],
    response_class=StreamingResponse,
    responses={
        **schema.answers({}, 404, 422),
        200: {"description": "The stream.", "content": {events.CONTENT_TYPE: {}}},
    },
)
async def watch_job(request: Request, id: JobId, service: TheService) -> Response:  # noqa: A002
    """Events ``state``, ``improvement`` (step, seconds, best, route) and, last, ``end`` (the job).

    A job that was watched and is watched by nobody for five seconds is cancelled.
    """
    job = _found(service, id)
    last = request.headers.get("last-event-id", "")
    after = int(last) if last.isdecimal() and len(last) < 9 else 0
    return StreamingResponse(
        events.stream(request, job, service.solvers, after),
        media_type=events.CONTENT_TYPE,
        headers={"X-Accel-Buffering": "no"},
    )


@router.post(
    "/v1/evaluate",
    summary="Judge a route",
    tags=["routes and instances"],
    responses=schema.answers(schema.SOLUTION, 400, 408, 413, 422, 429, 500, 503, types=ROUTE_TYPES),
    openapi_extra=schema.body(schema.JUDGEMENT),
)
async def evaluate(
    request: Request, service: TheService, query: Annotated[RouteQuery, Query()]
) -> Response:
    """Cost, verdict, violations and a row per stop; ``to`` writes it in another format."""
    return await _quickly("evaluate", request, service, query)


@router.post(
    "/v1/validate",
    summary="Say what is in an instance file, or what is wrong with it",
    tags=["routes and instances"],
    responses=schema.answers(schema.ANYTHING, 400, 408, 413, 422, 429, 500, 503),
    openapi_extra=schema.body(files=True),
)
async def validate(
    request: Request, service: TheService, query: Annotated[FileQuery, Query()]
) -> Response:
    """An instance that cannot be used is not an error here: ``valid`` is false, ``error`` says why."""
    return await _quickly("validate", request, service, query)


@router.post(
    "/v1/convert",
    summary="Write an instance file in another format",
    tags=["routes and instances"],
    responses=schema.answers(
        schema.ANYTHING, 400, 408, 413, 422, 429, 500, 503, types=INSTANCE_TYPES
    ),
    openapi_extra=schema.body(schema.INSTANCE, schema.VROOM, schema.FILES, files=True),
)
async def convert(
    request: Request, service: TheService, query: Annotated[ConvertQuery, Query()]
) -> Response:
    """Any format that can be read, into any that can be written; default JSON."""
    return await _quickly("convert", request, service, query)


@router.get(
    "/v1/example",
    summary="A random instance",
    tags=["routes and instances"],
    responses=schema.answers(schema.INSTANCE, 422, 429, 500, 503),
)
async def example(service: TheService, query: Annotated[ExampleQuery, Query()]) -> Response:
    """The same parameters give the same instance."""
    return _answer(await service.quickly("example", _given(query)))


@router.get(
    "/v1/models",
    summary="Policies that a search can name",
    tags=["search"],
    responses=schema.answers({"type": "array", "items": schema.ANYTHING}, 500),
)
async def models(service: TheService) -> Response:
    """For the methods n2s and n2s-a, then those for native."""
    return Response(await service.models(), media_type=JSON)


@router.get(
    "/v1/about",
    summary="Version, limits and choices",
    tags=["service"],
    responses=schema.answers(schema.ANYTHING),
)
async def about(service: TheService) -> dict[str, Any]:
    """What the page has to know."""
    settings = service.settings
    return {
        "version": n2s.__version__,
        "max_nodes": settings.max_nodes,
        "max_seconds": settings.max_seconds,
        "max_body": settings.body_bytes,
        "variants": list(Variant),
        "methods": list(schema.OFFERED),
        "tiles": settings.tiles,
        "tiles_credit": settings.tiles_credit,
    }


@router.get("/health", summary="Whether the service is up", tags=["service"])
async def health(service: TheService) -> Response:
    """503 while it is going down or no worker can be started; warming up is well."""
    trouble = service.solvers.trouble or service.clerks.trouble
    status = "draining" if service.draining else "trouble" if trouble else "ok"
    report = {
        "status": status,
        "workers": service.solvers.size,
        "ready": service.solvers.ready,
        "running": service.solvers.running,
        "waiting": service.solvers.waiting,
        "version": n2s.__version__,
    }
    return Response(json.dumps(report), 200 if status == "ok" else 503, media_type=JSON)


@router.get("/metrics", summary="Counts for Prometheus", tags=["service"], response_class=Response)
async def measured(service: TheService) -> Response:
    """In Prometheus' text format."""
    pool = service.solvers
    gauges: dict[str, tuple[str, float]] = {
        "n2s_workers": ("Worker processes when all are up.", pool.size),
        "n2s_workers_ready": ("Worker processes that can work.", pool.ready),
        "n2s_searches_running": ("Searches under way.", pool.running),
        "n2s_searches_waiting": ("Searches that wait for a worker.", pool.waiting),
        "n2s_worker_deaths_total": ("Worker processes that died and were replaced.", pool.restarts),
    }
    return Response(service.metrics.text(gauges), media_type=metrics.CONTENT_TYPE)


# --- parts ---------------------------------------------------------------------------------------


def _given(query: BaseModel) -> dict[str, Any]:
    return query.model_dump(mode="json")


async def _quickly(what: str, request: Request, service: Service, query: BaseModel) -> Response:
    async with service.bodies.read(request) as body:
        return _answer(await service.quickly(what, _given(query), body))


def _answer(answer: Message, headers: dict[str, str] | None = None) -> Response:
    headers = headers or {}
    if "file" in answer.head:
        headers["Content-Disposition"] = f'attachment; filename="{answer.head["file"]}"'
    return Response(answer.body, headers=headers, media_type=answer.head["type"])


def _found(service: Service, identity: str) -> Job:
    job = service.jobs.get(identity)
    if job is None:
        raise Problem(404, "there is no such job (finished ones are forgotten after a while)")
    return job

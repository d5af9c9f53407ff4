"""The page, the description of the API, and the files they are made of; all from this package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources

from fastapi import APIRouter, Request, Response

from n2s.serve.problems import Problem

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    data: bytes
    media_type: str
    tag: str


def _load() -> dict[str, Asset]:
    found = {}
    for file in resources.files("n2s.serve").joinpath("static").iterdir():
        suffix = f".{file.name.rpartition('.')[2]}"
        if suffix in TYPES:
            data = file.read_bytes()
            tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
            found[file.name] = Asset(data, TYPES[suffix], tag)
    return found


ASSETS = _load()


def _sent(name: str, request: Request) -> Response:
    asset = ASSETS.get(name)
    if asset is None:
        raise Problem(404, "there is no such page")
    # Asked for anew each time, sent only when changed: an update of the package shows at once.
    headers = {"ETag": asset.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.data, headers=headers, media_type=asset.media_type)


@router.get("/")
async def page(request: Request) -> Response:
    """The page."""
    return _sent("index.html", request)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The API, described for people."""
    return _sent("docs.html", request)


@router.get("/static/{name}")
async def static(name: str, request: Request) -> Response:
    """What the pages are made of."""
    return _sent(name, request)

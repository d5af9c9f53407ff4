"""``n2s serve``: the HTTP service and its page."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated

import typer

from n2s.errors import InputError


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 8000,
    workers: Annotated[
        int | None, typer.Option(help="Searches at a time; default: one a core.")
    ] = None,
    queue: Annotated[int, typer.Option(help="Searches that may wait; more are told 429.")] = 64,
    max_nodes: Annotated[int, typer.Option(help="Largest instance.")] = 2000,
    max_seconds: Annotated[float, typer.Option(help="Longest search.")] = 60.0,
    max_body: Annotated[int, typer.Option(help="Largest request, in megabytes.")] = 32,
    max_memory: Annotated[int, typer.Option(help="Memory of one job, in megabytes.")] = 2048,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Web site whose pages may call the API: https://app.example."),
    ] = None,
    tiles: Annotated[
        str,
        typer.Option(
            help="Map tiles the page offers (off by default): https://.../{z}/{x}/{y}.png."
        ),
    ] = "",
    tiles_credit: Annotated[str, typer.Option(help="Whom the tiles are from.")] = "",
) -> None:
    """Serve the API and the page. N2S_TOKEN in the environment is what clients must show, if set."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InputError("the service needs fastapi and uvicorn: pip install n2s[serve]")
    from n2s.serve.server import serve as run
    from n2s.serve.settings import Settings

    settings = Settings(
        host=host,
        port=port,
        workers=workers,
        queue=queue,
        max_nodes=max_nodes,
        max_seconds=max_seconds,
        max_body=max_body,
        max_memory=max_memory,
        origins=tuple(origin or ()),
        tiles=tiles,
        tiles_credit=tiles_credit,
        token=os.environ.get("N2S_TOKEN", ""),
    )
    if not settings.local and not settings.token:
        typer.echo("n2s: whoever reaches this address can use it (no N2S_TOKEN is set)", err=True)

    def tell(line: str) -> None:
        typer.echo(line)

    run(settings, tell)

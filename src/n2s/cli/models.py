"""``n2s models``: the policies that can be named."""

from __future__ import annotations

import json

import typer

from n2s.cli.options import JsonOption


def models(as_json: JsonOption = False) -> None:
    """List the policies that --checkpoint can name."""
    from n2s.search import library

    rows = library.described()
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        sizes = " ".join(map(str, row["sizes"])) or "any"
        typer.echo(
            f"{row['name']}: {', '.join(row['variants'])}; N {sizes}; D {row['width'] or '-'}; "
            f"{row['parameters']:,} weights; {row['trained']}; {row['sha256'][:12] or 'no file'}"
        )

"""``n2s models``: the policies that can be named."""

from __future__ import annotations

import json

import typer

from n2s.cli.options import JsonOption


def models(as_json: JsonOption = False) -> None:
    """List the policies that --checkpoint can name."""
    from n2s.search import library

    rows = [
        {
            "name": named.name,
            "variants": [variant.value for variant in named.variants],
            "sizes": list(named.sizes),
            "width": named.policy.config.width if named.sizes else None,
            "parameters": named.policy.count_parameters(),
            "trained": named.trained,
            "sha256": named.sha256,
        }
        for named in library.every()
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        sizes = " ".join(map(str, row["sizes"])) or "any"  # type: ignore[arg-type]
        typer.echo(
            f"{row['name']}: {', '.join(row['variants'])}; N {sizes}; D {row['width'] or '-'}; "  # type: ignore[arg-type]
            f"{row['parameters']:,} weights; {row['trained']}; {str(row['sha256'])[:12] or 'no file'}"
        )

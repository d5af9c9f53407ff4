"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from n2s.problem import Instance, Variant

InstanceFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="An instance in any known format.")
]
VariantOption = Annotated[
    Variant | None,
    typer.Option("--variant", help="Loading rule; overrides what the file says."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]


def with_variant(instances: Sequence[Instance], variant: Variant | None) -> list[Instance]:
    """The instances under the loading rule asked for, or their own."""
    if variant is None:
        return list(instances)
    return [replace(instance, variant=variant) for instance in instances]

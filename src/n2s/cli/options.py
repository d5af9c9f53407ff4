"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from n2s.errors import InputError
from n2s.problem import Instance, Variant

InstanceFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="An instance in any known format.")
]
VariantOption = Annotated[
    Variant | None,
    typer.Option("--variant", help="Loading rule; overrides what the file says."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


IndexOption = Annotated[
    int | None, typer.Option("--index", help="Take this instance of a set, counted from 0.")
]


def pick(instances: Sequence[Instance], index: int | None, file: Path) -> Instance:
    """The instance asked for, or the only one."""
    if index is None:
        if len(instances) > 1:
            raise InputError(f"the file holds {len(instances)} instances: say --index", str(file))
        index = 0
    if not 0 <= index < len(instances):
        raise InputError(f"there is no instance {index} among {len(instances)}", str(file))
    return instances[index]


def with_variant(instances: Sequence[Instance], variant: Variant | None) -> list[Instance]:
    """The instances under the loading rule asked for, or their own."""
    if variant is None:
        return list(instances)
    return [replace(instance, variant=variant) for instance in instances]


def list_of(texts: Sequence[str] | None) -> list[str]:
    """The parts of an option that may be repeated, and may hold several with commas between."""
    return [part.strip() for text in texts or () for part in text.split(",") if part.strip()]

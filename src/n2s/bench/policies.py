"""The policies of the paper's ablations: which of them there are, and which are still to be trained.

What sees exact costs is not the paper's and no row of its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from n2s.model import Attention, Operator, PolicyConfig
from n2s.problem import Variant
from n2s.search import library
from n2s.search.library import NamedPolicy

WIDTHS = (64, 128)


@dataclass(frozen=True)
class Rows:
    """The rows of a table."""

    found: tuple[str, ...]
    """Names of policies."""
    missing: str
    """A sentence on the rows that have none; empty if all have one."""


def decoders(variant: Variant, size: int) -> Rows:
    """Table 6: who removes and who reinserts."""

    def row(removal: Operator, reinsertion: Operator) -> tuple[str, Callable[[PolicyConfig], bool]]:
        def fits(config: PolicyConfig) -> bool:
            return (config.removal, config.reinsertion) == (removal, reinsertion)

        return f"{removal} removal and {reinsertion} reinsertion", fits

    return _rows((row(*pair) for pair in product(Operator, repeat=2)), variant, size)


def encoders(variant: Variant, size: int) -> Rows:
    """Table 5: how the encoder attends, narrow and wide."""

    def row(width: int, attention: Attention) -> tuple[str, Callable[[PolicyConfig], bool]]:
        def fits(config: PolicyConfig) -> bool:
            learned = config.removal is config.reinsertion is Operator.LEARNED
            return learned and (config.attention, config.width) == (attention, width)

        return f"{attention} attention of width {width}", fits

    return _rows((row(*pair) for pair in product(WIDTHS, Attention)), variant, size)


def _rows(
    wanted: Iterable[tuple[str, Callable[[PolicyConfig], bool]]], variant: Variant, size: int
) -> Rows:
    """The policies that fit, of those trained for this size or made by hand."""
    usable = [
        named
        for named in library.every()
        if variant in named.variants
        and (size in named.sizes or not named.sizes)
        and not named.policy.config.costs
    ]
    found: list[str] = []
    missing: list[str] = []
    for what, fits in wanted:
        fitting: list[NamedPolicy] = [named for named in usable if fits(named.policy.config)]
        found += [named.name for named in fitting]
        if not fitting:
            missing.append(what)
    sentence = (
        f"Rows are missing until there are checkpoints for {variant} trained at {size} nodes with "
        f"{'; '.join(missing)}."
    )
    return Rows(tuple(found), sentence if missing else "")

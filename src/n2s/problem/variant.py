"""The variants of the problem: which of the loaded requests may be delivered next.

A variant is one rule. Everything the problem core needs (feasibility, named violations, random
tours, enumeration) follows from :meth:`Variant.deliverable`; the native kernels need the same rule
as *gap labels* (``kernels/rules.py``). Adding a variant touches these two files, as shown in
``docs/howto.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Variant(StrEnum):
    """A loading rule for one vehicle."""

    PDTSP = "pdtsp"
    """A pickup comes before its delivery; nothing else."""
    LIFO = "lifo"
    """In addition, only the request loaded last may be delivered (one stack, rear access)."""

    def deliverable(self, loaded: Sequence[int]) -> Sequence[int]:
        """Which of the ``loaded`` requests (in loading order) may be delivered next."""
        if self is Variant.LIFO:
            return loaded[-1:]
        return loaded

    @property
    def ordered(self) -> bool:
        """Whether the order on board matters: not every loaded request may come off next."""
        return len(self.deliverable((1, 2))) < 2

    @property
    def code(self) -> int:
        """The small integer by which kernels know this variant."""
        return tuple(Variant).index(self)

"""Pickup-and-delivery routing by neural neighborhood search, on fast native kernels.

>>> import n2s
>>> best = n2s.solve(n2s.read("examples/city.csv"), time_limit=5, seed=1)
>>> best.cost, best.route
"""

from typing import TYPE_CHECKING, Any

from n2s.errors import InputError, N2SError, UnsupportedError
from n2s.formats import read, read_many, read_route, write, write_route
from n2s.problem import Evaluation, Instance, Move, Variant, evaluate, generate

if TYPE_CHECKING:
    from n2s.search.result import Solution
    from n2s.search.solve import solve, solve_many

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "InputError",
    "Instance",
    "Move",
    "N2SError",
    "Solution",
    "UnsupportedError",
    "Variant",
    "__version__",
    "evaluate",
    "generate",
    "read",
    "read_many",
    "read_route",
    "solve",
    "solve_many",
    "write",
    "write_route",
]

# Searching needs numba, and torch for policies; reading, judging and writing start at once without them.
_LATER = {"Solution": "result", "solve": "solve", "solve_many": "solve"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        return getattr(import_module(f"n2s.search.{_LATER[name]}"), name)
    raise AttributeError(f"module 'n2s' has no attribute {name!r}")

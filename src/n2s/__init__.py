"""Pickup-and-delivery routing by neural neighborhood search, on fast native kernels.

>>> import n2s
>>> instance = n2s.read("examples/city.csv")
>>> n2s.evaluate(instance, route).cost
"""

from n2s.errors import InputError, N2SError, UnsupportedError
from n2s.formats import read, read_many, read_route, write, write_route
from n2s.problem import Evaluation, Instance, Move, Variant, evaluate, generate

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "InputError",
    "Instance",
    "Move",
    "N2SError",
    "UnsupportedError",
    "Variant",
    "__version__",
    "evaluate",
    "generate",
    "read",
    "read_many",
    "read_route",
    "write",
    "write_route",
]

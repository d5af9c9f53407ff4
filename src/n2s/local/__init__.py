"""The native search: ruin and recreate under annealing, and a small population of good tours."""

from n2s.local.chain import Chain, ChainMaker, Outset
from n2s.local.evolve import Watch, search
from n2s.local.landscape import Landscape, ShortTours, landscape_of
from n2s.local.plan import Plan, Settings
from n2s.local.reach import reach_of

__all__ = [
    "Chain",
    "ChainMaker",
    "Landscape",
    "Outset",
    "Plan",
    "Settings",
    "ShortTours",
    "Watch",
    "landscape_of",
    "reach_of",
    "search",
]

"""Native kernels over batches of tours: arrays in, arrays out, nothing else.

Everything here is compiled by numba on first use and cached on disk. Inputs are trusted: int64 tours
in tour order, float64 costs.
"""

from pathlib import Path

from n2s.kernels.cache import drop_stale

drop_stale(Path(__file__).parent)

from n2s.kernels.annealing import anneal_tours  # noqa: E402
from n2s.kernels.change import detours, insertion_changes, removal_gains  # noqa: E402
from n2s.kernels.feasible import (  # noqa: E402
    count_feasible,
    feasible_mask,
    feasible_pairs,
    pick_feasible,
)
from n2s.kernels.outlook import outlooks  # noqa: E402
from n2s.kernels.reinsertion import best_reinsertion, heat_bath_reinsertion  # noqa: E402
from n2s.kernels.start import greedy_tours  # noqa: E402
from n2s.kernels.term_draw import draw_by_terms  # noqa: E402
from n2s.kernels.tours import (  # noqa: E402
    apply_moves,
    insert_requests,
    positions,
    remove_requests,
    stack_tops,
    tour_costs,
)
from n2s.kernels.unsettle import unsettle  # noqa: E402

__all__ = [
    "anneal_tours",
    "apply_moves",
    "best_reinsertion",
    "count_feasible",
    "detours",
    "draw_by_terms",
    "feasible_mask",
    "feasible_pairs",
    "greedy_tours",
    "heat_bath_reinsertion",
    "insert_requests",
    "insertion_changes",
    "outlooks",
    "pick_feasible",
    "positions",
    "removal_gains",
    "remove_requests",
    "stack_tops",
    "tour_costs",
    "unsettle",
]

"""Ruin and recreate for PDTSP (after Veenstra and others), in the PyPI package pdtsp, fast reinsertion."""

from __future__ import annotations

from n2s.peers.base import Answer, Peer, Task
from n2s.peers.hgs import answer, limits, points
from n2s.problem import Variant


def solve(task: Task) -> Answer:
    """Solve with the published parameters."""
    from pdtsp import RRParameters, RRSolver

    return answer(RRSolver(RRParameters(fast=True, **limits(task))).solve(points(task)))


PEER = Peer(
    "ruin-recreate",
    "pdtsp",
    solve,
    unable={Variant.LIFO: "it inserts by precedence only"},
    euclidean_only="its program reads coordinates only",
    takes_trials=True,
)

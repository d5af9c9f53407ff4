"""Instances, tours, moves, costs and feasibility. No network and no kernel here."""

from n2s.problem.distance import Metric, Rounding
from n2s.problem.evaluation import Evaluation, Stop, Violation, evaluate, evaluate_nodes
from n2s.problem.generate import Distribution, generate
from n2s.problem.instance import Id, Instance
from n2s.problem.move import Move
from n2s.problem.tour import inverse, random_tour, random_tours
from n2s.problem.variant import Variant

__all__ = [
    "Distribution",
    "Evaluation",
    "Id",
    "Instance",
    "Metric",
    "Move",
    "Rounding",
    "Stop",
    "Variant",
    "Violation",
    "evaluate",
    "evaluate_nodes",
    "generate",
    "inverse",
    "random_tour",
    "random_tours",
]

"""Where each stop of an evaluated route lies, and what the user's file said of it."""

from __future__ import annotations

from collections.abc import Mapping

from n2s.problem import Evaluation, Instance, Stop

LARGEST_WITH_STACKS = 1000  # nodes; all stacks together grow with the square of the route


def place(evaluation: Evaluation, stop: Stop) -> tuple[float, float] | None:
    """The stop's coordinates in the order of the instance; None where nobody gave any."""
    instance = evaluation.instance
    if instance.coordinates is None:
        return None
    if stop.kind == "end" and separate_end(instance):
        if instance.matrix is not None:
            return None  # the matrix knows the way to a separate end, not where it is
        point = instance.coordinates[0] if instance.end is None else instance.end
    else:
        point = instance.coordinates[_node(evaluation, stop)]
    return float(point[0]), float(point[1])


def attributes(evaluation: Evaluation, stop: Stop) -> Mapping[str, str]:
    """The further columns the user's file had for the stop."""
    instance = evaluation.instance
    if instance.attributes is None or (stop.kind == "end" and separate_end(instance)):
        return {}
    return instance.attributes[_node(evaluation, stop)]


def full_stacks(instance: Instance) -> bool:
    """Whether a table of stops holds whole stacks; beyond this size, only their depth and top."""
    return instance.size <= LARGEST_WITH_STACKS


def separate_end(instance: Instance) -> bool:
    """Whether the route ends somewhere else than at the depot."""
    if instance.open_end:
        return False  # its id is only a word that routes may close with
    return instance.end is not None or instance.end_id not in (None, instance.ids[0])


def _node(evaluation: Evaluation, stop: Stop) -> int:
    return 0 if stop.kind in ("start", "end") else evaluation.nodes[stop.position]

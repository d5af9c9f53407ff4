"""The network behind ``native+n2s``: found by its name, seen through the instance's points."""

from __future__ import annotations

from pathlib import Path

from n2s.errors import InputError
from n2s.local import Landscape
from n2s.model.prior_policy import prior_alone
from n2s.model.scores import Scorer
from n2s.native.bridge import Bridge, build
from n2s.problem import Instance, Variant
from n2s.search import library
from n2s.search.library import NamedPolicy
from n2s.search.network_view import network_view


def network(name: str | Path | NamedPolicy | None, variant: Variant, size: int) -> NamedPolicy:
    """The trained network of a name or file; without one, the shipped one trained nearest to ``size``."""
    found = library.find(name, variant, size)
    if name is None and not found.sizes:
        raise InputError(
            f"there is no trained network for {variant} in the package: name one (--checkpoint)"
        )
    if not found.policy.learned:
        raise InputError(f"the policy {found.name} has no network whose scores could be used")
    if prior_alone(found.policy) is not None:
        raise InputError(f"the network of {found.name} says nothing beside its prior: name another")
    return found


def bridge_of(
    named: NamedPolicy, instance: Instance, land: Landscape, every: int | None = None
) -> Bridge:
    """The bridge from an instance to a network."""
    view = network_view(instance)
    costs = instance.costs * view.scale
    return build(land, Scorer(named.policy, instance.variant, view.points, costs), every)

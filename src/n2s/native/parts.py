"""What a native policy consists of, by names: what an evolution can leave out."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from n2s.kernels.native_decisions import (
    BEGIN,
    FEATURES,
    HEAT,
    HIDDEN,
    LARGEST,
    LAYOUT,
    PARAMETERS,
    VIEWS,
)
from n2s.problem.distance import FloatArray

NEVER = 60.0
"""A logit that decides alone."""


class Part(StrEnum):
    """Something the policy sees or does."""

    DETOURS = "detours"
    AGE = "age"
    TRACE = "trace"
    LENGTH = "length"
    SPAN = "span"
    DEPTH = "depth"
    EXCESS = "excess"
    STAGNATION = "stagnation"
    BUDGET = "budget"
    TIMED = "timed"
    HEAT = "heat"
    """The MLP of the temperature: without it, it falls with progress alone."""
    SEVERAL = "several"
    """More than one request in a step."""
    PLACES = "places"
    """Bonuses for old places."""
    BLOCKS = "blocks"
    """Moves of blocks (LIFO) or stretches."""
    RETURN = "return"
    """Going back to the best tour."""
    OUTLOOK = "outlook"
    """What requests could save elsewhere (``kernels.outlook``)."""
    BUILD = "build"
    """Rounds that begin by building a tour."""
    BRIDGE = "bridge"
    """Scores of a network (``native.bridge``)."""


_FEATURES = {
    Part.DETOURS: (0, 1),
    Part.AGE: (2, 3),
    Part.TRACE: (4,),
    Part.LENGTH: (5,),
    Part.SPAN: (6,),
    Part.DEPTH: (7,),
}
_VIEWS = {Part.EXCESS: 0, Part.STAGNATION: 1, Part.BUDGET: 3, Part.TIMED: 4}
_BLOCKS = {
    Part.HEAT: ("heat/views", "heat/bias", "heat/out"),
    Part.SEVERAL: ("count/bias", "count/views", "ways", "several"),
    Part.PLACES: ("places",),
    Part.BLOCKS: ("blocks",),
    Part.RETURN: ("return",),
    Part.OUTLOOK: ("outlook",),
    Part.BUILD: ("build",),
    Part.BRIDGE: ("bridge",),
}


def _where(name: str, index: int | slice | np.ndarray = slice(None)) -> np.ndarray:
    return np.atleast_1d(BEGIN[name] + np.arange(LAYOUT[name])[index])


def indices(part: Part) -> np.ndarray:
    """The parameters that belong to a part alone."""
    if part in _FEATURES:
        columns = np.array(_FEATURES[part])
        hidden = (np.arange(HIDDEN)[:, None] * FEATURES + columns).ravel()
        return np.concatenate(
            [_where("removal/linear", columns), _where("removal/features", hidden)]
        )
    if part in _VIEWS:
        view = _VIEWS[part]
        units = {"removal/views": HIDDEN, "heat/views": HEAT, "count/views": len(LARGEST)}
        wheres = [_where(name, np.arange(count) * VIEWS + view) for name, count in units.items()]
        alike = [_where(name, 1 + view) for name in ("blocks", "return")]
        return np.concatenate([*wheres, *alike])
    return np.concatenate([_where(name) for name in _BLOCKS[part]])


def only(parts: tuple[Part, ...]) -> np.ndarray:
    """A mask of the parameters that belong to some parts."""
    free = np.zeros(PARAMETERS, bool)
    for part in parts:
        free[indices(part)] = True
    return free


def switched_off(theta: FloatArray, parts: tuple[Part, ...]) -> tuple[FloatArray, np.ndarray]:
    """The parameters without some parts, and which of them are still free (a mask)."""
    theta = theta.copy()
    free = np.ones(len(theta), bool)
    for part in parts:
        where = indices(part)
        theta[where] = 0.0
        free[where] = False
    if Part.SEVERAL in parts:
        theta[_where("count/bias", 0)] = NEVER
    for part in (Part.BLOCKS, Part.RETURN):
        if part in parts:
            theta[_where(part, 0)] = -NEVER
    return theta, free

"""Column names as people write them, in the words of this package."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Column names as they may be written; case, spaces and hyphens do not matter.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "stop", "stop_id", "node", "node_id"),
    "kind": ("kind", "type"),
    "request": ("request", "request_id", "order", "order_id", "shipment", "shipment_id"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "long", "longitude"),
    "x": ("x",),
    "y": ("y",),
    "load": ("load", "demand", "amount", "quantity"),
    "variant": ("variant", "loading", "loading_rule"),
}
PREFIXES: Mapping[str, tuple[str, ...]] = {
    "pickup": ("pickup_", "from_", "origin_"),
    "delivery": ("delivery_", "dropoff_", "to_", "destination_"),
}
KINDS = {"pickup": "pickup", "delivery": "delivery", "dropoff": "delivery"} | {
    kind: kind for kind in ("depot", "start", "end")
}
# A column that asks for more than this package does must not pass as a mere remark. Any of these
# words in its name makes it such a column, if it holds anything.
CONSTRAINT_WORDS = frozenset(
    {"time", "times", "window", "windows", "timewindow", "tw", "deadline", "due", "duedate"}
    | {"earliest", "latest", "ready", "open", "opens", "close", "closes", "before", "after", "by"}
    | {"until", "duration", "service", "priority", "skill", "skills", "vehicle", "vehicles"}
    | {"driver", "capacity", "max", "maximum"}
)


def normal(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def word_of(name: str) -> str:
    """The column's name in this module's words; the name itself where it is none of them."""
    for word, names in SYNONYMS.items():
        if name in names:
            return word
    return name


def split_role(name: str) -> tuple[str, str]:
    """(``pickup``, ``delivery`` or nothing, the rest of the name)."""
    for role, prefixes in PREFIXES.items():
        for prefix in prefixes:
            if name.startswith(prefix) and name != prefix:
                return role, name.removeprefix(prefix)
    return "", name


def is_constraint(name: str) -> bool:
    """Whether a column's name speaks of times, limits, skills or vehicles."""
    _, rest = split_role(normal(name))
    return not CONSTRAINT_WORDS.isdisjoint(rest.split("_"))

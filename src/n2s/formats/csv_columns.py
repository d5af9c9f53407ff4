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
# A column that asks for more than this package does must not pass as a mere remark.
CONSTRAINTS = re.compile(
    r"(time_?window|tw_|earliest|latest|ready|due_|max_ride|max_travel|vehicle).*|"
    r"tw|due|duedate|priority|skills?|capacity"
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

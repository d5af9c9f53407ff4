"""All peers by name."""

from __future__ import annotations

from n2s.errors import InputError
from n2s.peers import hgs, lkh, ortools, pyvrp, ruin_recreate, vroom
from n2s.peers.base import Peer

PEERS: dict[str, Peer] = {
    module.PEER.name: module.PEER for module in (lkh, hgs, ruin_recreate, ortools, vroom, pyvrp)
}


def find(name: str) -> Peer:
    """The peer of that name."""
    if name not in PEERS:
        raise InputError(f"there is no peer {name!r}, only {', '.join(PEERS)}")
    return PEERS[name]

"""Other solvers behind one face: an instance, seconds or trials, a seed and cores give a verified route."""

from n2s.peers.base import Peer, PeerError, PeerFailed, PeerMissing, PeerUnable
from n2s.peers.registry import PEERS, find
from n2s.peers.run import PeerSolution, solve

__all__ = [
    "PEERS",
    "Peer",
    "PeerError",
    "PeerFailed",
    "PeerMissing",
    "PeerSolution",
    "PeerUnable",
    "find",
    "solve",
]

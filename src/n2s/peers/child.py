"""The process in which a peer runs: ``python -m n2s.peers.child MODULE:FUNCTION FOLDER BEGUN``.

Reads the task in FOLDER, answers in ``answer.json`` there; BEGUN is when the process was
started. The library may do to this process what it likes: whoever started it believes nothing but
that file.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from n2s.peers.base import NoRoute, PeerUnable, Task


def pin(cores: int) -> None:
    """Keep this process and its children on so many cores, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def end_with_parent() -> None:
    """Do not outlive a parent that is killed, where the system offers that: nobody reads the answer."""
    if sys.platform == "linux":
        parent_death_signal = 1
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


def main(address: str, folder: Path, begun: float) -> None:
    """Solve the task in ``folder`` with the function at ``address``."""
    end_with_parent()
    task = Task.load(folder, begun)
    pin(task.cores)
    module, _, name = address.partition(":")
    try:
        answer = getattr(import_module(module), name)(task)
        nodes = [int(node) for node in answer.nodes]
        cost = None if answer.cost is None else float(answer.cost)
        said: dict[str, object] = {**answer._asdict(), "nodes": nodes, "cost": cost}
    except PeerUnable as error:
        said = {"unable": str(error)}
    except NoRoute as error:
        said = {"infeasible": str(error)}
    except ImportError as error:
        said = {"missing": str(error)}
    aside = folder / "answer.part"
    aside.write_text(json.dumps(said))
    aside.replace(folder / "answer.json")
    sys.stdout.flush()
    os._exit(0)  # some libraries die of their own cleaning up


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))

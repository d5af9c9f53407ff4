"""The process in which a peer runs: ``python -m n2s.peers.child MODULE:FUNCTION FOLDER``.

Reads the task in FOLDER, answers in ``answer.json`` there. The library may do to this process what it
likes: whoever started it believes nothing but that file.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from n2s.peers.base import NoRoute, PeerUnable, Task


def pin(cores: int) -> None:
    """Keep this process and its children on so many cores, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


def main(address: str, folder: Path) -> None:
    """Solve the task in ``folder`` with the function at ``address``."""
    task = Task.load(folder)
    pin(task.cores)
    module, _, name = address.partition(":")
    try:
        answer = getattr(import_module(module), name)(task)
        nodes = [int(node) for node in answer.nodes]
        cost = None if answer.cost is None else float(answer.cost)
        said: dict[str, object] = {"nodes": nodes, "cost": cost}
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
    main(sys.argv[1], Path(sys.argv[2]))

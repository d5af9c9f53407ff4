"""Peers that misbehave; their functions are imported by the child process under test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from n2s.peers.base import Answer, PeerUnable, Task
from n2s.problem import Variant, evaluate_nodes

PIDS = "N2S_FAKE_PIDS"
"""Names a file in which a fake leaves the ids of its processes."""


def honest(task: Task) -> Answer:
    """Each request delivered at once, with the cost of that."""
    nodes = [0, *(node for pair in task.pairs for node in pair)]
    matrix = task.matrix()
    return Answer(
        nodes, float(sum(matrix[a, b] for a, b in zip(nodes, [*nodes[1:], 0], strict=True)))
    )


def closed(task: Task) -> Answer:
    """With the depot at both ends and no cost."""
    return Answer([*honest(task).nodes, 0])


def liar(task: Task) -> Answer:
    answer = honest(task)
    return Answer(answer.nodes, 0.9 * (answer.cost or 0.0))


def nonsense(task: Task) -> Answer:
    return Answer(honest(task).nodes, float("nan"))


def forgetful(task: Task) -> Answer:
    return Answer(honest(task).nodes[:-1])


def twice(task: Task) -> Answer:
    return Answer([*honest(task).nodes, 1])


def stranger(task: Task) -> Answer:
    return Answer([*honest(task).nodes, task.size])


def backwards(task: Task) -> Answer:
    return Answer([0, *honest(task).nodes[:0:-1]])


def crossing(task: Task) -> Answer:
    """All pickups, then the deliveries in the same order: no stack."""
    return Answer(list(range(task.size)))


def crash(task: Task) -> Answer:
    raise ValueError("out of cheese")


def killed(task: Task) -> Answer:
    os.kill(os.getpid(), signal.SIGSEGV)
    return honest(task)


def silent(task: Task) -> Answer:
    os._exit(0)


def hang(task: Task) -> Answer:
    """Hangs with a program of its own, and does not listen to polite signals."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ[PIDS]).write_text(f"{os.getpid()} {other.pid}")
    time.sleep(600)
    return honest(task)


def leaves(task: Task) -> Answer:
    """Answers, but leaves a program running."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ[PIDS]).write_text(str(other.pid))
    return honest(task)


def unable(task: Task) -> Answer:
    raise PeerUnable("fake cannot do this today")


def missing(task: Task) -> Answer:
    import no_such_solver  # type: ignore[import-not-found]

    return no_such_solver.solve(task)


def on_one_core(task: Task) -> Answer:
    """Honest on as many cores as asked for, else not."""
    if len(os.sched_getaffinity(0)) != task.cores:
        raise ValueError(f"{len(os.sched_getaffinity(0))} cores")
    return honest(task)


def exact(task: Task) -> Answer:
    """Serves one request after the other, and tells all that can be told."""
    instance = task.instance()
    nodes = [0, *(node for pair in range(1, instance.n + 1) for node in (pair, pair + instance.n))]
    cost = evaluate_nodes(instance, nodes).cost
    history = [(0, 0.5, 12.0), (7, 0.75, cost)]
    return Answer(nodes, cost, 7, 3.5, history, f"{task.options['greeting']} {instance.name}")


NO_LIFO = {Variant.LIFO: "it has no stack"}

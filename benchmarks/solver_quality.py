"""How good the default solver is beside others, on the same instances and cores; prints one JSON object.

Suites: ``uniform`` (generated), ``large`` (generated, 1,001 nodes, the same seconds for all) and ``files``
(benchmark files with reference values). Everything runs one after the other: every peer in a process
of its own, ours in one that has loaded and compiled everything before the first clock starts.

Run: ``python benchmarks/solver_quality.py --suite uniform --nodes 101 --variant lifo --seconds 1 5``
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean

from hardware import hardware

import n2s
from n2s import peers
from n2s.peers.child import pin
from n2s.problem import Instance, Variant, evaluate, evaluate_nodes, generate

CLOCK = (
    "ours: seconds of the search in a warm process, which is what its limit counts; peers: wall clock of "
    "their process with its start-up, beside the budget they were given in their own counting"
)
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HGS_SECONDS = 20.0
DEFAULTS: dict[str, dict[str, object]] = {
    "uniform": {
        "nodes": 101,
        "count": 10,
        "seconds": [1.0, 5.0],
        "peers": ["lkh", "hgs", "ortools"],
    },
    "large": {
        "nodes": 1001,
        "count": 1,
        "seconds": [60.0],
        "peers": ["lkh", "ortools"],
        "trials": 0,
    },
    "files": {"count": 1000, "seconds": [2.0, 5.0], "peers": []},
}


@dataclass
class Group:
    """Instances whose figures belong together; ``reference`` is what is known of each."""

    name: str
    instances: list[Instance]
    reference: list[float] = field(default_factory=list)


def serve(
    connection: Connection, method: str, threads: int, shapes: Sequence[tuple[int, Variant]]
) -> None:
    """Our solver: warm up on other instances of these shapes, then answer (instance, seconds, seed)."""
    pin(threads)
    for n, variant in shapes:
        other = generate(n, seed=0, variant=variant)[0]
        # First by steps, which no compilation shortens, then by the clock, which needs more kernels.
        n2s.solve(other, method=method, steps=10 * n, threads=threads)
        n2s.solve(other, method=method, time_limit=0.2, threads=threads)
    connection.send("warm")
    while (request := connection.recv()) is not None:
        instance, seconds, seed = request
        found = n2s.solve(instance, method=method, time_limit=seconds, seed=seed, threads=threads)
        connection.send((found.evaluation.nodes, found.seconds))


class Ours:
    """Our solver in its process."""

    def __init__(self, method: str, threads: int, groups: Sequence[Group]) -> None:
        every = [instance for group in groups for instance in group.instances]
        shapes = sorted({(instance.n, instance.variant) for instance in every})
        context = multiprocessing.get_context("spawn")
        self.connection, far = context.Pipe()
        self.process = context.Process(
            target=serve, args=(far, method, threads, shapes), daemon=True
        )
        self.process.start()
        far.close()  # so that its death is noticed here
        self.connection.recv()

    def solve(self, instance: Instance, seconds: float, seed: int) -> tuple[float, float]:
        """Cost by the judge, and seconds."""
        self.connection.send((instance, seconds, seed))
        nodes, elapsed = self.connection.recv()
        evaluation = evaluate_nodes(instance, nodes)
        if not evaluation.feasible:
            raise SystemExit(f"our route is infeasible: {evaluation.violations[0].message}")
        return evaluation.cost, elapsed

    def close(self) -> None:
        self.connection.send(None)
        self.process.join()


def ask(
    name: str, group: Group, options: argparse.Namespace, say: Callable[[str], None]
) -> tuple[dict[str, object], list[float | None]]:
    """The summary of a peer, and its cost on every instance: None where it gave none."""
    trials = options.trials if name == "lkh" and options.trials else None
    seconds = None if trials else max(options.seconds)
    if name == "hgs" and options.suite != "large":
        seconds = options.hgs_seconds
    # Some count processor time, which a busy machine gives slowly.
    limit = options.limit if seconds is None else 60 + 10 * seconds
    costs: list[float | None] = []
    elapsed: list[float] = []
    scales: set[float] = set()
    failures: list[str] = []
    summary: dict[str, object] = {
        "budget": f"{trials} trials" if trials else f"{seconds:g} seconds",
        "software": peers.find(name).software,
    }
    for instance in group.instances:
        say(f"{name}: {instance.name}")
        try:
            found = peers.solve(
                instance,
                name,
                seconds=seconds,
                trials=trials,
                seed=options.seeds[0],
                cores=options.threads,
                limit=limit,
            )
        except (peers.PeerUnable, peers.PeerMissing) as error:
            return {**summary, "none": str(error)}, [None] * len(group.instances)
        except peers.PeerFailed as error:
            costs.append(None)
            failures.append(f"{instance.name}: {error.kind}: {error}")
        else:
            costs.append(found.cost)
            elapsed.append(found.seconds)
            scales.add(found.scale)
    if elapsed:
        summary["scales"] = sorted(scales)
        summary["mean_cost"] = round(fmean(cost for cost in costs if cost is not None), 6)
        summary["mean_seconds"] = round(fmean(elapsed), 3)
    summary["counted"] = len(elapsed)
    summary["failures"] = failures
    return summary, costs


def gap(ours: Sequence[Sequence[float]], theirs: Sequence[float | None]) -> dict[str, float] | None:
    """Percent above the others, on average and at worst over instances and seeds; None if none counts."""
    gaps = [
        100 * (cost / other - 1)
        for costs, other in zip(ours, theirs, strict=True)
        if other
        for cost in costs
    ]
    if not gaps:
        return None
    return {"mean_percent": round(fmean(gaps), 4), "worst_percent": round(max(gaps), 4)}


def measure(
    group: Group, options: argparse.Namespace, ours: Ours, say: Callable[[str], None]
) -> dict[str, object]:
    """Everybody on the instances of a group."""
    found: dict[float, list[list[float]]] = {}
    spent: dict[float, float] = {}
    for seconds in options.seconds:
        runs = []
        for instance in group.instances:
            say(f"n2s: {instance.name}, {seconds:g} s")
            runs.append([ours.solve(instance, seconds, seed) for seed in options.seeds])
        found[seconds] = [[cost for cost, _ in run] for run in runs]
        spent[seconds] = fmean(elapsed for run in runs for _, elapsed in run)
    summaries, theirs = {}, {}
    for name in options.peers:
        summaries[name], theirs[name] = ask(name, group, options, say)
    best = [
        min(
            [cost for runs in found.values() for cost in runs[index]]
            + [cost for costs in theirs.values() if (cost := costs[index]) is not None]
        )
        for index in range(len(group.instances))
    ]
    rivals: dict[str, Sequence[float | None]] = {**theirs, "best of all": best}
    if group.reference:
        rivals["reference"] = group.reference
    return {
        "instances": len(group.instances),
        "ours": {
            f"{seconds:g}": {
                "mean_cost": round(fmean(cost for run in costs for cost in run), 6),
                "mean_seconds": round(spent[seconds], 3),
                "gap_to": {name: gap(costs, other) for name, other in rivals.items()},
            }
            for seconds, costs in found.items()
        },
        "peers": summaries,
    }


def generated(options: argparse.Namespace) -> list[Group]:
    """Uniform instances of one size and variant."""
    variant = Variant(options.variant or "pdtsp")
    instances = generate(options.nodes // 2, options.count, options.seed, variant)
    return [Group(f"{variant}-{2 * (options.nodes // 2) + 1}", instances)]


def from_files(options: argparse.Namespace) -> list[Group]:
    """RBO00 with its optimal routes, and the LIFO files with the averages of Li and others (2011)."""
    groups = []
    if options.variant in (None, "pdtsp"):
        rbo = Group("rbo00", [])
        for path in sorted((options.data / "rbo00").glob("*.pdt"))[: options.count]:
            instance = n2s.read(path)
            rbo.instances.append(instance)
            route = n2s.read_route(path.with_suffix(".sol"), instance)
            rbo.reference.append(evaluate(instance, route).cost)
        groups.append(rbo)
    if options.variant in (None, "lifo"):
        lifo = Group("lifo", [])
        with (options.data / "lifo" / "known_values.csv").open() as stream:
            known = {
                f"{row['base']}.{row['n_nodes']}.type{row['type']}": row["B2_li2011_avg"]
                for row in csv.DictReader(stream)
            }
        files = sorted((options.data / "lifo").glob("*.pdtspl"))
        for path in [path for path in files if known.get(path.stem)][: options.count]:
            lifo.instances.append(n2s.read(path))
            lifo.reference.append(float(known[path.stem]))
        groups.append(lifo)
    for group in groups:
        if not group.instances:
            raise SystemExit(f"there are no files of {group.name} in {options.data}")
    return groups


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=list(DEFAULTS), default="uniform")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--count", type=int, help="instances (of each group)")
    parser.add_argument("--variant", choices=[variant.value for variant in Variant])
    parser.add_argument("--seconds", type=float, nargs="+", help="ours; other peers get the most")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="peers get the first")
    parser.add_argument("--seed", type=int, default=2022, help="of the generated instances")
    parser.add_argument("--peers", nargs="*", choices=list(peers.PEERS))
    parser.add_argument("--trials", type=int, default=10_000, help="of LKH-3; 0: seconds instead")
    parser.add_argument("--hgs-seconds", type=float, default=HGS_SECONDS)
    parser.add_argument("--limit", type=float, default=3600.0, help="end a peer with trials then")
    parser.add_argument("--threads", type=int, default=1, help="cores of everybody")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--data", type=Path, default=DATA)
    suite = parser.parse_known_args()[0].suite
    parser.set_defaults(**DEFAULTS[suite])
    return parser.parse_args()


def main() -> None:
    begun = time.monotonic()
    options = arguments()

    def say(message: str) -> None:
        print(f"{time.monotonic() - begun:7.1f} s  {message}", file=sys.stderr, flush=True)

    groups = from_files(options) if options.suite == "files" else generated(options)
    ours = Ours(options.method, options.threads, groups)
    results = {group.name: measure(group, options, ours, say) for group in groups}
    ours.close()
    report = {
        "hardware": hardware(),
        "suite": options.suite,
        "method": options.method,
        "seeds": options.seeds,
        "cores": options.threads,
        "clock": CLOCK,
        **results,
        "wall_clock_seconds": round(time.monotonic() - begun, 1),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

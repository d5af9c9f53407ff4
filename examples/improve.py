"""Read an instance, build a random route and improve it with the package's kernels.

One request at a time is taken out and put back by the heat bath, while the temperature falls: the
classical skeleton of what the N2S policy learns to do better.

    python examples/improve.py examples/city.csv --variant lifo --out build/solve
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import n2s
from n2s import kernels
from n2s.problem import Evaluation, evaluate_nodes, random_tour
from n2s.report import figure_bytes, route_figure


def improve(instance: n2s.Instance, steps: int, seed: int) -> tuple[Evaluation, Evaluation]:
    """(start, best) after ``steps`` annealed heat-bath moves from a random tour."""
    rng = np.random.default_rng(seed)
    n, code, costs = instance.n, instance.variant.code, instance.costs[None]
    tour = random_tour(n, instance.variant, rng)[None]  # (1, N)
    start = evaluate_nodes(instance, tour[0])
    current = start.cost
    best, best_cost = tour, current
    # From half to a twentieth of the mean edge of a good tour, which is about a third of this one's.
    mean_edge = start.cost / instance.size / 3
    for temperature in np.geomspace(mean_edge / 2, mean_edge / 20, steps):
        request = rng.integers(1, n + 1, 1)
        gain = kernels.removal_gains(costs, tour)[0, request[0] - 1]
        rest = kernels.remove_requests(tour, request)
        j, k, change = kernels.heat_bath_reinsertion(
            code, costs, rest, request, np.array([temperature]), rng.random((1, 2))
        )
        tour = kernels.insert_requests(rest, request, j, k)
        current += change[0] - gain
        if current < best_cost:
            best, best_cost = tour, current
    return start, evaluate_nodes(instance, best[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--variant", choices=[v.value for v in n2s.Variant])
    parser.add_argument("--steps", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="folder for the route files")
    arguments = parser.parse_args()

    instance = n2s.read(arguments.file)
    if arguments.variant:
        instance = replace(instance, variant=n2s.Variant(arguments.variant))
    if instance.capacity is not None and instance.weights.sum() > instance.capacity:
        raise n2s.UnsupportedError("a capacity that matters is not supported yet")
    begun = time.perf_counter()
    start, best = improve(instance, arguments.steps, arguments.seed)
    seconds = time.perf_counter() - begun

    table = Table(title=f"{instance.name} ({instance.variant})")
    for column in ("position", "stop", "leg", "cumulative", "load"):
        table.add_column(column, justify="left" if column == "stop" else "right")
    for stop in best.stops:
        table.add_row(
            str(stop.position),
            str(stop.id),
            f"{stop.leg:,.0f}",
            f"{stop.cumulative:,.0f}",
            f"{stop.load:g}",
        )
    Console().print(table)
    arguments.out.mkdir(parents=True, exist_ok=True)
    record = {"method": "heat bath", "steps": arguments.steps, "seed": arguments.seed}
    for suffix in ("json", "csv"):
        n2s.write_route(best, arguments.out / f"route.{suffix}", record)
    if instance.coordinates is not None:  # a bare matrix has no map
        n2s.write_route(best, arguments.out / "route.geojson", record)
    (arguments.out / "route.png").write_bytes(figure_bytes(route_figure(best), ".png"))
    verdict = "feasible" if best.feasible else "INFEASIBLE"
    print(
        f"random start {start.cost:,.1f} -> best {best.cost:,.1f} ({verdict}) after "
        f"{arguments.steps} steps, {seconds:.1f} s; route and picture in {arguments.out}/"
    )


if __name__ == "__main__":
    try:
        main()
    except n2s.N2SError as error:
        sys.exit(f"improve: {error}")

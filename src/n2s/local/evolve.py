"""The search: first tours annealed from hot, then children of good ones annealed from warm."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from n2s.local.landscape import Landscape
from n2s.local.plan import Settings, make_plan, settings_of
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray

CHUNK_SECONDS = 0.01
"""How often a chain looks up: the clock, the stop rule, an interrupt."""
TRIAL = 20
"""Iterations that tell how fast this machine is."""
OPEN_ENDED = 3000
"""Iterations for each request that a plan counts with where no limit is known."""


@dataclass(frozen=True)
class Watch:
    """How the search is watched from outside."""

    over: Callable[[int, float], bool]
    """Told iterations done and the best cost so far, says whether to stop; called from one thread."""
    steps: int | None = None
    """Iterations in all, if limited."""
    deadline: float | None = None
    """``time.monotonic()`` at which time is up, if limited."""


@dataclass
class _Tour:
    cost: float
    tour: IntArray


class _Board:
    """What chains in several threads tell each other: the best so far, and whether it is over."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.done = 0
        self.best: _Tour | None = None
        self.over = False
        self._lock = threading.Lock()

    def tell(self, iterations: int, cost: float, tour: IntArray) -> bool:
        """Enter what a chain has done; says whether to stop."""
        with self._lock:
            self.done += iterations
            if self.best is None or cost < self.best.cost:
                self.best = _Tour(cost, tour.copy())
            if not self.over:
                self.over = self.watch.over(self.done, self.best.cost)
            return self.over


@dataclass(frozen=True)
class _Job:
    """One annealing of one tour."""

    tour: IntArray
    seed: int
    hot: float
    cold: float
    iterations: int
    until: float | None
    """``time.monotonic()`` by which it must be cold, in a run against the clock."""


def search(
    land: Landscape,
    watch: Watch,
    generator: np.random.Generator,
    threads: int = 1,
    initial: IntArray | None = None,
    settings: Settings | None = None,
) -> tuple[float, IntArray, int]:
    """(cost, tour, iterations): the best tour found until the watch says stop.

    With a step limit and no clock the result depends on the generator and the number of threads alone:
    tours are annealed in rounds of one a thread, and enter the population in order.
    """
    settings = settings or settings_of(land.variant)
    board = _Board(watch)
    start = land.start(generator) if initial is None else initial
    edge = land.cost(start if initial is None else land.start(generator)) / land.size
    temperatures = [factor * (edge if edge > 0 else 1.0) for factor in _factors(settings)]
    hot, warm, cold = temperatures
    ruin = min(land.n, settings.ruin)
    if board.tell(0, land.cost(start), start):
        return _result(board)
    rate = _rate(land, start, cold, ruin) if watch.deadline is not None else math.inf
    plan = make_plan(settings, land.n, _budget(land, watch, rate, threads), threads)

    def run(job: _Job) -> _Tour:
        return _anneal(land, job, board, ruin, rate)

    def job(tour: IntArray, temperature: float, iterations: int) -> _Job:
        until = None
        if watch.deadline is not None:
            now = time.monotonic()
            until = min(watch.deadline, now + iterations / rate)
        if watch.steps is not None:
            # The last round shares what is left, so that every chain of it gets cold.
            iterations = min(iterations, max(1, -(-(watch.steps - board.done) // threads)))
        seed = int(generator.integers(2**63))
        return _Job(tour, seed, temperature, cold, iterations, until)

    population: list[_Tour] = []
    begun = 0
    with ThreadPoolExecutor(threads) as pool:
        while not board.over:
            jobs = []
            for _ in range(threads):
                if begun < plan.population:
                    if begun == 0:
                        jobs.append(job(start, hot if initial is None else warm, plan.first))
                    else:
                        jobs.append(job(land.start(generator), hot, plan.first))
                    begun += 1
                else:
                    tour = _offspring(land, population, board, settings, generator)
                    jobs.append(job(tour, warm, plan.child))
            found = list(map(run, jobs)) if threads == 1 else list(pool.map(run, jobs))
            for one in found:
                _enter(population, one, plan.population)
            board.tell(0, found[0].cost, found[0].tour)  # even if no chain had time for a chunk
    return _result(board)


def _factors(settings: Settings) -> tuple[float, float, float]:
    return settings.hot, settings.warm, settings.cold


def _result(board: _Board) -> tuple[float, IntArray, int]:
    if board.best is None:
        raise TypeError("the search ended before it began")
    return board.best.cost, board.best.tour, board.done


def _budget(land: Landscape, watch: Watch, rate: float, threads: int) -> float:
    """Iterations that the whole run will have, as far as known."""
    limits = [math.inf]
    if watch.deadline is not None:
        limits.append(max(0.0, watch.deadline - time.monotonic()) * rate * threads)
    if watch.steps is not None:
        limits.append(float(watch.steps))
    budget = min(limits)
    return OPEN_ENDED * land.n if budget == math.inf else budget


def _rate(land: Landscape, tour: IntArray, temperature: float, ruin: int) -> float:
    """Iterations a second, from a few."""
    state = np.zeros(1, np.uint64)
    cost = land.cost(tour)
    for _ in range(2):  # the first call may load the kernel
        began = time.monotonic()
        land.anneal(
            tour.copy(), tour.copy(), np.array([cost, cost]), state, TRIAL, temperature, 1.0, ruin
        )
    return TRIAL / max(time.monotonic() - began, 1e-6)


def _anneal(land: Landscape, job: _Job, board: _Board, ruin: int, rate: float) -> _Tour:
    """Cool one tour down, in chunks between which the board is told."""
    tour, best_tour = job.tour.copy(), job.tour.copy()
    cost = land.cost(tour)
    costs: FloatArray = np.array([cost, cost])
    state = np.array([job.seed], np.uint64)
    began = time.monotonic()
    chunk = _chunk(job, rate)
    done = 0
    while True:
        passed = done / job.iterations
        if job.until is not None:
            passed = (time.monotonic() - began) / max(job.until - began, 1e-9)
        if passed >= 1:
            break
        temperature = job.hot * (job.cold / job.hot) ** passed
        count = chunk if job.until is not None else min(chunk, job.iterations - done)
        span = count / job.iterations if job.until is None else count / (rate * (job.until - began))
        cooling = (job.cold / job.hot) ** (min(span, 1 - passed) / count)
        land.anneal(tour, best_tour, costs, state, count, temperature, cooling, ruin)
        done += count
        if board.tell(count, float(costs[1]), best_tour):
            break
    return _Tour(float(costs[1]), best_tour)


def _chunk(job: _Job, rate: float) -> int:
    """Iterations between two looks at the clock."""
    if job.until is None:
        return min(job.iterations, 1000)
    return max(1, int(rate * CHUNK_SECONDS))


def _offspring(
    land: Landscape,
    population: list[_Tour],
    board: _Board,
    settings: Settings,
    generator: np.random.Generator,
) -> IntArray:
    """A child of two tours, the better of a random two and any other."""
    if len(population) < 2 or not settings.crossover:
        return population[int(generator.integers(len(population)))].tour
    one = int(generator.integers(len(population), size=2).min())
    other = int(generator.integers(len(population) - 1))
    other += other >= one
    return land.child(population[one].tour, population[other].tour, generator)


def _enter(population: list[_Tour], one: _Tour, most: int) -> None:
    """Keep the best ``most`` tours of different cost, best first."""
    if all(abs(one.cost - other.cost) > 1e-9 * abs(other.cost) for other in population):
        population.append(one)
        population.sort(key=lambda tour: tour.cost)
        del population[most:]

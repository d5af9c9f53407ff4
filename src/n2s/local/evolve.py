"""The search: first tours annealed from hot, then children of good ones annealed from warm."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from n2s.local.chain import ChainMaker, Outset, annealed
from n2s.local.landscape import Landscape
from n2s.local.plan import Settings, make_plan, settings_of
from n2s.problem.instance import IntArray

CHUNK_SECONDS = 0.01
"""How often a chain looks up: the clock, the stop rule, an interrupt."""
CHUNK = 1000
"""The same in iterations, where no clock counts."""
TRIAL, TRIALS = 20, 5
"""Iterations that tell how fast this machine is, and how often they are timed."""
OPEN_ENDED = 3000
"""Iterations for each request that a plan counts with where no limit is known."""


@dataclass(frozen=True)
class Watch:
    """How the search is watched from outside."""

    over: Callable[[int, float], bool]
    """Told iterations done and the best cost so far, says whether to stop; by one thread at a time."""
    steps: int | None = None
    """Iterations in all, if limited."""
    deadline: float | None = None
    """``time.monotonic()`` at which time is up, if limited."""
    improved: Callable[[IntArray], None] | None = None
    """Given a copy of each new best tour, just before ``over`` is told its cost."""

    def spent(self, done: int) -> bool:
        """Whether a limit is reached."""
        return (self.steps is not None and done >= self.steps) or (
            self.deadline is not None and time.monotonic() >= self.deadline
        )


@dataclass
class _Tour:
    cost: float
    tour: IntArray


class _Board:
    """What chains in several threads tell each other: the best cost so far, and whether it is over."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.done = 0
        self.best = math.inf
        self.over = False
        self._lock = threading.Lock()

    def tell(self, iterations: int, cost: float, tour: IntArray) -> bool:
        """Enter what a chain has done and its best tour; says whether to stop."""
        with self._lock:
            self.done += iterations
            if cost < self.best:
                self.best = cost
                if self.watch.improved is not None:
                    self.watch.improved(tour.copy())
            if not self.over:
                self.over = True  # also if the watch fails: the other chains must not go on alone
                self.over = self.watch.over(self.done, self.best) or self.watch.spent(self.done)
            return self.over


@dataclass(frozen=True)
class _Job:
    """One annealing of one tour."""

    outset: Outset
    iterations: int | None
    """By which it must be cold, unless only the clock counts."""
    seconds: float | None
    """The same by the clock, from when the job begins, in a run against it."""


def search(
    land: Landscape,
    watch: Watch,
    generator: np.random.Generator,
    threads: int = 1,
    initial: IntArray | None = None,
    *,
    melt: bool = False,
    settings: Settings | None = None,
    make: ChainMaker | None = None,
) -> tuple[float, IntArray, int]:
    """(cost, tour, iterations): the best tour found until the watch says stop.

    With a step limit and no clock the result depends on the generator and the number of threads alone:
    tours are annealed in rounds of one a thread, and enter the population in order. A tour to begin with
    (``initial``) is taken for a good one unless it is to ``melt``. Chains are those of ``make``, by
    default annealed ones.
    """
    settings = settings or settings_of(land.variant)
    make = make or annealed(settings)
    board = _Board(watch)
    start = land.start(generator) if initial is None else initial
    scale = land.edge(start if initial is None else land.start(generator))
    best = _Tour(land.cost(start), start.copy())
    if board.tell(0, best.cost, best.tour):
        return best.cost, best.tour, board.done
    rate = _rate(land, make, start, scale) if watch.deadline is not None else math.inf
    plan = make_plan(settings, land.n, _budget(land, watch, rate, threads), threads)

    def run(job: _Job) -> _Tour:
        return _anneal(land, make, job, board, rate)

    def job(tour: IntArray, warm: bool, iterations: int, share: int | None) -> _Job:
        seconds = None if watch.deadline is None else iterations / rate
        limit = iterations if share is None else min(iterations, share)
        outset = Outset(
            tour, int(generator.integers(2**63)), scale, warm, limit, seconds is not None
        )
        by_clock = seconds is not None and share is None
        return _Job(outset, None if by_clock else limit, seconds)

    population: list[_Tour] = []
    begun = 0
    with ThreadPoolExecutor(threads) as pool:
        while not board.over:
            jobs = []
            for share in _shares(watch.steps, board.done, threads):
                if begun < plan.population:
                    if begun == 0:
                        first = job(start, initial is not None and not melt, plan.first, share)
                    else:
                        first = job(land.start(generator), False, plan.first, share)
                    jobs.append(first)
                    begun += 1
                else:
                    tour = _offspring(land, population, settings, generator)
                    jobs.append(job(tour, True, plan.child, share))
            found = list(map(run, jobs)) if threads == 1 else list(pool.map(run, jobs))
            # In the order of the jobs, whichever was ready first.
            for one in found:
                best = min(best, one, key=lambda tour: tour.cost)
                _enter(population, one, plan.population)
            board.tell(0, best.cost, best.tour)  # even if no chain had time for a chunk
    return best.cost, best.tour, board.done


def _shares(steps: int | None, done: int, threads: int) -> list[int | None]:
    """Most iterations of every job of a round: what is left is shared out, so that all of them get cold."""
    if steps is None:
        return [None] * threads
    each, more = divmod(steps - done, threads)
    return [each + (index < more) for index in range(threads if each else more)]


def _budget(land: Landscape, watch: Watch, rate: float, threads: int) -> float:
    """Iterations that the whole run will have, as far as known."""
    limits = [math.inf]
    if watch.deadline is not None:
        limits.append(max(0.0, watch.deadline - time.monotonic()) * rate * threads)
    if watch.steps is not None:
        limits.append(float(watch.steps))
    budget = min(limits)
    return OPEN_ENDED * land.n if budget == math.inf else budget


def _rate(land: Landscape, make: ChainMaker, tour: IntArray, scale: float) -> float:
    """Iterations a second, from a few."""
    # Loaded now, not when a plan counts on the time.
    land.child(tour, tour, np.random.default_rng(0))
    chain = make(land, Outset(tour, 0, scale, True, TRIALS * TRIAL, True))
    least = math.inf
    # The fastest counts: the first may load the kernel, others may be interrupted.
    for _ in range(TRIALS):
        began = time.monotonic()
        chain.advance(TRIAL, 1.0, 1.0)
        least = min(least, time.monotonic() - began)
    return TRIAL / max(least, 1e-6)


def _anneal(land: Landscape, make: ChainMaker, job: _Job, board: _Board, rate: float) -> _Tour:
    """Run one chain to its end, in chunks between which the board is told."""
    began = time.monotonic()
    chain = make(land, job.outset)
    seconds = math.inf if job.seconds is None else job.seconds
    if board.watch.deadline is not None:
        seconds = min(seconds, board.watch.deadline - began)
    most = math.inf if job.iterations is None else job.iterations
    chunk = CHUNK if job.seconds is None else max(1, int(rate * CHUNK_SECONDS))
    done, passed = 0, 0.0
    while seconds > 0 and passed < 1:  # one chunk at least, if there is time at all
        count = int(min(chunk, most - done))
        span = max(count / most, count / (rate * seconds))
        chain.advance(count, passed, min(passed + span, 1.0))
        done += count
        if board.tell(count, chain.best, chain.best_tour):
            break
        passed = max(done / most, (time.monotonic() - began) / seconds)
    return _Tour(chain.best, chain.best_tour)


def _offspring(
    land: Landscape,
    population: list[_Tour],
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

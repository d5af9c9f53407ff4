"""The public verb: ``solve`` one instance, ``solve_many`` of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import numpy as np

from n2s import kernels
from n2s.errors import InputError, N2SError, UnsupportedError
from n2s.model import FastPolicy, can_be_fast
from n2s.problem import Id, Instance, evaluate, random_tours
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray
from n2s.search import library
from n2s.search.interrupt import Interrupt, interruptible
from n2s.search.library import NamedPolicy
from n2s.search.loop import Decider, Tick, run
from n2s.search.network_view import NetworkView, network_view
from n2s.search.result import Solution, verified
from n2s.search.state import SearchState
from n2s.search.stop import AnyOf, make_stop
from n2s.search.symmetry import apply_symmetry, draw_symmetry

E = TypeVar("E", bound=StrEnum)

GENERAL_CLIP = 10.0
"""C off the training sizes, as in the paper's appendix."""
MOST_TOURS = 1024
"""Tours that ``solve_many`` steps together; more instances than that go one batch after the other."""
MOST_BYTES = 2**28
"""Cost matrices that ``solve_many`` holds at once."""
GREEDY_STARTS = 16
"""Different greedy tours; further copies of an instance begin with the same ones again."""


class Method(StrEnum):
    """How to search."""

    N2S = "n2s"
    """One tour, steps sampled from the policy."""
    N2S_A = "n2s-a"
    """Algorithm 2: many copies under symmetries of the square, the best of all."""


class Start(StrEnum):
    """Where a search begins without an initial route."""

    RANDOM = "random"
    GREEDY = "greedy"


@dataclass(frozen=True)
class Options:
    """Everything but the instance and the limits."""

    method: Method
    augments: int | None = None
    """A, the number of copies of N2S-A; default floor(N / 2)."""
    seed: int = 1
    checkpoint: str | Path | NamedPolicy | None = None
    start: Start = Start.RANDOM
    clip: float | None = None
    """C of the decoders; default: the policy's own at its training sizes, 10 elsewhere."""

    def __post_init__(self) -> None:
        for name in ("seed", "augments"):
            value = getattr(self, name)
            if type(value) is not int and not (name == "augments" and value is None):
                raise InputError(f"{name} must be a whole number, not {value!r}")
        if self.augments is not None and self.augments < 1:
            raise InputError(f"the number of augments must be at least 1, not {self.augments}")
        if self.augments is not None and self.method is Method.N2S and self.augments != 1:
            raise InputError("n2s searches one tour: augments belong to n2s-a")
        if self.seed < 0:
            raise InputError(f"the seed must not be negative, not {self.seed}")
        if self.clip is not None and not self.clip > 0:
            raise InputError(f"the clip must be positive, not {self.clip}")

    def copies(self, size: int) -> int:
        """Tours searched for one instance of N nodes."""
        if self.method is Method.N2S:
            return 1
        return size // 2 if self.augments is None else self.augments


def solve(
    instance: Instance,
    *,
    method: Method | str = Method.N2S_A,
    time_limit: float | None = None,
    steps: int | None = None,
    no_improvement: int | None = None,
    target: float | None = None,
    seed: int = 1,
    augments: int | None = None,
    checkpoint: str | Path | NamedPolicy | None = None,
    initial: Sequence[Id] | None = None,
    start: Start | str = Start.RANDOM,
    clip: float | None = None,
    callback: Callable[[Tick], None] | None = None,
    started: float | None = None,
    interrupt: Interrupt | None = None,
) -> Solution:
    """Search a short route for one instance.

    Parameters
    ----------
    method
        ``n2s`` (one tour) or ``n2s-a`` (Algorithm 2 of the paper, the default).
    time_limit, steps, no_improvement, target
        When to stop: the first that applies. Without a limit, 1,000 steps.
    seed
        The same seed and step budget give the same route; a time budget does not.
    augments
        Copies of ``n2s-a``; default floor(N / 2).
    checkpoint
        Name or file of a policy, or one at hand; default: the shipped one trained nearest to this size.
    initial
        A feasible route to start from, by the user's ids; the result is never worse.
    start
        Without ``initial``: ``random`` tours as in the paper, or ``greedy`` insertion.
    clip
        C of the decoders; default: the policy's own at its training sizes, 10 elsewhere.
    callback
        Called after every step with a :class:`Tick`.
    started
        ``time.monotonic()`` from which the time counts; default now.
    interrupt
        Asks to stop; default: one that listens to SIGINT and SIGTERM during the call.

    Returns
    -------
    Solution
        Verified by code that shares nothing with the search. Ctrl-C and SIGTERM return the best so far.
    """
    options = Options(
        _member(Method, method, "method"),
        augments,
        seed,
        checkpoint,
        _member(Start, start, "start"),
        clip,
    )
    begun = time.monotonic() if started is None else started
    if time_limit is None and steps is None and no_improvement is None:
        steps = 1000
    stop = make_stop(time_limit, steps, no_improvement, target)
    _check_capacity(instance)
    named = library.find(checkpoint, instance.variant, instance.size)
    warm = None if initial is None else _warm(instance, initial)
    with _listening(interrupt) as listener:
        (solution,) = _search([instance], named, options, stop, begun, warm, callback, listener)
    return solution


class SolveManyError(N2SError):
    """Some of many instances could not be solved; the others were."""

    def __init__(self, failures: dict[int, str], solutions: list[Solution | None]) -> None:
        index, message = next(iter(failures.items()))
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        super().__init__(f"instance {index} failed: {message}{more}")
        self.failures = failures
        self.solutions = solutions
        """In input order, None where one failed."""


def solve_many(
    instances: Sequence[Instance],
    *,
    method: Method | str = Method.N2S_A,
    time_limit: float | None = None,
    steps: int | None = None,
    no_improvement: int | None = None,
    seed: int = 1,
    augments: int | None = None,
    checkpoint: str | Path | NamedPolicy | None = None,
    start: Start | str = Start.RANDOM,
    clip: float | None = None,
    progress: bool = False,
    callback: Callable[[int, int], None] | None = None,
) -> list[Solution]:
    """Search routes for many instances, those of equal size together; results in input order.

    A step budget counts for every instance, a time limit for every batch of instances stepped together.
    With a step budget each instance gets the route that ``solve`` would give it. ``progress`` shows a bar
    on standard error, ``callback`` is told how many of how many are done.

    Raises
    ------
    SolveManyError
        If some instances failed, after all others were solved; it holds their solutions.
    """
    options = Options(
        _member(Method, method, "method"),
        augments,
        seed,
        checkpoint,
        _member(Start, start, "start"),
        clip,
    )
    if time_limit is None and steps is None and no_improvement is None:
        steps = 1000
    stop = make_stop(time_limit, steps, no_improvement, None)
    groups: dict[tuple[int, str], list[int]] = {}
    failures: dict[int, str] = {}
    instances = list(instances)
    for index, instance in enumerate(instances):
        try:
            _check_capacity(instance)
            library.find(checkpoint, instance.variant, instance.size)
            groups.setdefault((instance.size, instance.variant.value), []).append(index)
        except N2SError as error:
            failures[index] = f"{instance.name}: {error}"
    solutions: list[Solution | None] = [None] * len(instances)

    def attempt(part: list[int], listener: Interrupt) -> None:
        batch = [instances[index] for index in part]
        named = library.find(checkpoint, batch[0].variant, batch[0].size)
        try:
            found = _search(batch, named, options, stop, time.monotonic(), None, None, listener)
        except Exception as error:  # whatever it is, it must not cost the others their routes
            if len(part) > 1:
                for index in part:
                    attempt([index], listener)
            else:
                failures[part[0]] = f"{batch[0].name}: {error}"
            return
        for index, solution in zip(part, found, strict=True):
            solutions[index] = solution

    done = 0
    with _listening(None) as listener, _bar(progress, len(instances)) as advance:
        for (size, _), members in groups.items():
            fitting = min(MOST_TOURS // options.copies(size), MOST_BYTES // (16 * size**2))
            together = max(1, fitting)
            for first in range(0, len(members), together):
                part = members[first : first + together]
                attempt(part, listener)
                done += len(part)
                advance(len(part))
                if callback is not None:
                    callback(done, len(instances))
    if failures:
        raise SolveManyError(dict(sorted(failures.items())), solutions)
    return [solution for solution in solutions if solution is not None]


def _search(
    instances: Sequence[Instance],
    named: NamedPolicy,
    options: Options,
    stop: AnyOf,
    started: float,
    warm: IntArray | None,
    callback: Callable[[Tick], None] | None,
    interrupt: Interrupt,
) -> list[Solution]:
    """Search instances of one size and variant together."""
    size, variant = instances[0].size, instances[0].variant
    copies = options.copies(size)
    generators = [np.random.default_rng(options.seed) for _ in instances]
    views = [network_view(instance) for instance in instances]
    costs = np.stack([instance.costs for instance in instances])
    tours, points = [], []
    for index, (view, generator) in enumerate(zip(views, generators, strict=True)):
        tours.append(_start(instances[index], costs[index], copies, options, warm, generator))
        points.append(_copies(view, copies, options.method, generator))
    state = SearchState(
        variant,
        np.concatenate(points),
        costs,
        np.array([view.scale for view in views]),
        np.concatenate(tours),
        window=size // 2,  # K of the paper's inference
    )
    decider = _decider(named, options, size)
    outcome = run(state, decider, stop, generators, started, interrupt, callback)
    solutions = []
    for index, instance in enumerate(instances):
        best = index * copies + int(state.best[index * copies : (index + 1) * copies].argmin())
        solutions.append(
            Solution(
                verified(instance, state.best_tours[best].tolist(), float(state.best[best])),
                method=options.method.value,
                seed=options.seed,
                steps=state.step,
                seconds=time.monotonic() - started,
                stopped=outcome.stopped,
                history=outcome.histories[index],
                checkpoint=named.label,
            )
        )
    return solutions


@contextmanager
def _bar(shown: bool, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar to advance, or nothing."""
    if not shown:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("solving", total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def _listening(interrupt: Interrupt | None) -> Iterator[Interrupt]:
    """The caller's interrupt, or one of our own for the time of the search."""
    if interrupt is not None:
        yield interrupt
    else:
        with interruptible() as own:
            yield own


def _decider(named: NamedPolicy, options: Options, size: int) -> Decider:
    clip = options.clip
    if clip is None and named.sizes and size not in named.sizes:
        clip = GENERAL_CLIP
    policy = named.policy if clip is None else named.policy.with_clip(clip)
    return FastPolicy(policy) if can_be_fast(policy) else policy


def _start(
    instance: Instance,
    costs: FloatArray,
    copies: int,
    options: Options,
    warm: IntArray | None,
    generator: np.random.Generator,
) -> IntArray:
    """(copies, N) tours to begin with."""
    if warm is not None:
        return np.repeat(warm[None], copies, 0)
    if options.start is Start.GREEDY:
        count = min(copies, GREEDY_STARTS)
        orders = np.stack([generator.permutation(instance.n) + 1 for _ in range(count)])
        greedy: IntArray = kernels.greedy_tours(instance.variant.code, costs[None], orders)
        return greedy[np.arange(copies) % count]
    return random_tours(instance.n, instance.variant, copies, generator)


def _copies(
    view: NetworkView, copies: int, method: Method, generator: np.random.Generator
) -> FloatArray:
    """(copies, N, 2) the instance as each copy sees it."""
    if method is Method.N2S:
        return np.repeat(view.points[None], copies, 0)
    return np.stack([apply_symmetry(view.points, draw_symmetry(generator)) for _ in range(copies)])


def _warm(instance: Instance, initial: Sequence[Id]) -> IntArray:
    evaluation = evaluate(instance, initial)
    if not evaluation.feasible:
        raise InputError(f"the initial route is infeasible: {evaluation.violations[0].message}")
    return np.array(evaluation.nodes, dtype=np.int64)


def _check_capacity(instance: Instance) -> None:
    if instance.capacity is not None and instance.weights.sum() > instance.capacity:
        raise UnsupportedError(
            f"the capacity {instance.capacity:g} is less than all loads together "
            f"({instance.weights.sum():g}): such searches are not supported yet"
        )


def _member(kind: type[E], value: str, what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise InputError(f"the {what} is {value!r}, not one of {', '.join(kind)}") from None

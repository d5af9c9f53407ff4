"""The public verb: ``solve`` one instance, ``solve_many`` of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from n2s.errors import InputError, N2SError, UnsupportedError
from n2s.problem import Id, Instance, evaluate
from n2s.problem.instance import IntArray
from n2s.search.interrupt import Interrupt, interruptible
from n2s.search.native_search import search_natively
from n2s.search.options import Method, Options, Start, member
from n2s.search.result import Solution
from n2s.search.stop import AnyOf, make_stop
from n2s.search.tick import Tick

if TYPE_CHECKING:
    from n2s.search.library import NamedPolicy

MOST_TOURS = 1024
"""Tours that ``solve_many`` steps together; more instances than that go one batch after the other."""
MOST_BYTES = 2**28
"""Cost matrices that ``solve_many`` holds at once."""
POLICY_STEPS = 1000
"""Steps of a policy where no limit is given."""
NATIVE_STEPS = 3000
"""Steps of the native search for each request where no limit is given."""


def solve(
    instance: Instance,
    *,
    method: Method | str = Method.AUTO,
    time_limit: float | None = None,
    steps: int | None = None,
    no_improvement: int | None = None,
    target: float | None = None,
    seed: int = 1,
    augments: int | None = None,
    checkpoint: str | Path | NamedPolicy | None = None,
    initial: Sequence[Id] | None = None,
    start: Start | str | None = None,
    clip: float | None = None,
    threads: int | None = None,
    native: str | Path | None = None,
    every: int | None = None,
    callback: Callable[[Tick], None] | None = None,
    started: float | None = None,
    interrupt: Interrupt | None = None,
) -> Solution:
    """Search a short route for one instance.

    Parameters
    ----------
    method
        ``auto`` (the default: the best by measurement), ``anneal`` (the native search), ``native`` (the
        same with steps of the native policy), ``native+n2s`` (those with a network's scores as further
        terms), ``n2s`` (one tour stepped by a network) or ``n2s-a`` (Algorithm 2 of the paper).
    time_limit, steps, no_improvement, target
        When to stop: the first that applies. Without a limit, 3,000 steps a request (policies: 1,000).
    seed
        The same seed, step budget and number of threads give the same route; a time budget does not.
    augments
        Copies of ``n2s-a``; default floor(N / 2).
    checkpoint
        Name or file of a policy, or one at hand; default: the shipped one trained nearest to this size.
    initial
        A feasible route to start from, by the user's ids; the result is never worse.
    start
        Of a policy without ``initial``: ``random`` tours as in the paper, or ``greedy`` insertion; a
        network begins with the former unless told otherwise, a native policy with the latter.
    clip
        C of the decoders; default: the policy's own at its training sizes, 10 elsewhere.
    threads
        Of the native search; default: all cores.
    native
        Name or file of the native policy of ``native+n2s``, where ``checkpoint`` is the network.
    every
        Steps after which a chain of ``native+n2s`` asks the network again; default 15,000 + 5 n^2.
    callback
        Called after every step, or some of them, with a :class:`Tick`.
    started
        ``time.monotonic()`` from which the time counts; default now.
    interrupt
        Asks to stop; default: one that listens to SIGINT and SIGTERM during the call.

    Returns
    -------
    Solution
        Verified by code that shares nothing with the search. Ctrl-C and SIGTERM return the best so far.
    """
    options = _options(method, augments, seed, checkpoint, start, clip, threads, native, every)
    begun = time.monotonic() if started is None else started
    if time_limit is None and no_improvement is None:
        steps = _default_steps(options, instance) if steps is None else steps
    stop = make_stop(time_limit, steps, no_improvement, target)
    _check_capacity(instance)
    warm = None if initial is None else _warm(instance, initial)
    with _listening(interrupt) as listener:
        if not options.method.neural:
            return search_natively(instance, options, stop, begun, warm, callback, listener)
        from n2s.search import library
        from n2s.search.policy_search import search_with_policy

        named = library.find(checkpoint, instance.variant, instance.size)
        (solution,) = search_with_policy(
            [instance], named, options, stop, begun, warm, callback, listener
        )
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
    method: Method | str = Method.AUTO,
    time_limit: float | None = None,
    steps: int | None = None,
    no_improvement: int | None = None,
    seed: int = 1,
    augments: int | None = None,
    checkpoint: str | Path | NamedPolicy | None = None,
    start: Start | str | None = None,
    clip: float | None = None,
    threads: int | None = None,
    native: str | Path | None = None,
    every: int | None = None,
    progress: bool = False,
    callback: Callable[[int, int], None] | None = None,
    interrupt: Interrupt | None = None,
) -> list[Solution]:
    """Search routes for many instances; results in input order.

    The native search takes one instance a thread; a policy steps those of equal size together. A step
    budget counts for every instance, a time limit for every instance (native) or for every batch of
    instances stepped together (policies). With a step budget each instance gets the route that ``solve``
    would give it (the native one: with one thread). ``progress`` shows a bar on standard error,
    ``callback`` is told how many of how many are done, ``interrupt`` as in ``solve``.

    Raises
    ------
    SolveManyError
        If some instances failed, after all others were solved; it holds their solutions.
    """
    options = _options(method, augments, seed, checkpoint, start, clip, threads, native, every)
    make_stop(time_limit, 0 if steps is None else steps, no_improvement, None)  # or what is wrong
    instances = list(instances)
    found: list[Solution | None] = [None] * len(instances)
    failures: dict[int, str] = {}
    done = 0

    with _listening(interrupt) as listener, _bar(progress, len(instances)) as advance:

        def finished(part: Sequence[int]) -> None:
            nonlocal done
            done += len(part)
            advance(len(part))
            if callback is not None:
                callback(done, len(instances))

        def limits(instance: Instance) -> AnyOf:
            budget = steps
            if steps is None and time_limit is None and no_improvement is None:
                budget = _default_steps(options, instance)
            return make_stop(time_limit, budget, no_improvement, None)

        solver = _many_with_policy if options.method.neural else _many_natively
        solver(instances, options, limits, listener, found, failures, finished)
    if failures:
        raise SolveManyError(dict(sorted(failures.items())), found)
    return [solution for solution in found if solution is not None]


Limits = Callable[[Instance], AnyOf]
Finished = Callable[[Sequence[int]], None]


def _many_natively(
    instances: list[Instance],
    options: Options,
    limits: Limits,
    listener: Interrupt,
    found: list[Solution | None],
    failures: dict[int, str],
    finished: Finished,
) -> None:
    """One instance a thread."""
    alone = replace(options, threads=1)

    def attempt(index: int) -> int:
        instance = instances[index]
        try:
            _check_capacity(instance)
            found[index] = search_natively(
                instance, alone, limits(instance), time.monotonic(), None, None, listener
            )
        except Exception as error:  # whatever it is, it must not cost the others their routes
            failures[index] = f"{instance.name}: {error}"
        return index

    with ThreadPoolExecutor(options.cores) as pool:
        for index in pool.map(attempt, range(len(instances))):
            finished([index])


def _many_with_policy(
    instances: list[Instance],
    options: Options,
    limits: Limits,
    listener: Interrupt,
    found: list[Solution | None],
    failures: dict[int, str],
    finished: Finished,
) -> None:
    """Instances of equal size and variant together, as many as fit into memory."""
    from n2s.search import library
    from n2s.search.policy_search import search_with_policy

    checkpoint = options.checkpoint
    groups: dict[tuple[int, str], list[int]] = {}
    for index, instance in enumerate(instances):
        try:
            _check_capacity(instance)
            library.find(checkpoint, instance.variant, instance.size)
            groups.setdefault((instance.size, instance.variant.value), []).append(index)
        except N2SError as error:
            failures[index] = f"{instance.name}: {error}"
            finished([index])

    def attempt(part: list[int]) -> None:
        batch = [instances[index] for index in part]
        named = library.find(checkpoint, batch[0].variant, batch[0].size)
        stop = limits(batch[0])
        try:
            solutions = search_with_policy(
                batch, named, options, stop, time.monotonic(), None, None, listener
            )
        except Exception as error:  # whatever it is, it must not cost the others their routes
            if len(part) > 1:
                for index in part:
                    attempt([index])
            else:
                failures[part[0]] = f"{batch[0].name}: {error}"
            return
        for index, solution in zip(part, solutions, strict=True):
            found[index] = solution

    for (size, _), members in groups.items():
        fitting = min(MOST_TOURS // options.copies(size), MOST_BYTES // (16 * size**2))
        together = max(1, fitting)
        for first in range(0, len(members), together):
            part = members[first : first + together]
            attempt(part)
            finished(part)


def _options(
    method: Method | str,
    augments: int | None,
    seed: int,
    checkpoint: str | Path | NamedPolicy | None,
    start: Start | str | None,
    clip: float | None,
    threads: int | None,
    native: str | Path | None,
    every: int | None,
) -> Options:
    return Options(
        member(Method, method, "method"),
        augments,
        seed,
        checkpoint,
        None if start is None else member(Start, start, "start"),
        clip,
        threads,
        native,
        every,
    )


def _default_steps(options: Options, instance: Instance) -> int:
    return POLICY_STEPS if options.method.neural else NATIVE_STEPS * instance.n


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

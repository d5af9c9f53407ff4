"""Searching with a policy: N2S and N2S-A over a batch of instances of one size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from n2s import kernels
from n2s.model import quickest
from n2s.model.prior import rebuilt_in, rounds_in
from n2s.problem import Instance, random_tours
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray
from n2s.search.interrupt import Interrupt
from n2s.search.library import NamedPolicy
from n2s.search.loop import Decider, run
from n2s.search.network_view import NetworkView, network_view
from n2s.search.options import Method, Options, Start
from n2s.search.result import Solution, verified
from n2s.search.rounds import Rounds
from n2s.search.state import SearchState
from n2s.search.stop import MOST_STEPS, AnyOf, Steps
from n2s.search.symmetry import apply_symmetry, draw_symmetry
from n2s.search.tick import Tick

GENERAL_CLIP = 10.0
"""C off the training sizes, as in the paper's appendix."""
WARM = 0.5
"""Where the schedule of a policy that knows its budget begins with a route of the user's."""
GREEDY_STARTS = 16
"""Different greedy tours; further copies of an instance begin with the same ones again."""


def search_with_policy(
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
    given = warm is not None or options.start is Start.GREEDY
    limits = [rule.limit for rule in stop.rules if isinstance(rule, Steps)]
    state = SearchState(
        variant,
        np.concatenate(points),
        costs,
        np.array([view.scale for view in views]),
        np.concatenate(tours),
        window=size // 2,  # K of the paper's inference
        total=np.full(len(instances) * copies, float(min(*limits, MOST_STEPS))) if limits else None,
    )
    state.given[:] = given
    rounds = None
    if named.policy.config.build and not given:
        n = instances[0].n
        rounds = Rounds(
            lambda total: rounds_in(named.policy, total / n), n, rebuilt_in(named.policy)
        )
    if warm is not None:
        state.first = WARM
    decider = _decider(named, options, size)
    outcome = run(state, decider, stop, generators, started, interrupt, callback, rounds)
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


def _decider(named: NamedPolicy, options: Options, size: int) -> Decider:
    clip = options.clip
    if clip is None and named.sizes and size not in named.sizes:
        clip = GENERAL_CLIP
    policy = named.policy if clip is None else named.policy.with_clip(clip)
    return quickest(policy)


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

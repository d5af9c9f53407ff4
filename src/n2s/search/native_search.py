"""The native search of one instance, watched by the stop rules."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from n2s.errors import InputError
from n2s.local import ChainMaker, Landscape, Settings, Watch, landscape_of, search
from n2s.local.landscape import LONG
from n2s.native import NativePolicy, bridged_chains, find, native_chains, native_settings
from n2s.native.bridge import check_size
from n2s.problem import Instance, Variant, random_tour
from n2s.problem.instance import IntArray
from n2s.search.interrupt import Interrupt
from n2s.search.options import POLICIES, Method, Options, Start
from n2s.search.result import HistoryPoint, Solution, verified
from n2s.search.stop import AnyOf, Seconds, Standing, Steps
from n2s.search.tick import Tick


def search_natively(
    instance: Instance,
    options: Options,
    stop: AnyOf,
    started: float,
    warm: IntArray | None,
    callback: Callable[[Tick], None] | None,
    interrupt: Interrupt,
) -> Solution:
    """Anneal until the rule says stop."""
    history: list[HistoryPoint] = []
    reason = ""
    best_tour: IntArray | None = None

    def improved(tour: IntArray) -> None:
        nonlocal best_tour
        best_tour = tour

    def over(step: int, best: float) -> bool:
        nonlocal reason
        seconds = time.monotonic() - started
        # Sums in another order may differ in the last bits: no improvement.
        if not history or best < history[-1].best - 1e-12 * abs(history[-1].best):
            history.append(HistoryPoint(step, seconds, best))
        if callback is not None:
            callback(Tick(step, seconds, best, best, best_tour))
        if interrupt.asked:
            reason = "interrupted"
        else:
            reason = stop.reason(Standing(step, seconds, best, history[-1].step)) or ""
        return reason != ""

    steps = [rule.limit for rule in stop.rules if isinstance(rule, Steps)]
    limits = [rule.limit for rule in stop.rules if isinstance(rule, Seconds)]
    watch = Watch(
        over,
        steps=min(steps, default=None),
        deadline=started + min(limits) if limits else None,
        improved=None if callback is None else improved,
    )
    generator = np.random.default_rng(options.seed)
    make: ChainMaker | None = None
    settings: Settings | None = None
    checkpoint = ""
    melt = False
    method = chosen(options, instance)
    if method is Method.NATIVE_N2S:
        check_size(instance.size)
    policy = find(options.native_policy, instance.variant) if method in POLICIES else None
    land = landscape_of(instance)
    if policy is not None:
        make, settings = native_chains(policy), native_settings(instance.variant)
        checkpoint = f"native {policy.sha256[:12]}"
        if method is Method.NATIVE_N2S:
            make, network = _bridged(instance, land, policy, options)
            checkpoint = f"{network}, {checkpoint}"
        if warm is None and options.start is Start.RANDOM:
            warm, melt = random_tour(instance.n, instance.variant, generator), True
    cost, tour, done = search(
        land, watch, generator, options.cores, warm, melt=melt, settings=settings, make=make
    )
    return Solution(
        verified(instance, tour.tolist(), cost),
        method=method.value,
        checkpoint=checkpoint,
        seed=options.seed,
        steps=done,
        seconds=time.monotonic() - started,
        stopped=reason
        or "time",  # which may have come between the rule's look at the clock and the search's
        history=tuple(history),
    )


def _bridged(
    instance: Instance, land: Landscape, policy: NativePolicy, options: Options
) -> tuple[ChainMaker, str]:
    """Chains that hear a network, and its name and hash."""
    if not policy.bridge.any():
        raise InputError(
            "the native policy has no weights for a network's scores: evolve one that has "
            "(presets/native-bridge-*.toml) and name it (--native)"
        )
    from n2s.search.bridging import bridge_of, network  # loads torch

    named = network(options.checkpoint, instance.variant, instance.size)
    bridge = bridge_of(named, instance, land, options.every)
    return bridged_chains(policy, bridge), named.label


def chosen(options: Options, instance: Instance) -> Method:
    """The method that ``auto`` stands for, by the measurements in docs/solver.md."""
    if options.method is not Method.AUTO:
        return options.method
    learned = instance.variant is not Variant.PDTSP and instance.size < LONG
    return Method.NATIVE if learned else Method.ANNEAL

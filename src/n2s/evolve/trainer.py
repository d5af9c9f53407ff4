"""The loop: candidates, tasks, losses, a step of the strategy; kept and continued exactly."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import n2s
from n2s.errors import InputError, located
from n2s.evolve.config import EvolveConfig, budgets_of, config_of
from n2s.evolve.state import FILE, State, load_state, save_state
from n2s.evolve.strategy import strategy_of
from n2s.evolve.tasks import BridgeOf, Task, draw_tasks, task_of
from n2s.kernels.native_decisions import BEGIN, COLD, HOT, LAYOUT, builds, looks_around
from n2s.local import Watch, search
from n2s.native import NativePolicy, save
from n2s.native.parts import Part, only, switched_off
from n2s.problem import Instance, Variant, generate
from n2s.problem.distance import FloatArray
from n2s.search.interrupt import Interrupt
from n2s.search.options import usable_cores
from n2s.train.metrics import MetricsLog

POLICY_FILE = "policy.json"
NOTHING = -1
FIRST_LAYERS = ("removal/features", "removal/views", "removal/bias", "heat/views", "heat/bias")
"""Where a fresh policy has random weights, so that the layer behind, all zeros, has something to use."""
LIBRARIES = ("numpy", "numba", "cmaes")
"""What a run has to be made with again to be the same."""
FIRST_BUILDING = {
    Variant.PDTSP: (math.log(0.05), 0.0, 1.0, math.log(0.5)),
    Variant.LIFO: (math.log(0.05), math.log(20.0), 1.0, 0.0),
}
"""The block "build" of a policy that begins to build: nearly the cheapest places, a round for each step a
request, half of the tour anew in each. Where a stack leaves few places among what stays: all of it, and a
round for every 20 steps."""
FIRST_RANGE = (math.log(0.6) - HOT, math.log(0.1 / 0.6) - (COLD - HOT))
"""And its block "heat/range": from 0.6 to 0.1 mean edges, since what was just built is not to melt."""
LEAST_SPREAD = 1e-4
"""Relative differences in cost below which a task tells nothing."""

Tell = Callable[[str], None]


def fresh(seed: int) -> FloatArray:
    """Parameters that behave as zeros do and can learn."""
    generator = np.random.default_rng(seed)
    parts = [
        generator.normal(0.0, 0.5, length) if name in FIRST_LAYERS else np.zeros(length)
        for name, length in LAYOUT.items()
    ]
    return np.concatenate(parts)


def network_of(config: EvolveConfig) -> tuple[str, BridgeOf | None]:
    """The label of the network that a configuration names, and bridges to it; or neither."""
    tasks = config.tasks
    if not tasks.checkpoint:
        return "", None
    from n2s.search.bridging import bridge_of, network  # loads torch

    named = network(tasks.checkpoint, tasks.variant, max(tasks.sizes))
    return named.label, lambda instance, land: bridge_of(named, instance, land)


def origin_of(start: NativePolicy) -> dict[str, Any]:
    """What a run began with, and how that was trained: the configurations of a whole line of descent."""
    return {"sha256": start.sha256, "training": start.record}


def losses_of(costs: FloatArray) -> FloatArray:
    """(candidates,) from (candidates, tasks): every task counts the same, however hard it is.

    Differences are relative to the mean cost of a task and measured in their own spread, or tasks with
    small budgets, where differences are large, would drown the others.
    """
    mean = costs.mean(0)
    relative = (costs - mean) / np.where(mean > 0, mean, 1.0)  # all stops may be at one place
    result: FloatArray = (relative / (relative.std(0) + LEAST_SPREAD)).mean(1)
    return result


class Trainer:
    """A run in a folder: its latest state, its policy, its metrics."""

    def __init__(
        self,
        config: EvolveConfig,
        folder: str | Path,
        preset: str = "",
        start: NativePolicy | None = None,
        state: State | None = None,
    ) -> None:
        self.config = config
        self.folder = Path(folder)
        self.preset = preset
        if start is not None and start.variant is not config.tasks.variant:
            raise InputError(
                f"the policy to begin with is for {start.variant}, the tasks are {config.tasks.variant}"
            )
        if start is not None and config.tasks.work:
            for does, what in ((looks_around, "looks around"), (builds, "builds tours")):
                if does(start.theta):
                    raise InputError(
                        f"the policy to begin with {what}, which is not counted as work, but there "
                        "are tasks.work"
                    )
        theta = fresh(config.tasks.seed) if start is None else start.theta.copy()
        self._origin = {} if start is None else origin_of(start)
        if state is not None:
            # What is not searched is what the run began with.
            theta = NativePolicy(config.tasks.variant, state["theta"]).theta.copy()
            self._origin = state["origin"]
        self._network, self._bridge_of = network_of(config)
        self._theta, self._free = switched_off(theta, config.strategy.without)
        if config.strategy.only:
            self._free &= only(config.strategy.only)
        if self._bridge_of is None:  # nothing could be learned about its weights
            self._free &= ~only((Part.BRIDGE,))
        if not config.strategy.outlook:
            self._free &= ~only((Part.OUTLOOK,))
        if not config.strategy.build:
            self._free &= ~only((Part.BUILD,))
        elif not builds(self._theta):
            self._theta[only((Part.BUILD,))] = FIRST_BUILDING[config.tasks.variant]
            begin = BEGIN["heat/range"]
            if self._free[begin]:
                self._theta[begin : begin + 2] = FIRST_RANGE
        self.strategy = strategy_of(config.strategy, self._theta[self._free])
        self.generation = 0
        self.seconds = 0.0
        self.steps = 0
        self._references: dict[int, list[float]] = {}
        if state is not None:
            self.generation, self.steps = state["generation"], state["steps"]
            self.seconds = state["seconds"]
            if state["network"] != self._network:
                raise InputError(
                    f"the run was begun with the network {state['network']}, which is now "
                    f"{self._network}",
                    str(folder),
                )
            self._references = {int(size): costs for size, costs in state["references"].items()}
            self.strategy.recall(state["strategy"])
        self._checks = self._validation_tasks()

    @classmethod
    def resume(cls, folder: str | Path) -> Trainer:
        """The run in a folder, where its last checkpoint stands."""
        state = load_state(folder)
        with located(str(folder)):
            config = config_of(state["config"])
        try:
            return cls(config, folder, state["preset"], None, state)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            # Whole, but of other versions of the policy or of the library behind the strategy.
            raise InputError(
                f"is no state that can be continued here ({error})", str(Path(folder) / FILE)
            ) from None

    @property
    def policy(self) -> NativePolicy:
        """The policy where the strategy stands."""
        record: dict[str, Any] = {
            "preset": self.preset,
            "generations": self.generation,
            "steps": self.steps,
            "minutes": round(self.seconds / 60, 1),
            "versions": {"n2s": n2s.__version__, **{name: version(name) for name in LIBRARIES}},
            "config": self.config.as_table(),
        }
        if self._network:
            record["network"] = self._network
        if self._origin:
            record["from"] = self._origin
        return NativePolicy(self.config.tasks.variant, self._whole(self.strategy.mean), record)

    def _whole(self, free: FloatArray) -> FloatArray:
        """All parameters, from those that are searched."""
        theta = self._theta.copy()
        theta[self._free] = free
        return theta

    @property
    def _begun(self) -> bool:
        """Whether all that comes before the first generation is done."""
        return len(self._references) == len(set(self.config.validation.sizes))

    @property
    def finished(self) -> bool:
        """Whether all generations are done."""
        return self.generation >= self.config.strategy.generations

    def run(
        self,
        minutes: float | None = None,
        interrupt: Interrupt | None = None,
        tell: Tell = lambda _: None,
    ) -> str:
        """Evolve until generations or minutes are over or somebody interrupts; says which."""
        interrupt = interrupt or Interrupt()
        log = MetricsLog(self.folder, self.generation if self._begun else NOTHING)
        deadline = time.monotonic() + (math.inf if minutes is None else 60 * minutes)
        threads = self.config.run.threads or usable_cores()
        saved = time.monotonic()

        def over() -> bool:
            return interrupt.asked or time.monotonic() >= deadline

        try:
            with ThreadPoolExecutor(threads) as pool:
                if not self._begun:
                    self._begin(pool, log, tell, over)
                while self._begun and not self.finished and not over():
                    self._advance(pool, log, tell)
                    if time.monotonic() - saved >= 60 * self.config.run.checkpoint_minutes:
                        self._save()
                        saved = time.monotonic()
            self._save()
            if self.finished:
                return "generations"
            return "interrupted" if interrupt.asked else "time"
        finally:
            log.close()

    def _advance(self, pool: ThreadPoolExecutor, log: MetricsLog, tell: Tell) -> None:
        """One generation."""
        began = time.monotonic()
        variant = self.config.tasks.variant
        tasks = draw_tasks(self.config.tasks, self.generation, self._bridge_of)
        candidates = self.strategy.ask(self._seed())
        policies = [NativePolicy(variant, self._whole(part)) for part in candidates]
        runs = list(pool.map(lambda p: [task.run(p) for task in tasks], policies))
        costs = np.array([[cost for cost, _ in run] for run in runs])
        self.strategy.tell(candidates, losses_of(costs))
        self.generation += 1
        made = sum(steps for run in runs for _, steps in run)
        self.steps += made
        seconds = time.monotonic() - began
        self.seconds += seconds
        values = {
            "transitions": self.steps,
            "minutes": self.seconds / 60,
            "cost_in_edges": float(
                (costs / [task.scale * task.land.size for task in tasks]).mean()
            ),
            "spread": self.strategy.spread,
            "norm": float(np.linalg.norm(self.strategy.mean)),
            "steps_per_second": made / seconds,
        }
        log.write("train", self.generation, values)
        if self.generation % self.config.validation.every == 0 or self.finished:
            self._validate(pool, log, tell)

    def _seed(self) -> int:
        """Of the candidates of this generation."""
        generator = np.random.default_rng([self.config.tasks.seed, 2**32, self.generation])
        return int(generator.integers(2**31))

    # -- validation ------------------------------------------------------------------------------------

    def _validation_tasks(self) -> dict[tuple[int, str], list[Task]]:
        """By size and what the gap is called: the same searches every time."""
        check = self.config.validation
        tasks: dict[tuple[int, str], list[Task]] = {}
        for size in check.sizes:
            instances = generate(
                size // 2, check.count, check.seed + size, self.config.tasks.variant
            )
            for steps, copies in budgets_of(check.steps, check.copies):
                generator = np.random.default_rng([check.seed, size, steps])
                name = f"gap_{size}_{steps}" + (f"x{copies}" if copies > 1 else "")
                tasks[size, name] = [
                    self._check(i, generator, steps, copies=copies) for i in instances
                ]
            for work in check.work:
                generator = np.random.default_rng([check.seed, size, work, 1])
                name = f"work_gap_{size}_{work}"
                tasks[size, name] = [self._check(i, generator, 0, work) for i in instances]
        return tasks

    def _check(
        self,
        instance: Instance,
        generator: np.random.Generator,
        steps: int,
        work: int = 0,
        copies: int = 1,
    ) -> Task:
        return task_of(instance, generator, steps, work, bridge_of=self._bridge_of, copies=copies)

    def _begin(
        self, pool: ThreadPoolExecutor, log: MetricsLog, tell: Tell, over: Callable[[], bool]
    ) -> None:
        """Before the first generation: reference costs, and what the policy reaches as it is.

        The references may be interrupted; those of the sizes that are done are kept.
        """
        tell("finding reference costs of the validation set")
        check = self.config.validation

        def refer(task: Task) -> float:
            watch = Watch(lambda done, best: over(), steps=check.reference * task.land.n)
            return search(task.land, watch, np.random.default_rng(check.seed))[0]

        for size in dict.fromkeys(check.sizes):
            if size in self._references:
                continue
            tasks = next(tasks for (of, _), tasks in self._checks.items() if of == size)
            found = list(pool.map(refer, tasks))
            if over():
                return  # some searches were cut short
            self._references[size] = found
            if not self._begun:  # with the last size, only together with the first validation
                self._save()
        self._validate(pool, log, tell)
        self._save()

    def _validate(self, pool: ThreadPoolExecutor, log: MetricsLog, tell: Tell) -> None:
        policy = self.policy
        values: dict[str, Any] = {"transitions": self.steps, "minutes": self.seconds / 60}
        told = []
        for (size, name), tasks in self._checks.items():
            costs = [cost for cost, _ in pool.map(lambda task: task.run(policy), tasks)]
            known = np.array(self._references[size])
            gap = float((np.array(costs) / known - 1.0).mean())
            values[name] = gap
            budget = f"{tasks[0].steps} steps" if tasks[0].steps else f"work {tasks[0].work}"
            if tasks[0].others:
                budget += f" x {1 + len(tasks[0].others)}"
            told.append(f"N = {size}, {budget}: {gap:+.2%}")
        log.write("validation", self.generation, values)
        tell(f"generation {self.generation}, {self.seconds / 60:.1f} min: {'; '.join(told)}")

    def _save(self) -> None:
        """The state and the policy, each written aside and renamed."""
        state = {
            "config": self.config.as_table(),
            "preset": self.preset,
            "generation": self.generation,
            "steps": self.steps,
            "seconds": self.seconds,
            "network": self._network,
            "origin": self._origin,
            "theta": self._theta.tolist(),
            "references": self._references,
            "strategy": self.strategy.memory(),
        }
        save_state(state, self.folder)
        save(self.policy, self.folder / POLICY_FILE)

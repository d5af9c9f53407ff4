"""The training loop: rollouts and kappa updates, validations between them; kept and continued."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numba
import torch

from n2s.errors import InputError, N2SError, located
from n2s.model import Checkpoint, quickest
from n2s.model import save as save_policy
from n2s.search.interrupt import Interrupt
from n2s.search.loop import Decider
from n2s.search.options import usable_cores
from n2s.train import snapshot as snapshots
from n2s.train.beginning import Beginning
from n2s.train.config import TrainConfig, config_of
from n2s.train.distributed import World
from n2s.train.episode import Episodes
from n2s.train.journal import Journal, Tell, numbers_of
from n2s.train.learner import ActorCritic, Learner, TrainingError
from n2s.train.metrics import Means, MetricsLog
from n2s.train.snapshot import Position, Snapshot
from n2s.train.teacher import Teacher
from n2s.train.teacher import find as find_teacher
from n2s.train.validation import Validator

POLICY_FILE = "policy.safetensors"
BEST_FILE = "best.safetensors"
"""The policy of the best validation so far."""
NOTHING = -1  # the update before all lines of metrics


class Trainer:
    """A run in a folder: its latest state, its policy, its metrics."""

    def __init__(
        self,
        config: TrainConfig,
        folder: str | Path,
        world: World | None = None,
        preset: str = "",
        snapshot: Snapshot | None = None,
        start: Beginning | None = None,
    ) -> None:
        self.config = config
        self.folder = Path(folder)
        self.world = world or World()
        self.preset = preset
        self.position = Position()
        self._threads = config.run.threads or max(1, usable_cores() // self.world.size)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.data.seed)
            networks = ActorCritic(config.policy)
        if start is not None:
            start.enter(networks)
        self._begun_with = "" if start is None else start.label
        self.learner = Learner(
            networks, config.ppo, config.run.part, self.world.device, self.world.size > 1
        )
        self._teacher: Teacher | None = None
        if snapshot is None:
            self._teacher = find_teacher(config.lessons, config.data.variant)
        elif snapshot.teacher:  # the one that the run began with, whatever its file is now
            self._teacher = Teacher(**snapshot.teacher, lessons=config.lessons)
        self._episodes = Episodes(config, self.world.rank, self.world.device)
        self._means = Means()
        self._validator = Validator(config)
        self._saved_at = time.monotonic()
        self._begun = snapshot is not None
        if snapshot is not None:
            self._recall(snapshot)

    @classmethod
    def resume(cls, folder: str | Path, world: World | None = None) -> Trainer:
        """The run in a folder, where its last checkpoint stands."""
        world = world or World()
        snapshot = snapshots.load(folder)
        if len(snapshot.processes) != world.size:
            raise InputError(
                f"the run has {len(snapshot.processes)} processes and cannot be resumed with "
                f"{world.size}",
                str(folder),
            )
        with located(str(folder)):
            config = config_of(snapshot.config)
        return cls(config, folder, world, snapshot.preset, snapshot)

    @property
    def finished(self) -> bool:
        """Whether all epochs are done."""
        return self.position.epoch > self.config.ppo.epochs

    @property
    def _taught(self) -> bool:
        """Whether this epoch is one of lessons."""
        return self.position.epoch <= self.config.lessons.epochs

    def run(
        self,
        minutes: float | None = None,
        interrupt: Interrupt | None = None,
        tell: Tell = lambda _: None,
    ) -> str:
        """Train until the epochs or the minutes are over or somebody interrupts; says which."""
        interrupt = interrupt or Interrupt()
        torch.set_num_threads(self._threads)
        numba.set_num_threads(min(self._threads, numba.config.NUMBA_NUM_THREADS))
        kept = self.position.update if self._begun else NOTHING
        log = MetricsLog(self.folder, kept) if self.world.writer else None
        if log is not None and not log.board:
            tell("no TensorBoard files: pip install 'n2s[train]' adds them")
        deadline = time.monotonic() + (math.inf if minutes is None else 60 * minutes)
        journal = Journal(self.world, log, tell)
        try:
            if not self._begun:
                self._begin(journal)
            return self._loop(deadline, interrupt, journal)
        finally:
            if log is not None:
                log.close()

    def _loop(self, deadline: float, interrupt: Interrupt, journal: Journal) -> str:
        """Update after update; what goes wrong leaves the last checkpoint as it is."""
        self._saved_at = time.monotonic()
        try:
            while not self.finished:
                now = time.monotonic()
                due = now - self._saved_at >= 60 * self.config.run.checkpoint_minutes
                asked, late, save = self.world.any(interrupt.asked, now >= deadline, due)
                if asked or late or save:
                    self._save()
                if asked or late:
                    return "interrupted" if asked else "time"
                self._advance(journal)
            self._save()
        except N2SError as error:
            raise TrainingError(
                f"after {self.position.update} updates, in epoch {self.position.epoch}: {error}; "
                f"the last good checkpoint is kept in {self.folder}"
            ) from None
        return "epochs"

    # -- one update -------------------------------------------------------------------------------

    def _advance(self, journal: Journal) -> None:
        """One rollout and its kappa updates, and what is due at the end of batch and epoch."""
        began = time.monotonic()
        position, ppo = self.position, self.config.ppo
        teacher = self._teacher if self._taught else None
        rollout = self._episodes.go_on(self._decider(), position.epoch, teacher)
        losses = self.learner.study(rollout) if self._taught else self.learner.update(rollout)
        (kl,) = self.world.mean([losses[-1].kl])  # all processes go on, or none
        if kl > ppo.most_kl:
            raise TrainingError(f"the KL is {kl:.3g}, more than {ppo.most_kl:g}")
        position.update += 1
        position.transitions += rollout.rewards.numel() * self.world.size
        seconds = time.monotonic() - began
        position.seconds += seconds
        self._means.add(numbers_of(self._episodes.state, rollout, losses, seconds))
        if position.update % self.config.run.log_every == 0:
            self._report(journal)
        if self._episodes.over:
            self._episodes.end()
            self._end_batch(journal)

    def _decider(self) -> Decider:
        """The policy as it is now, in its fastest form."""
        return quickest(self.learner.networks.policy)

    def _end_batch(self, journal: Journal) -> None:
        self.position.batch += 1
        if self.position.batch < self.config.ppo.batches:
            return
        last = self.position.epoch == self.config.ppo.epochs
        if last or self.position.epoch % self.config.validation.every == 0:
            self._validate(journal)
        if self.position.epoch == self.config.lessons.epochs and self._means.count:
            self._report(journal)  # no line is about lessons and PPO
        self.position.batch = 0
        self.position.epoch += 1
        self.learner.set_epoch(self.position.epoch)

    # -- what is told ---------------------------------------------------------------------------

    def _report(self, journal: Journal) -> None:
        rate = self.learner.optimiser.param_groups[0]["lr"]
        journal.updates(self._means, self.position, rate, self._taught)

    def _begin(self, journal: Journal) -> None:
        """Before the first update: what the untrained policy reaches."""
        if self.world.writer:
            journal.tell("finding reference costs of the validation set")
            self._validator.refer()
        self._validate(journal)
        self._save()
        self._begun = True

    def _validate(self, journal: Journal) -> None:
        if not self.world.writer:
            return
        began = time.monotonic()
        measured = self._validator.measure(self.learner.networks.policy)
        seconds = time.monotonic() - began
        sizes = self._validator.sizes
        values = journal.validation(measured, sizes, self.position, seconds)
        # Costs of different sizes count alike: the geometric mean.
        cost = sum(math.log(values[f"cost_{size}"]) for size in sizes) / len(sizes)
        if cost < self.position.best_validation:
            self.position.best_validation = cost
            save_policy(self._checkpoint(values), self.folder / BEST_FILE)

    # -- checkpoints ------------------------------------------------------------------------------

    def _save(self) -> None:
        """State and policy of the run; all processes take part, one writes."""
        self._check()
        self._saved_at = time.monotonic()
        told = self.world.gather(self._episodes.memory())
        if not self.world.writer:
            return
        networks = self.learner.networks
        optimiser = self.learner.optimiser.state_dict()["state"]
        moments = {
            f"{index}.{name}": torch.as_tensor(value)
            for index, state in optimiser.items()
            for name, value in state.items()
        }
        snapshots.save(
            Snapshot(
                config=self.config.as_table(),
                preset=self.preset,
                start=self._begun_with,
                teacher={} if self._teacher is None else self._teacher.memory(),
                position=self.position,
                threads=self._threads,
                processes=[generators for generators, _ in told],
                networks=networks.state_dict(),
                optimiser=moments,
                searches=[search for _, search in told],
                means={"sums": self._means.sums, "count": self._means.count},
                best_known={str(size): costs for size, costs in self._validator.best_known.items()},
            ),
            self.folder,
        )
        save_policy(self._checkpoint(), self.folder / POLICY_FILE)

    def _checkpoint(self, validation: dict[str, Any] | None = None) -> Checkpoint:
        """The policy as it is now."""
        networks = self.learner.networks
        record = self._record() | ({} if validation is None else {"validation": validation})
        return Checkpoint(
            networks.policy,
            self.config.data.variant,
            self.config.data.sizes,
            networks.critic,
            record,
        )

    def _check(self) -> None:
        """Refuse to keep weights that give no numbers any more: no run could go on with them."""
        rollout = self._episodes.last
        last = None if rollout is None else rollout.last
        if last is None:
            return
        self._decider().act(last, torch.full((last.batch, 2), 0.5, dtype=torch.float64))
        if not torch.isfinite(self.learner.values(last)).all():
            raise TrainingError("the critic's values are not finite numbers")

    def _record(self) -> dict[str, Any]:
        """How the policy came to be, for its checkpoint."""
        return {
            "preset": self.preset,
            "from": self._begun_with,
            "teacher": "" if self._teacher is None else self._teacher.label,
            "config": self.config.as_table(),
            "epochs": self.position.epoch - (self.position.batch < self.config.ppo.batches),
            "updates": self.position.update,
            "transitions": self.position.transitions,
            "hours": round(self.position.seconds / 3600, 4),
            "processes": self.world.size,
        }

    def _recall(self, snapshot: Snapshot) -> None:
        self.position = snapshot.position
        self._begun_with = snapshot.start
        self._threads = snapshot.threads
        try:
            self.learner.networks.load_state_dict(snapshot.networks)
            optimiser = self.learner.optimiser.state_dict()
            for name, tensor in snapshot.optimiser.items():
                index, key = name.split(".", 1)
                optimiser["state"].setdefault(int(index), {})[key] = tensor
            self.learner.optimiser.load_state_dict(optimiser)
        except (RuntimeError, ValueError) as error:
            raise InputError(
                f"the weights do not fit the configuration ({error})", str(self.folder)
            ) from None
        self.learner.set_epoch(self.position.epoch)
        rank = self.world.rank
        self._episodes.recall(snapshot.processes[rank], snapshot.searches[rank])
        self._means = Means(**snapshot.means)
        self._validator.best_known = {
            int(size): costs for size, costs in snapshot.best_known.items()
        }

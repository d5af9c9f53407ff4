"""What a run says of itself while it goes on: means over updates and validations, as lines and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from n2s.search.state import SearchState
from n2s.train.distributed import World
from n2s.train.learner import Losses
from n2s.train.metrics import Means, MetricsLog
from n2s.train.rollout import Rollout
from n2s.train.snapshot import Position

Tell = Callable[[str], None]


def numbers_of(
    state: SearchState, rollout: Rollout, losses: list[Losses], seconds: float
) -> dict[str, float]:
    """Of one update."""
    size = state.tours.shape[1]
    means = {
        name: sum(getattr(loss, name) for loss in losses) / len(losses)
        for name in asdict(losses[0])
    }
    means["kl"] = losses[-1].kl  # after all kappa updates but the last
    best = float(state.best.mean())
    return {
        "reward": float(rollout.rewards.mean()),
        "best_cost": best,
        "relative_cost": best / size**0.5,
        **means,
        "seconds": seconds,
        "transitions": float(rollout.rewards.numel()),
        "nodes": float(size),
    }


@dataclass(frozen=True)
class Journal:
    """Where a process writes and speaks; one that is not the writer has no log."""

    world: World
    log: MetricsLog | None
    tell: Tell

    def updates(self, means: Means, position: Position, rate: float, taught: bool) -> None:
        """A line about the updates since the last one, and what is told of it; all processes take part."""
        taken = means.take()
        values = dict(zip(taken, self.world.mean(list(taken.values())), strict=True))
        if self.log is None:
            return
        seconds, transitions = values.pop("seconds"), values.pop("transitions")
        line = {
            "epoch": position.epoch,
            "transitions": position.transitions,
            "minutes": position.seconds / 60,
            **values,
            "policy_rate": rate,
            "transitions_per_second": transitions * self.world.size / seconds,
        }
        self.log.write("train", position.update, line)
        told = f"value loss {line['value_loss']:.3g}, KL {line['kl']:.2g}"
        if taught:
            told = f"cross-entropy {line['policy_loss']:.3f}"
        self.tell(
            f"epoch {position.epoch} update {position.update}: "
            f"reward {line['reward']:.5f}, best {line['best_cost']:.4f}, {told}, "
            f"{line['transitions_per_second']:.0f} transitions/s"
        )

    def validation(
        self, measured: dict[str, float], sizes: tuple[int, ...], position: Position, seconds: float
    ) -> dict[str, Any]:
        """A line about a validation, and what is told of it; the line's values."""
        epoch = position.epoch if position.update else 0
        values: dict[str, Any] = measured | {
            "epoch": epoch,
            "transitions": position.transitions,
            "minutes": position.seconds / 60,
            "validation_seconds": seconds,
        }
        if self.log is None:
            return values
        self.log.write("validation", position.update, values)
        gaps = ", ".join(
            f"N = {size}: {values[f'cost_{size}']:.4f} ({values[f'gap_{size}']:+.2%})"
            for size in sizes
        )
        self.tell(f"validation after epoch {epoch}: {gaps}")
        return values

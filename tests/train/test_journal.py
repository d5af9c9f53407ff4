"""What a run says while it goes on, with numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from n2s.train.distributed import World
from n2s.train.journal import Journal
from n2s.train.metrics import Means, MetricsLog, read_metrics
from n2s.train.snapshot import Position

POSITION = Position(epoch=3, update=40, transitions=5000, seconds=120.0)


def two_updates() -> Means:
    """Of 100 and 200 transitions in 1 and 2 seconds."""
    means = Means()
    for count in (1.0, 2.0):
        means.add(
            {
                "reward": 0.25 * count,
                "best_cost": 4.0 + count,
                "policy_loss": 2.0 * count,
                "value_loss": 8.0,
                "kl": 0.5,
                "seconds": count,
                "transitions": 100.0 * count,
            }
        )
    return means


def test_a_line_about_updates_holds_their_means_and_their_speed(tmp_path: Path) -> None:
    told: list[str] = []
    means = two_updates()
    journal = Journal(World(), MetricsLog(tmp_path, -1), told.append)
    journal.updates(means, POSITION, 1e-4, taught=False)
    (line,) = read_metrics(tmp_path)
    assert line == {
        "kind": "train",
        "update": 40,
        "epoch": 3,
        "transitions": 5000,
        "minutes": 2.0,
        "reward": 0.375,
        "best_cost": 5.5,
        "policy_loss": 3.0,
        "value_loss": 8.0,
        "kl": 0.5,
        "policy_rate": 1e-4,
        "transitions_per_second": 100.0,
    }
    assert told == [
        "epoch 3 update 40: reward 0.37500, best 5.5000, value loss 8, KL 0.5, 100 transitions/s"
    ]
    assert means.count == 0  # the next line begins anew


def test_lessons_tell_their_cross_entropy(tmp_path: Path) -> None:
    told: list[str] = []
    journal = Journal(World(), MetricsLog(tmp_path, -1), told.append)
    journal.updates(two_updates(), POSITION, 1e-4, taught=True)
    assert told == [
        "epoch 3 update 40: reward 0.37500, best 5.5000, cross-entropy 3.000, 100 transitions/s"
    ]


def test_who_does_not_write_says_nothing() -> None:
    means = two_updates()
    Journal(World(), None, pytest.fail).updates(means, POSITION, 1e-4, taught=False)
    assert means.count == 0


@pytest.mark.parametrize(("update", "epoch"), [(0, 0), (40, 3)])
def test_a_validation_before_the_first_update_is_of_epoch_0(
    update: int, epoch: int, tmp_path: Path
) -> None:
    told: list[str] = []
    measured = {"cost_21": 4.5, "gap_21": 0.0125, "cost_51": 7.0, "gap_51": -0.001}
    position = Position(epoch=3, update=update, transitions=5000, seconds=120.0)
    journal = Journal(World(), MetricsLog(tmp_path, -1), told.append)
    values = journal.validation(measured, (21, 51), position, 7.5)
    assert values == measured | {
        "epoch": epoch,
        "transitions": 5000,
        "minutes": 2.0,
        "validation_seconds": 7.5,
    }
    assert read_metrics(tmp_path) == [{"kind": "validation", "update": update, **values}]
    assert told == [
        f"validation after epoch {epoch}: N = 21: 4.5000 (+1.25%), N = 51: 7.0000 (-0.10%)"
    ]

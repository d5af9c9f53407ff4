"""Episodes one after the other, and one that goes on from what it remembered."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.observations import policy_of
from n2s.train.episode import Episodes
from train.runs import tiny_config

CONFIG = tiny_config()
POLICY = policy_of()


def episodes(rank: int = 0) -> Episodes:
    return Episodes(CONFIG, rank, torch.device("cpu"))


def test_an_episode_is_all_its_steps_on_one_batch() -> None:
    some = episodes()
    sizes = set()
    for _ in range(8):
        first = some.go_on(POLICY, 1, None)
        assert not some.over
        points = first.observation().points[:: CONFIG.ppo.n_step].clone()
        second = some.go_on(POLICY, 1, None)
        assert some.over
        assert some.state.step == CONFIG.ppo.steps
        assert second is first  # room for one rollout is made once
        assert torch.equal(second.observation().points[:: CONFIG.ppo.n_step], points)
        sizes.add(tuple(some.state.tours.shape))
        some.end()
        with pytest.raises(TypeError, match="no episode has begun"):
            _ = some.over
        assert some.last is first
    assert sizes == {(4, 5), (3, 7)}


@pytest.mark.parametrize("rollouts", [0, 1, 2, 3])
def test_what_is_remembered_goes_on_alike(rollouts: int) -> None:
    """Before the first episode, within it, behind it, and within the second one; by one that had begun."""

    def go_on(some: Episodes) -> tuple[np.ndarray, list[float]]:
        rollout = some.go_on(POLICY, 1, None)
        if some.over:
            tours = some.state.tours.copy()
            some.end()
            return tours, rollout.rewards.flatten().tolist()
        return some.state.tours.copy(), rollout.rewards.flatten().tolist()

    one, other = episodes(), episodes(rank=1)
    for _ in range(rollouts):
        go_on(one)
    go_on(other)
    other.recall(*one.memory())
    for _ in range(3):
        (tours, rewards), (tours_again, rewards_again) = go_on(one), go_on(other)
        assert np.array_equal(tours, tours_again)
        assert rewards == rewards_again


def test_processes_draw_the_same_sizes_and_other_instances() -> None:
    one, other = episodes(), episodes(rank=1)
    for _ in range(5):
        for some in (one, other):
            some.go_on(POLICY, 1, None)
        assert one.state.tours.shape == other.state.tours.shape
        mine, theirs = (some.state.observe().points for some in (one, other))
        assert not torch.equal(mine, theirs)
        one.end()
        other.end()

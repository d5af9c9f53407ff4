"""What a rollout stores against the same searches made step by step."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oracles
from model.observations import policy_of
from n2s.model import Decision, FastPolicy, Observation, Policy
from n2s.problem import Variant, random_tours
from n2s.search.state import SearchState
from n2s.train.rollout import Rollout
from n2s.train.starts import plane_costs, search_state

CPU = torch.device("cpu")
N_STEP = 4
SIZES = pytest.mark.parametrize("batch", [1, 2, 7])
REQUESTS = pytest.mark.parametrize("n", [1, 2, 5])


def begun(batch: int, n: int, variant: Variant) -> tuple[SearchState, np.ndarray]:
    """Searches after three moves, so that histories are not empty; and the exact costs."""
    rng = np.random.default_rng([batch, n])
    points = rng.random((batch, 2 * n + 1, 2))
    state = search_state(variant, points, random_tours(n, variant, batch, rng))
    policy = policy_of()
    for _ in range(3):
        state.apply(policy.act(state.observe(), torch.from_numpy(rng.random((batch, 2)))))
    return state, plane_costs(points)


def fields(observation: Observation, b: int) -> dict[str, object]:
    """Everything of one search that the network sees."""
    progress = observation.progress
    assert progress is not None
    return {
        "points": observation.points[b].tolist(),
        "tour": observation.tours[b].tolist(),
        "frequency": observation.frequency[b].tolist(),
        "recent": observation.recent[b].tolist(),
        "best": float(observation.best[b]),
        **{name: tensor[b].tolist() for name, tensor in progress.by_name().items()},
    }


def chosen(decision: Decision, b: int) -> tuple[int, int, int, float]:
    return (
        int(decision.requests[b]),
        int(decision.j[b]),
        int(decision.k[b]),
        float(decision.log_prob[b]),
    )


@SIZES
@REQUESTS
@pytest.mark.parametrize("costs", [False, True], ids=["paper", "costs"])
def test_transitions_are_those_of_a_replay(
    batch: int, n: int, costs: bool, variant: Variant
) -> None:
    """Twice in a row: the second rollout goes on where the first ended, in the same memory."""
    policy = policy_of(costs=costs)
    decider = FastPolicy(policy)
    state, exact = begun(batch, n, variant)
    replay, _ = begun(batch, n, variant)
    generator, again = np.random.default_rng(3), np.random.default_rng(3)
    rollout = Rollout(batch, 2 * n + 1, N_STEP, CPU)
    for _ in range(2):
        rollout.collect(state, decider, generator)
        seen, decision = rollout.observation(), rollout.decision()
        assert seen.variant == variant.code
        assert seen.batch == batch * N_STEP
        assert (seen.costs == exact).all()  # each once, owned by N_STEP transitions in a row
        for step in range(N_STEP):
            now = replay.observe()
            drawn = decider.act(now, torch.from_numpy(again.random((batch, 2))))
            best = replay.best.copy()
            replay.apply(drawn)
            for b in range(batch):
                index = b * N_STEP + step  # the transitions of an instance side by side
                assert fields(seen, index) == fields(now, b)
                assert chosen(decision, index) == chosen(drawn, b)
                cost = oracles.cost(exact[b], replay.tours[b].tolist())
                drop = max(0.0, best[b] - cost)
                assert float(rollout.rewards[b, step]) == pytest.approx(drop, abs=1e-7)
        assert rollout.last is not None
        for b in range(batch):
            assert fields(rollout.last, b) == fields(replay.observe(), b)
        assert (state.tours == replay.tours).all()


@SIZES
@REQUESTS
@pytest.mark.parametrize("costs", [False, True], ids=["paper", "costs"])
def test_the_policy_finds_its_own_decisions_as_likely_as_it_drew_them(
    batch: int, n: int, costs: bool, variant: Variant
) -> None:
    """Only if every transition stands beside the costs of its own instance."""
    policy = policy_of(costs=costs)
    state, _ = begun(batch, n, variant)
    rollout = Rollout(batch, 2 * n + 1, N_STEP, CPU)
    rollout.collect(state, FastPolicy(policy), np.random.default_rng(4))
    assessed = policy.log_prob(rollout.observation(), rollout.decision()).log_prob.detach()
    torch.testing.assert_close(assessed, rollout.log_prob.flatten(), atol=1e-4, rtol=1e-4)


def test_a_policy_without_a_fast_path_fills_it_too() -> None:
    policy: Policy = policy_of(heads=2)
    state, _ = begun(3, 4, Variant.LIFO)
    rollout = Rollout(3, 9, 2, CPU)
    rollout.collect(state, policy, np.random.default_rng(5))
    assessed = policy.log_prob(rollout.observation(), rollout.decision()).log_prob.detach()
    torch.testing.assert_close(assessed, rollout.log_prob.flatten(), atol=1e-5, rtol=1e-5)


def test_room_for_exactly_one_shape() -> None:
    rollout = Rollout(3, 9, 5, CPU)
    assert rollout.fits(3, 9, 5)
    assert not any(rollout.fits(*other) for other in [(2, 9, 5), (3, 7, 5), (3, 9, 4)])

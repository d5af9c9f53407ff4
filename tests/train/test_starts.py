"""The curriculum: which tours episodes begin with, and what is forgotten before they do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import oracles
from model.observations import policy_of
from n2s import kernels
from n2s.model import Decision, FastPolicy, Observation
from n2s.problem import Distribution, Variant, random_tours
from n2s.problem.distance import FloatArray
from n2s.problem.instance import IntArray
from n2s.train.config import Data, Starts
from n2s.train.run import begin
from n2s.train.starts import annealed, draw_points, plane_costs, search_state, start_tours
from train.runs import preset, run_to, state_of

CPU = torch.device("cpu")


class Nobody:
    """A decider that must not be asked."""

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        raise AssertionError("the policy has no share")


def improved(
    variant: Variant, points: FloatArray, tours: IntArray, steps: int, generator
) -> IntArray:
    """Where the test's policy stands after some steps, made one by one."""
    state = search_state(variant, points, tours)
    decider = FastPolicy(policy_of())
    for _ in range(steps):
        uniforms = torch.from_numpy(generator.random((len(tours), 2)))
        decision = decider.act(state.observe(), uniforms)
        state.apply(decision)
    return state.tours


def test_instances_are_uniform_and_new_each_time() -> None:
    data = Data(sizes=(5, 9), batch=(3, 2))
    generator = np.random.default_rng(1)
    drawn = [draw_points(data, index, generator) for index in (0, 1, 0)]
    again = np.random.default_rng(1)
    for points, shape in zip(drawn, [(3, 5, 2), (2, 9, 2), (3, 5, 2)], strict=True):
        assert (points == again.random(shape)).all()


def test_other_distributions_are_drawn_when_asked_for() -> None:
    data = Data(sizes=(101,), batch=(20,), distribution=Distribution.CLUSTERED)
    points = draw_points(data, 0, np.random.default_rng(1))
    nearest = plane_costs(points) + 9 * np.eye(101)
    uniform = plane_costs(np.random.default_rng(1).random((20, 101, 2))) + 9 * np.eye(101)
    assert nearest.min(2).mean() < 0.6 * uniform.min(2).mean()


def test_costs_are_distances_in_the_plane() -> None:
    points = np.array([[(0.0, 0.0), (0.3, 0.4), (0.0, 1.0)]])
    expected = [[0, 0.5, 1], [0.5, 0, 0.45**0.5], [1, 0.45**0.5, 0]]
    assert plane_costs(points)[0] == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("divisor", "steps"),
    # Epochs 1, 2, 3, 10 and 200.
    [(2.0, [0, 1, 1, 5, 100]), (1.5, [0, 1, 2, 6, 133]), (1.0, [1, 2, 3, 10, 200])],
)
def test_the_policy_improves_for_epoch_by_divisor_steps(divisor: float, steps: list[int]) -> None:
    starts = Starts(divisor=divisor)
    assert [starts.improvement(epoch) for epoch in (1, 2, 3, 10, 200)] == steps


@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 2), (7, 5)])
@pytest.mark.parametrize("improvement", [0, 1, 7])
def test_the_papers_starts(batch: int, n: int, improvement: int, variant: Variant) -> None:
    """Random tours, then so many steps of the policy; the current tours, not the best ones."""
    points = np.random.default_rng(0).random((batch, 2 * n + 1, 2))
    found, budget = start_tours(
        variant,
        points,
        Starts(),
        improvement,
        10,
        FastPolicy(policy_of()),
        np.random.default_rng(1),
        CPU,
    )
    generator = np.random.default_rng(1)
    tours = random_tours(n, variant, batch, generator)
    total = np.exp(generator.uniform(math.log(300), math.log(3000), batch))
    assert budget.total == pytest.approx(total)
    assert budget.used == pytest.approx(improvement / total)
    assert (found == improved(variant, points, tours, improvement, generator)).all()
    assert all(oracles.is_feasible(tour.tolist(), n, variant) for tour in found)


def test_an_episode_knows_nothing_of_the_steps_before_it(variant: Variant) -> None:
    points = np.random.default_rng(0).random((5, 9, 2))
    generator = np.random.default_rng(1)
    decider = FastPolicy(policy_of())
    tours, budget = start_tours(variant, points, Starts(), 30, 10, decider, generator, CPU)
    state = search_state(variant, points, tours, budget)
    for b, tour in enumerate(tours.tolist()):
        cost = oracles.cost(plane_costs(points)[b], tour)
        assert state.best[b] == state.current[b] == pytest.approx(cost)
    observation = state.observe()
    assert state.step == 0
    assert (observation.frequency == 0).all()
    assert (observation.recent == 0).all()
    # And the best tour on the way was better than the current one, or this would say nothing.
    generator = np.random.default_rng(1)
    tours = random_tours(4, variant, 5, generator)
    generator.random(5)  # the budgets
    walk = search_state(variant, points, tours)
    for _ in range(30):
        walk.apply(decider.act(walk.observe(), torch.from_numpy(generator.random((5, 2)))))
    assert (walk.best < state.best).any()


def test_training_counts_the_removals_of_the_last_n_nodes_steps() -> None:
    """K = N = 9 in training, where a search would take K = n = 4."""
    points = np.random.default_rng(0).random((3, 9, 2))
    generator = np.random.default_rng(1)
    state = search_state(Variant.PDTSP, points, random_tours(4, Variant.PDTSP, 3, generator))
    decider, removed = FastPolicy(policy_of()), []
    for step in range(1, 16):
        decision = decider.act(state.observe(), torch.from_numpy(generator.random((3, 2))))
        state.apply(decision)
        removed.append(decision.requests)
        for b in range(3):
            last = [int(requests[b]) for requests in removed[-9:]]
            expected = [last.count(request) / 9 for request in (1, 2, 3, 4)]
            assert state.observe().frequency[b].tolist() == pytest.approx(expected), step


def test_shares_of_a_batch(variant: Variant) -> None:
    """Of 10 tours 2 stay random, 5 are the policy's, 3 are annealed."""
    starts = Starts(random=0.2, policy=0.5, annealed=0.3, horizon=(30, 30))
    points = np.random.default_rng(0).random((10, 11, 2))
    found, budget = start_tours(
        variant, points, starts, 4, 10, FastPolicy(policy_of()), np.random.default_rng(1), CPU
    )
    generator = np.random.default_rng(1)
    tours = random_tours(5, variant, 10, generator)
    generator.random(10)  # the budgets, all of them 30
    assert budget.total == pytest.approx(30.0)
    policys = improved(variant, points[2:7], tours[2:7], 4, generator)
    used = (1 - 10 / 30) * np.minimum(1.3 * generator.random(3), 1.0)
    assert budget.used.tolist() == pytest.approx([0.0] * 2 + [4 / 30] * 5 + used.tolist())
    kept = annealed(
        *(variant, plane_costs(points[7:]), tours[7:]),
        *((30 * used).astype(int), generator, 0.5 * 0.1**used),
    )
    assert (found[:2] == tours[:2]).all()
    assert (found[2:7] == policys).all()
    assert (found[7:] == kept).all()
    assert (policys != tours[2:7]).any(1).all()
    assert all(oracles.is_feasible(tour.tolist(), 5, variant) for tour in found)


@pytest.mark.parametrize(
    ("random", "share"), [(0.5, 0.5), (0.3, 0.7), (1.0, 0.0), (0.0, 1.0)], ids=str
)
def test_a_policy_without_a_share_gets_no_tour_of_any_batch(random: float, share: float) -> None:
    starts = Starts(random=random, policy=0.0, annealed=share)
    for batch in range(1, 12):
        points = np.random.default_rng(0).random((batch, 5, 2))
        generator = np.random.default_rng(1)
        start_tours(Variant.PDTSP, points, starts, 3, 10, Nobody(), generator, CPU)


def test_annealed_starts_are_feasible_of_all_qualities_and_cheaper(variant: Variant) -> None:
    points = np.random.default_rng(0).random((60, 21, 2))
    costs = plane_costs(points)
    starts = Starts(random=0.0, policy=0.0, annealed=1.0, horizon=(200, 200))
    found, _ = start_tours(variant, points, starts, 0, 0, Nobody(), np.random.default_rng(1), CPU)
    assert all(oracles.is_feasible(tour.tolist(), 10, variant) for tour in found)
    before = kernels.tour_costs(costs, random_tours(10, variant, 60, np.random.default_rng(1)))
    after = kernels.tour_costs(costs, found)
    assert (after <= before + 1e-12).all()
    assert after.mean() < 0.75 * before.mean()
    # Between none and all of the steps: how far a tour has come differs from tour to tour.
    assert (after / before).std() > 0.05


def test_a_run_follows_the_curriculum(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The first rollout of epochs 1, 2 and 3, replayed from the generators of the checkpoint before."""
    changes = [
        *("data.sizes=[7]", "data.batch=[5]", "ppo.epochs=3", "ppo.batches=1", "ppo.steps=10"),
        *("starts.random=0", "starts.policy=1", "starts.annealed=0", "starts.divisor=1.5"),
    ]
    run = tmp_path / "run"
    trainer = begin(preset(tmp_path), run, changes)
    for epoch, steps in ((1, 0), (2, 1), (3, 2)):
        run_to(trainer, 2 * (epoch - 1))
        _, rest = state_of(run)
        assert rest["position"]["epoch"] == epoch
        generator = np.random.default_rng()
        generator.bit_generator.state = rest["processes"][0]["data"]
        decider = FastPolicy(trainer.learner.networks.policy)
        points = generator.random((5, 7, 2))
        tours, budget = start_tours(
            Variant.PDTSP, points, Starts(), steps, 10, decider, generator, CPU
        )
        state = search_state(Variant.PDTSP, points, tours, budget)
        for _ in range(5):
            state.apply(decider.act(state.observe(), torch.from_numpy(generator.random((5, 2)))))
        run_to(trainer, 2 * epoch - 1)
        tensors, _ = state_of(run)
        assert (tensors["search.0.points"].numpy() == points).all()
        assert (tensors["search.0.tours"].numpy() == state.tours).all()
        assert (tensors["search.0.best"].numpy() == state.best).all()
        assert int(tensors["search.0.step"]) == 5


def test_no_search_is_shorter_than_what_is_made_of_it() -> None:
    starts = Starts(random=0.3, policy=0.4, annealed=0.3, horizon=(5, 5))
    points = np.random.default_rng(0).random((10, 7, 2))
    decider, generator = FastPolicy(policy_of()), np.random.default_rng(1)
    _, budget = start_tours(Variant.PDTSP, points, starts, 7, 10, decider, generator, CPU)
    assert budget.total.tolist() == pytest.approx([10.0] * 3 + [17.0] * 4 + [10.0] * 3)
    assert budget.used.tolist() == pytest.approx([0.0] * 3 + [7 / 17] * 4 + [0.0] * 3)

"""Symmetries, the network's view, the start, the state, and what rules and loop say of the budget."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import oracles
from n2s import kernels
from n2s.model import Decision, Observation
from n2s.problem import Instance, Metric, Variant, generate, random_tours
from n2s.search.interrupt import Interrupt
from n2s.search.loop import run
from n2s.search.network_view import classical_scaling, network_view
from n2s.search.rounds import Rounds
from n2s.search.state import SearchState
from n2s.search.stop import AnyOf, NoImprovement, Seconds, Standing, Steps, Target, make_stop
from n2s.search.symmetry import apply_symmetry, draw_symmetry

VARIANTS = pytest.mark.parametrize("variant", list(Variant), ids=str)


def test_exactly_the_eight_symmetries_are_drawn_and_distances_stay() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((6, 2))
    seen = set()
    for _ in range(400):
        matrix = draw_symmetry(rng)
        moved = apply_symmetry(points, matrix)
        assert (moved >= -1e-12).all()
        assert (moved <= 1 + 1e-12).all()
        for a, b in itertools.combinations(range(6), 2):
            before = np.linalg.norm(points[a] - points[b])
            assert np.linalg.norm(moved[a] - moved[b]) == pytest.approx(before)
        seen.add(tuple(matrix.astype(int).ravel().tolist()))
    assert len(seen) == 8


def test_unit_square_instances_stay_as_they_are() -> None:
    instance = generate(10, seed=1)[0]
    view = network_view(instance)
    assert (view.points == instance.coordinates).all()
    assert view.scale == 1.0


def test_other_maps_are_scaled_by_one_factor() -> None:
    """100 wide and 50 high from (1000, 200): x fills 0..1, y the middle half."""
    points = np.array([(1000, 200), (1100, 250), (1050, 225)], dtype=float)
    view = network_view(Instance(coordinates=points))
    assert view.scale == pytest.approx(0.01)
    assert view.points.tolist() == [[0, 0.25], [1, 0.75], [0.5, 0.5]]


def test_the_scale_of_metres_is_found() -> None:
    """A degree of latitude is 111,195 m and the map one degree high: scale 1 / 111,195."""
    rng = np.random.default_rng(2)
    points = np.stack([rng.uniform(10, 10.5, 41), rng.uniform(50, 51, 41)], 1)
    points[0], points[1] = (10.2, 50.0), (10.2, 51.0)
    view = network_view(Instance(coordinates=points, metric=Metric.GREAT_CIRCLE))
    assert view.scale * 111_195 == pytest.approx(1.0, rel=0.02)


def test_the_date_line_does_not_tear_a_map_apart() -> None:
    """Fiji: 0.2 degrees wide across the line, 0.1 high."""
    points = np.array([(179.9, -18.0), (-179.9, -18.1), (180.0, -18.05)])
    view = network_view(Instance(coordinates=points, metric=Metric.GREAT_CIRCLE))
    assert view.points[:, 0] == pytest.approx([0.0, 1.0, 0.5])
    assert np.ptp(view.points[:, 1]) > 0.4


def test_points_all_in_one_place() -> None:
    view = network_view(Instance(coordinates=np.full((5, 2), 7.0)))
    assert (view.points == 0.5).all()
    assert view.scale == 1.0


def test_scaling_finds_the_plane_behind_a_matrix() -> None:
    points = np.random.default_rng(3).random((9, 2)) * 4
    costs = Instance(coordinates=points).costs
    found = classical_scaling(costs)
    again = np.linalg.norm(found[:, None] - found[None], axis=-1)
    assert again == pytest.approx(costs, abs=1e-9)
    view = network_view(Instance(matrix=np.array(costs)))
    extent = (found.max(0) - found.min(0)).max()
    assert view.scale == pytest.approx(1 / extent, rel=1e-6)
    assert (view.points >= -1e-12).all()


@VARIANTS
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 2), (7, 5)])
def test_greedy_insertion_step_by_step(batch: int, n: int, variant: Variant) -> None:
    rng = np.random.default_rng(n)
    costs = rng.random((batch, 2 * n + 1, 2 * n + 1))
    orders = np.stack([rng.permutation(n) + 1 for _ in range(batch)])
    tours = kernels.greedy_tours(variant.code, costs, orders)
    for b in range(batch):
        tour = [0]
        for request in orders[b].tolist():
            choices = []
            for j in range(len(tour)):
                for k in range(j, len(tour)):
                    built = []
                    for gap, node in enumerate(tour):
                        built.append(node)
                        built += [request] if gap == j else []
                        built += [request + n] if gap == k else []
                    if _partial_feasible(built, n, variant):
                        choices.append((oracles.cost(costs[b], built), built))
            tour = min(choices)[1]
        assert oracles.cost(costs[b], tours[b]) == pytest.approx(oracles.cost(costs[b], tour))
        assert oracles.is_feasible(tours[b].tolist(), n, variant)


def _partial_feasible(tour: list[int], n: int, variant: Variant) -> bool:
    stack: list[int] = []
    for node in tour[1:]:
        if node <= n:
            stack.append(node)
        elif node - n not in variant.deliverable(stack):
            return False
        else:
            stack.remove(node - n)
    return True


@VARIANTS
def test_the_state_remembers_the_best_and_rewards_its_fall(variant: Variant) -> None:
    rng = np.random.default_rng(1)
    n, batch = 4, 6
    costs = np.stack([i.costs for i in generate(n, count=3, seed=1)])  # two tours each
    tours = random_tours(n, variant, batch, rng)
    points = rng.random((batch, 2 * n + 1, 2))
    state = SearchState(variant, points, costs, np.ones(3), tours.copy(), window=4)
    best = state.current.copy()
    pushed: list[np.ndarray] = []
    for step in range(1, 40):
        requests = rng.integers(1, n + 1, batch)
        rests = kernels.remove_requests(state.tours, requests)
        offsets, js, ks = kernels.feasible_pairs(variant.code, rests)
        entry = offsets[:-1] + rng.integers(0, np.diff(offsets))
        before = state.tours
        reward = state.apply(Decision(requests, js[entry], ks[entry], None))  # type: ignore[arg-type]
        pushed.append(requests)
        assert state.step == step
        assert state.tours is not before
        for b in range(batch):
            cost = oracles.cost(costs[b // 2], state.tours[b].tolist())
            assert state.current[b] == pytest.approx(cost)
            assert reward[b] == pytest.approx(max(0.0, best[b] - cost))
            best[b] = min(best[b], cost)
            assert oracles.cost(costs[b // 2], state.best_tours[b].tolist()) == pytest.approx(
                best[b]
            )
        observation = state.observe()
        assert observation.recent[:, 0].tolist() == requests.tolist()
        assert observation.progress is not None
        excess = (state.current - best) * 3  # sqrt(N) = 3, scale 1
        assert observation.progress.excess.numpy() == pytest.approx(
            np.minimum(excess, 10), abs=1e-5
        )


def test_shares_of_what_rules_allow() -> None:
    """The nearest end counts; a target says nothing about how far it is."""
    standing = Standing(step=30, seconds=2.0, best=5.0, last_improvement=20)
    assert Steps(120).share(standing) == 0.25
    assert Steps(0).share(standing) == 1.0
    assert Seconds(8.0).share(standing) == 0.25
    assert Seconds(1.0).share(standing) == 1.0
    assert NoImprovement(40).share(standing) == 0.5  # 30 of the 60 steps that it will be at least
    assert NoImprovement(10).share(standing) == 1.0
    assert Target(1.0).share(standing) == 0.0
    assert make_stop(10.0, 60, 1000, None).share(standing) == 0.5
    assert AnyOf(()).share(standing) == 0.0


def test_the_loop_tells_the_policy_how_much_is_used() -> None:
    instance = generate(4, seed=1)[0]
    seen = []

    class Listening:
        def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
            progress = observation.whole_progress()
            seen.append((float(progress.used[0]), float(progress.total[0])))
            ones = np.ones(len(observation.tours), np.int64)
            return Decision(ones, 0 * ones, 0 * ones, None)  # type: ignore[arg-type]

    tours = random_tours(4, Variant.PDTSP, 1, np.random.default_rng(0))
    points = np.random.default_rng(0).random((1, 9, 2))
    state = SearchState(
        Variant.PDTSP, points, instance.costs[None], np.ones(1), tours, 4, np.array([8.0])
    )
    run(state, Listening(), Steps(8), [np.random.default_rng(0)], 0.0, Interrupt())
    assert seen == [(step / 8, 8.0) for step in range(8)]
    # A good tour begins in the middle of the schedule.
    seen.clear()
    state.step, state.first = 0, 0.5
    run(state, Listening(), Steps(8), [np.random.default_rng(0)], 0.0, Interrupt())
    assert [used for used, _ in seen] == [0.5 + step / 16 for step in range(8)]
    # With patience alone the end moves on with every improvement, and never jumps.
    seen.clear()
    state.step, state.first = 0, 0.0
    run(state, Listening(), NoImprovement(5), [np.random.default_rng(0)], 0.0, Interrupt())
    assert [used for used, _ in seen] == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert [total for _, total in seen][1:] == pytest.approx([5.0] * 4)


class Settling:
    """Takes out requests in turn, and keeps what it saw."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float, int, float]] = []

    def act(self, observation: Observation, uniforms: torch.Tensor) -> Decision:
        progress = observation.whole_progress()
        settled = int(progress.settled[0].sum())
        self.seen.append(
            (float(progress.used[0]), float(progress.total[0]), settled, float(observation.best[0]))
        )
        requests = np.full(len(observation.tours), (len(self.seen) - 1) % observation.n + 1)
        zeros = np.zeros(len(requests), np.int64)
        return Decision(requests, zeros, zeros, None)  # type: ignore[arg-type]


def test_rounds_of_the_loop() -> None:
    """20 steps in two rounds for four requests: each begins with nothing settled and its own best cost."""
    instance = generate(4, seed=1)[0]
    tours = random_tours(4, Variant.PDTSP, 1, np.random.default_rng(0))
    points = np.random.default_rng(0).random((1, 9, 2))
    state = SearchState(
        Variant.PDTSP, points, instance.costs[None], np.ones(1), tours, 4, np.array([20.0])
    )
    decider, current, best = Settling(), [float(state.current[0])], [float(state.best[0])]

    def note(tick: object) -> None:
        current.append(float(state.current[0]))
        best.append(float(state.best[0]))

    run(
        *(state, decider, Steps(20), [np.random.default_rng(0)], 0.0, Interrupt()),
        callback=note,
        rounds=Rounds(lambda total: 2, n=4),
    )
    # While the first tour is built, nobody has to know how long the round is.
    told = [0.0] * 4 + [s / 10 for s in range(4, 10)] + [s / 10 for s in range(10)]
    assert [used for used, *_ in decider.seen] == pytest.approx(told)
    assert [total for _, total, *_ in decider.seen] == pytest.approx([20.0] * 4 + [10.0] * 16)
    assert [settled for _, _, settled, _ in decider.seen] == [0, 1, 2, 3, *[4] * 6] * 2
    assert len(current) >= 20
    costs = [best for *_, best in decider.seen]
    expected = [min(current[: s + 1]) for s in range(10)]
    expected += [min(current[10 : s + 1]) for s in range(10, 20)]
    assert costs == pytest.approx(expected)
    assert best == [min(current[: s + 1]) for s in range(len(best))]


def test_a_part_of_the_tour_is_built_anew() -> None:
    """In the second round: those around one request, each instance's by its own numbers."""
    instance = generate(4, seed=1)[0]
    tours = random_tours(4, Variant.PDTSP, 2, np.random.default_rng(0))
    points = np.random.default_rng(0).random((2, 9, 2))
    state = SearchState(Variant.PDTSP, points, instance.costs[None], np.ones(1), tours, 4)
    state.apply(Decision(np.array([1, 2]), np.zeros(2, int), np.zeros(2, int), None))  # type: ignore[arg-type]
    draws = np.random.default_rng(3).random((2, 6))
    state.begin_round(0.5, draws)
    edges = state.observe().whole_progress().edge.numpy()
    anew = kernels.unsettle(instance.costs[None], 0.5, edges, draws)
    progress = state.observe().whole_progress()
    assert progress.settled.tolist() == (~anew).tolist()
    assert 1 <= anew[0].sum() < 4
    assert (progress.age == 4.0).all()  # nothing is remembered of the first round
    state.begin_round(1.0, np.empty((2, 0)))
    assert not state.observe().whole_progress().settled.any()


def test_a_given_tour_is_settled() -> None:
    instance = generate(4, seed=1)[0]
    tours = random_tours(4, Variant.PDTSP, 2, np.random.default_rng(0))
    points = np.random.default_rng(0).random((2, 9, 2))
    state = SearchState(Variant.PDTSP, points, instance.costs[None], np.ones(1), tours, 4)
    state.given[1] = True
    settled = state.observe().whole_progress().settled
    assert settled.tolist() == [[False] * 4, [True] * 4]


def test_the_pace_is_that_of_the_steps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of 40 seconds went by before the first step, and each takes one: 20 are left."""
    instance = generate(4, seed=1)[0]
    tours = random_tours(4, Variant.PDTSP, 1, np.random.default_rng(0))
    points = np.random.default_rng(0).random((1, 9, 2))
    totals = []
    for rounds in (None, Rounds(lambda total: round(total / 10), n=4)):
        state = SearchState(Variant.PDTSP, points, instance.costs[None], np.ones(1), tours, 4)
        monkeypatch.setattr("time.monotonic", lambda state=state: 20.0 + state.step)
        decider, stop = Settling(), make_stop(40.0, None, None, None)
        run(*(state, decider, stop, [np.random.default_rng(0)], 0.0, Interrupt()), rounds=rounds)
        totals.append([total for _, total, *_ in decider.seen])
    assert totals[0] == pytest.approx([9.0] + [20.0] * 19)
    assert totals[1] == pytest.approx([9.0] * 4 + [10.0] * 16)
    assert [settled for _, _, settled, _ in decider.seen] == [0, 1, 2, 3, *[4] * 6] * 2


def test_steps_left_by_rule() -> None:
    standing = Standing(step=30, seconds=2.0, best=5.0, last_improvement=20, begun=0.5)
    assert Steps(120).left(standing) == 90.0
    assert NoImprovement(40).left(standing) == 30.0
    assert Seconds(8.0).left(standing) == pytest.approx(120.0)  # 6 s at 20 steps a second
    assert Seconds(1.0).left(standing) == 0.0
    assert Steps(10**400).left(standing) == NoImprovement(10**400).left(standing) == 1e15
    assert Target(1.0).left(standing) is None
    assert make_stop(8.0, 120, None, 1.0).left(standing) == 90.0
    assert AnyOf(()).left(standing) is None
    assert Seconds(8.0).left(Standing(0, 0.5, 5.0, 0, 0.5)) is None

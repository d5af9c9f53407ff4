"""The native policy's chain on linked tours: what it claims, carries on and leaves behind."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import oracles
from kernels.test_chain import World, world
from kernels.test_native_chain import ALWAYS, single
from kernels.test_native_decisions import random_theta
from kernels.test_native_draw import assert_frequencies
from n2s.kernels import linked_native as module
from n2s.kernels.legs import nearest_stops, plane, route_cost, similar_requests
from n2s.kernels.linked_list import SPAN
from n2s.kernels.linked_native import native_links, run_linked_native
from n2s.kernels.native_decisions import PARAMETERS
from n2s.problem import Instance, Metric, Rounding, Variant, evaluate_nodes, generate, random_tour

CASES = pytest.mark.parametrize(
    ("n", "symmetric"), list(itertools.product([1, 2, 7, 60], [True, False]))
)


class Linked:
    """A chain under way: everything that is carried from one call to the next."""

    def __init__(
        self,
        here: World,
        tour: np.ndarray,
        theta: np.ndarray,
        seed: int = 1,
        scale: float = 0.4,
    ) -> None:
        self.here, self.scale = here, scale
        self.n = len(tour) // 2
        self.theta = theta.copy()
        self.theta.setflags(write=False)
        self.tour, self.best_tour = tour.copy(), tour.copy()
        cost = route_cost(here.costs, tour)
        self.costs = np.array([cost, cost])
        self.times = np.full(self.n, -10 * self.n)
        self.traces, self.stamps = np.zeros(self.n, np.float32), np.zeros(self.n, np.int64)
        self.counters = np.zeros(3, np.int64)
        self.state = np.array([seed], np.uint64)

    def run(
        self,
        steps: int,
        progress: float = 0.0,
        pace: float = 0.0,
        toil: float = 0.0,
        budget: float = 100.0,
        timed: bool = False,
        span: int = SPAN,
    ) -> None:
        here = self.here
        given = (
            *(here.variant, here.costs, here.near, here.alike, self.theta, self.scale),
            *(self.tour, self.best_tour, self.costs, self.times, self.traces, self.stamps),
            *(self.counters, self.state, steps, progress, pace, toil, budget, timed),
        )
        if span == SPAN:
            run_linked_native(*given)
        else:
            native_links(*given, span)

    @property
    def everything(self) -> list[list[float]]:
        carried = (
            *(self.tour, self.best_tour, self.costs, self.times),
            *(self.traces, self.stamps, self.counters, self.state),
        )
        return [part.tolist() for part in carried]

    @property
    def last_out(self) -> list[int]:
        """The requests taken out in the last step."""
        return (np.flatnonzero(self.times == self.counters[0]) + 1).tolist()

    def check(self, variant: Variant) -> None:
        """Both tours are tours and cost what is claimed."""
        for claimed, route in zip(self.costs, (self.tour, self.best_tour), strict=True):
            assert oracles.is_feasible(route.tolist(), self.n, variant)
            assert claimed == pytest.approx(oracles.cost(self.here.costs, route.tolist()))
        assert self.costs[1] <= self.costs[0] * (1 + 1e-12)


def begin(
    n: int, variant: Variant, theta: np.ndarray, symmetric: bool = False, seed: int = 1
) -> Linked:
    tour = random_tour(n, variant, np.random.default_rng(n))
    return Linked(world(n, variant, symmetric), tour, theta, seed)


# --- what it claims -----------------------------------------------------------------------------


@CASES
@pytest.mark.parametrize("sigma", [0.0, 0.7, 3.0])
def test_tours_stay_feasible_and_costs_true(
    n: int, symmetric: bool, sigma: float, variant: Variant
) -> None:
    chain = begin(n, variant, random_theta(n, sigma), symmetric)
    start = best = chain.costs[1]
    progress = 0.0
    for steps in (0, 1, 1, 2, 7, 50, 1400):
        chain.run(steps, progress, 1 / 1500)
        progress += steps / 1500
        chain.check(variant)
        assert chain.costs[1] <= best
        best = chain.costs[1]
    assert chain.counters[0] == 1461
    if n == 60 and sigma < 3:
        assert best < 0.75 * start


@pytest.mark.parametrize("n", [2, 7, 60])
def test_changes_add_up_to_the_cost_of_the_tour(n: int, variant: Variant) -> None:
    """Of the steps themselves, before anything is measured anew; and the best is the least of them."""
    chain = begin(n, variant, random_theta(n, 0.7))
    here, size = chain.here, 2 * n + 1
    links = module.new_links(size, SPAN)
    module.read_tour(links, variant.code, here.costs, chain.tour)
    best = module.Best(
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.zeros(size, np.uint8),
        np.zeros(1, np.int64),
    )
    best.succ[:] = links.succ
    mind = module.Mind(np.empty(module.VIEWS), np.empty(module.LEVELS), np.empty(module.WAYS))
    module.way_chances(chain.theta, mind.ways)
    parts = (
        *(
            links,
            best,
            module.Picked(np.zeros(n + 1, np.uint8), np.empty(n, np.int64), np.empty(n)),
        ),
        *(module.new_log(n), module.new_bath(size, here.near.shape[1]), module.new_sight(size)),
        *(mind, module.Memory(chain.times, chain.traces, chain.stamps, chain.counters)),
    )
    least = chain.costs[1]
    for step in range(300):
        module.iterate_native(
            *(here.variant, here.costs, here.near, here.alike, chain.theta, chain.scale),
            *(*parts, chain.costs, chain.state, 1, step / 300, 1 / 300, 0.0, 100.0, False),
        )
        tour = np.empty(size, np.int64)
        module.write_tour(links.succ, tour)
        cost = oracles.cost(here.costs, tour.tolist())
        assert chain.costs[0] == pytest.approx(cost, rel=1e-9)
        least = min(least, cost)
        assert chain.costs[1] == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("count", range(6))
@pytest.mark.parametrize("n", [2, 7])
def test_the_cost_of_every_step_is_that_of_its_tour(n: int, count: int, variant: Variant) -> None:
    chain = begin(n, variant, single(random_theta(3, 0.5), count))
    for _ in range(150):
        known = chain.costs.copy()
        before = chain.tour.tolist()
        chain.run(1, 0.4)
        chain.check(variant)
        assert chain.costs[1] == min(known[1], chain.costs[0]) or chain.costs[1] == pytest.approx(
            known[1], rel=1e-8
        )
        if len(chain.last_out) == 1:
            nodes = [oracles.without(route, chain.last_out[0]) for route in (before, chain.tour)]
            assert nodes[0] == [int(node) for node in nodes[1]]


def test_block_moves_alone(variant: Variant) -> None:
    """LIFO moves blocks and takes nothing out; the other variant has none."""
    theta = np.zeros(PARAMETERS)
    oracles.native_blocks(theta)["blocks"][0] = ALWAYS
    chain = begin(8, variant, theta)
    before = chain.costs[0]
    for _ in range(60):
        chain.run(5, 0.5)
        chain.check(variant)
    assert (chain.times == -80).all() == (variant is Variant.LIFO)
    assert chain.counters[2] == (0 if variant is Variant.LIFO else 300)
    assert chain.costs[1] < before


def test_small_instances_are_solved(variant: Variant) -> None:
    """Every tour within reach, and the best of all found by zeros and by random parameters."""
    for n, seed in itertools.product([1, 2, 3, 4], range(4)):
        chain = begin(n, variant, random_theta(seed, 0.3 * seed))
        optimum = min(oracles.cost(chain.here.costs, t) for t in oracles.all_tours(n, variant))
        chain.run(3000, 0.0, 1 / 3000)
        assert chain.costs[1] == pytest.approx(optimum)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"metric": Metric.GREAT_CIRCLE, "rounding": Rounding.NEAREST},
        {"open_start": True, "open_end": True},
        {"end": np.array([0.0, 1.0]), "metric": Metric.MANHATTAN},
    ],
    ids=["plain", "rounded", "open", "end"],
)
def test_the_judge_agrees_on_a_plane(given, variant: Variant) -> None:
    points = np.random.default_rng(4).random((41, 2))
    instance = Instance(coordinates=points, variant=variant, **given)
    legs = plane(instance)
    tour = random_tour(20, variant, np.random.default_rng(4))
    first = route_cost(legs, tour)
    here = World(
        *(variant.code, legs, legs, nearest_stops(legs, 10)),
        *(similar_requests(legs, 20, 10), np.empty(0)),
    )
    chain = Linked(here, tour, random_theta(1, 0.3), scale=0.3 * first / 41)
    chain.run(1500, 0.0, 1 / 1500)
    for nodes, cost in ((chain.tour, chain.costs[0]), (chain.best_tour, chain.costs[1])):
        verdict = evaluate_nodes(instance, nodes.tolist())
        assert verdict.feasible
        assert verdict.cost == pytest.approx(cost, rel=1e-9)
    assert chain.costs[1] < 0.7 * first


# --- what it carries on -------------------------------------------------------------------------


def test_the_state_alone_decides(variant: Variant) -> None:
    first, again, other = (begin(60, variant, random_theta(1), seed=seed) for seed in (3, 3, 4))
    for chain in (first, again, other):
        chain.run(300, 0.0, 1 / 300)
    assert first.everything == again.everything
    assert first.tour.tolist() != other.tour.tolist()


def test_room_for_keys_does_not_matter(variant: Variant) -> None:
    """Keys dealt anew all the time, or hardly ever: the same walk."""
    chains = [begin(25, variant, random_theta(1, 0.5)) for _ in range(3)]
    for chain, span in zip(chains, (SPAN, 51, 200), strict=True):
        chain.run(400, 0.0, 1 / 400, span=span)
    assert chains[0].everything == chains[1].everything == chains[2].everything


def test_a_best_tour_that_is_not_the_current_one_is_kept(variant: Variant) -> None:
    """Hot steps from a bad tour do not reach a good one that was known before."""
    chain = begin(60, variant, random_theta(1, 0.0), symmetric=True)
    chain.run(8000, 0.0, 1 / 8000)
    kept = chain.best_tour.tolist()
    chain.tour[:] = random_tour(60, variant, np.random.default_rng(9))
    chain.costs[0] = oracles.cost(chain.here.costs, chain.tour.tolist())
    chain.run(50, 0.0)
    assert chain.best_tour.tolist() == kept
    assert chain.counters[1] >= 50
    chain.check(variant)


def test_counters_times_and_traces(variant: Variant) -> None:
    """Steps, steps since the best, and what was taken out: 0.5 more each time, fading by 1 - 1 / 2n."""
    chain = begin(7, variant, random_theta(4, 0.5))
    stagnation, rounds, traces = 0, 0, np.zeros(7)
    for step in range(1, 200):
        best = chain.costs[1]
        chain.run(1, 0.3)
        stagnation = 0 if chain.costs[1] < best - 1e-9 else stagnation + 1
        out = chain.last_out
        rounds += bool(out)
        assert chain.counters.tolist() == [step, stagnation, rounds]
        if out:
            traces *= 1 - 0.5 / 7
            traces[np.array(out) - 1] += 0.5
        else:
            assert variant is Variant.LIFO  # a block was moved or not, nothing was taken out
        now = chain.traces * (1 - 0.5 / 7) ** (rounds - chain.stamps)
        assert now == pytest.approx(traces, rel=1e-4)


@pytest.mark.parametrize("sigma", [0.0, 1.0])
def test_work_ends_at_progress_one(sigma: float, variant: Variant) -> None:
    """A step costs its pace and a toil for every request put back, or one for a block."""
    pace, toil = 2.0**-9, 2.0**-8
    chain = begin(8, variant, random_theta(6, sigma))
    progress, steps = 0.25, 0
    while progress < 1:
        chain.run(1, progress, pace, toil)
        progress += pace + toil * max(1, len(chain.last_out))
        steps += 1
    assert chain.counters[0] == steps
    before = chain.everything
    chain.run(10, 1.0, pace, toil)
    assert chain.everything == before
    chain.run(10, 1.0, pace, 0.0)  # where only steps count, nothing ends before they are made
    assert chain.counters[0] == steps + 10


# --- chances ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_no_request_is_taken_out_twice_in_a_row(n: int, variant: Variant) -> None:
    """In steps that take out one; a single request has no choice."""
    chain = begin(n, variant, single(random_theta(5, 3.0)))
    before: list[int] = []
    for _ in range(200):
        chain.run(1, 0.5)
        out = chain.last_out
        assert len(out) == 1
        assert (out != before) == (n > 1) or not before
        before = out


@pytest.mark.parametrize("count", range(6))
def test_as_many_go_out_as_the_class_says(count: int, variant: Variant) -> None:
    low, high = [(1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32)][count]
    for n in (2, 60):
        chain = begin(n, variant, single(np.zeros(PARAMETERS), count))
        seen: Counter[int] = Counter()
        for _ in range(200):
            chain.run(1, 0.5)
            seen[len(chain.last_out)] += 1
        assert max(seen) == min(high, n)
        assert min(seen) >= 1
        if n == 60:  # related requests may run out, rarely
            assert sum(times for size, times in seen.items() if size >= low) > 100


@pytest.mark.parametrize("preferences", [[0.0, 0.0, 0.0, 0.0], [1.0, -0.7, 0.8, -1.2]])
def test_steps_have_the_probabilities_of_the_policy(
    preferences: list[float], variant: Variant
) -> None:
    """20,000 first steps with all stops near, by chi-square: a request by its score, then its place."""
    n, scale = 3, 0.4
    theta = single(random_theta(9, 0.3))
    oracles.native_blocks(theta)["places"][:] = preferences
    here = world(n, variant)
    tour = random_tour(n, variant, np.random.default_rng(2))
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        chain = Linked(here, tour, theta, seed, scale)
        chain.run(1, 0.1, budget=64.0)
        counts[tuple(chain.tour.tolist())] += 1
    seen = np.array([0.0, 0.0, 0.1, -0.25, 0.0])
    nodes = tour.tolist()
    features = oracles.native_features(here.costs, nodes, scale, 1, [-30] * n, [0.0] * n)
    scores = oracles.native_scores(theta, seen, features)
    weights = np.exp(scores - scores.max())
    temperature = oracles.native_temperature(theta, seen, scale)
    expected: Counter[tuple[int, ...]] = Counter()
    for request, share in enumerate(weights / weights.sum(), 1):
        rest = oracles.without(nodes, request)
        changes = oracles.reinsertion_changes(here.costs, rest, request, variant)
        (old,) = [p for p in changes if oracles.reinserted(rest, request, *p) == nodes]
        logits = {}
        for (j, k), change in changes.items():
            logits[j, k] = -change / temperature
            if j == k:
                logits[j, k] += preferences[3]
                logits[j, k] += preferences[2] if (j, k) == old else 0.0
            else:
                logits[j, k] += preferences[0] if j == old[0] else 0.0
                logits[j, k] += preferences[1] if k == old[1] else 0.0
        total = sum(map(math.exp, logits.values()))
        for pair, logit in logits.items():
            expected[tuple(oracles.reinserted(rest, request, *pair))] += (
                share * math.exp(logit) / total
            )
    assert_frequencies(counts, expected)


def test_worse_tours_after_large_removals_are_taken_by_their_probability(variant: Variant) -> None:
    """The same numbers, very eager, show what is proposed; else it is taken with exp(-d / T)."""
    theta = single(np.zeros(PARAMETERS), 2)
    eager = theta.copy()
    oracles.native_blocks(eager)["several"][1] = 10.0
    polished = begin(12, variant, np.zeros(PARAMETERS))
    polished.run(5000, 0.0, 1 / 5000)
    temperature = 0.4 * 0.4
    surplus = spread = 0.0
    for seed in range(3000):
        proposed = Linked(polished.here, polished.best_tour, eager, seed)
        tried = Linked(polished.here, polished.best_tour, theta, seed)
        for chain in (proposed, tried):
            chain.run(1, 0.0)
        change = proposed.costs[0] - polished.costs[1]
        if change > 1e-9 and len(proposed.last_out) > 1:
            chance = math.exp(-change / temperature)
            taken = tried.tour.tolist() == proposed.tour.tolist()
            assert taken or tried.tour.tolist() == polished.best_tour.tolist()
            surplus += taken - chance
            spread += chance * (1 - chance)
    assert spread > 50
    assert abs(surplus) < 4 * math.sqrt(spread)


def test_a_plane_and_its_matrix_walk_the_same_way(variant: Variant) -> None:
    instance = generate(40, seed=2, variant=variant)[0]
    found = []
    for legs in (plane(instance), instance.costs):
        here = World(
            *(variant.code, legs, legs, nearest_stops(legs, 10)),
            *(similar_requests(legs, 40, 10), np.empty(0)),
        )
        tour = random_tour(40, variant, np.random.default_rng(2))
        chain = Linked(here, tour, random_theta(2, 0.3), scale=0.1)
        chain.run(500, 0.0, 1 / 500)
        found.append(chain.everything)
    assert found[0] == found[1]

"""The native policy's chain: what it sees, what it claims and what it leaves behind."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

import oracles
from kernels.test_chain import World, world
from kernels.test_native_decisions import random_theta
from kernels.test_native_draw import assert_frequencies
from n2s.kernels.native_chain import look, run_native
from n2s.kernels.native_decisions import PARAMETERS
from n2s.problem import Variant, random_tour

CASES = pytest.mark.parametrize(
    ("n", "symmetric"), list(itertools.product([1, 2, 5, 25], [True, False]))
)
NEVER, ALWAYS = -80.0, 80.0
"""Logits of what is not to happen, and of what is."""


def single(theta: np.ndarray, count: int = 0) -> np.ndarray:
    """The same, but only one class of counts, no block moves and no returns."""
    theta = theta.copy()
    blocks = oracles.native_blocks(theta)
    blocks["count/views"][:], blocks["count/bias"][:] = 0.0, NEVER
    blocks["count/bias"][count] = ALWAYS
    for name in ("blocks", "return"):
        blocks[name][:6] = [NEVER, 0, 0, 0, 0, 0]
    return theta


class Native:
    """A chain under way: everything that is carried from one call to the next."""

    def __init__(
        self,
        here: World,
        tour: np.ndarray,
        theta: np.ndarray,
        seed: int = 1,
        scale: float = 0.4,
        times: np.ndarray | None = None,
        traces: np.ndarray | None = None,
        bias: np.ndarray | None = None,
    ) -> None:
        self.here, self.scale = here, scale
        self.n = len(tour) // 2
        self.theta = theta.copy()
        self.theta.setflags(write=False)
        self.tour, self.best_tour = tour.copy(), tour.copy()
        cost = oracles.cost(here.costs, tour.tolist())
        self.costs = np.array([cost, cost])
        self.times = np.full(self.n, -10 * self.n) if times is None else times.copy()
        self.traces = np.zeros(self.n, np.float32) if traces is None else traces.copy()
        self.counters = np.zeros(2, np.int64)
        self.bias = np.zeros(self.n, np.float32) if bias is None else bias.astype(np.float32)
        self.state = np.array([seed], np.uint64)

    def run(
        self,
        steps: int,
        progress: float = 0.0,
        pace: float = 0.0,
        toil: float = 0.0,
        budget: float = 100.0,
        timed: bool = False,
        build: bool = False,
    ) -> None:
        here = self.here
        self.progress = run_native(
            *(here.variant, here.costs, here.reach, here.reach, here.near, here.alike),
            *(self.theta, self.bias),
            self.scale,
            *(self.tour, self.best_tour, self.costs, self.times, self.traces, self.counters),
            *(self.state, steps, progress, pace, toil, budget, timed, build),
        )

    @property
    def everything(self) -> list[list[float]]:
        carried = (
            *(self.tour, self.best_tour, self.costs),
            *(self.times, self.traces, self.counters, self.state),
        )
        return [part.tolist() for part in carried]

    @property
    def last_out(self) -> list[int]:
        """The requests taken out in the last step."""
        return (np.flatnonzero(self.times == self.counters[0]) + 1).tolist()


def begin(
    n: int, variant: Variant, theta: np.ndarray, symmetric: bool = False, seed: int = 1
) -> Native:
    tour = random_tour(n, variant, np.random.default_rng(n))
    return Native(world(n, variant, symmetric), tour, theta, seed)


def whole_features(
    here: World,
    nodes: list[int],
    theta: np.ndarray,
    seen: np.ndarray,
    scale: float,
    times: Sequence[int],
    traces: Sequence[float],
) -> np.ndarray:
    """(10, n) in the first step, by the slow twins."""
    local = oracles.native_features(here.costs, nodes, scale, 1, times, traces)
    changes = oracles.outlook(here.costs, nodes, Variant.LIFO if here.variant else Variant.PDTSP)
    temperature = oracles.native_temperature(theta, seen, scale)
    return np.concatenate([local, oracles.native_outlook(changes, scale, temperature)])


# --- what is seen --------------------------------------------------------------------------------


@CASES
def test_what_is_seen_of_requests(n: int, symmetric: bool, variant: Variant) -> None:
    here = world(n, variant, symmetric)
    for seed in range(5):
        tour = random_tour(n, variant, np.random.default_rng(seed))
        nodes = tour.tolist()
        arcs = np.array(
            [here.costs[a, b] for a, b in zip(nodes, [*nodes[1:], nodes[0]], strict=True)]
        )
        place, features = np.zeros(2 * n + 1, np.int64), np.full((10, n), 9, np.float32)
        look(here.costs, tour, arcs, n, 0.4, place, features)
        expected = oracles.native_features(here.costs, nodes, 0.4, 0, [0] * n, [0.0] * n)
        rows = [0, 1, 6, 7]
        assert features[rows] == pytest.approx(expected[rows], abs=2e-6)
        assert (features[[2, 3, 4, 5, 8, 9]] == 9).all()  # not its own
        assert tour[place].tolist() == list(range(2 * n + 1))


# --- what it claims -----------------------------------------------------------------------------


@CASES
@pytest.mark.parametrize("sigma", [0.0, 0.7, 3.0])
def test_tours_stay_feasible_and_costs_true(
    n: int, symmetric: bool, sigma: float, variant: Variant
) -> None:
    chain = begin(n, variant, random_theta(n, sigma), symmetric)
    start = best = chain.costs[1]
    progress = 0.0
    for steps in (0, 1, 1, 2, 7, 50, 700):
        chain.run(steps, progress, 1 / 1000)
        progress += steps / 1000
        for claimed, route in zip(chain.costs, (chain.tour, chain.best_tour), strict=True):
            assert oracles.is_feasible(route.tolist(), n, variant)
            assert claimed == pytest.approx(
                oracles.cost(chain.here.costs, route.tolist()), abs=1e-9
            )
        assert chain.costs[1] <= chain.costs[0] + 1e-12
        assert chain.costs[1] <= best
        best = chain.costs[1]
    assert chain.counters[0] == 761
    if n == 25 and sigma < 3:
        assert best < 0.75 * start


def test_block_moves_alone(variant: Variant) -> None:
    """Of blocks, or of stretches where precedence alone counts; nothing is taken out."""
    theta = np.zeros(PARAMETERS)
    oracles.native_blocks(theta)["blocks"][0] = ALWAYS
    chain = begin(8, variant, theta)
    before = chain.costs[0]
    for _ in range(60):
        chain.run(5, 0.5)
        assert oracles.is_feasible(chain.tour.tolist(), 8, variant)
        assert chain.costs[0] == pytest.approx(
            oracles.cost(chain.here.costs, chain.tour.tolist()), abs=1e-9
        )
    assert (chain.times == -80).all()
    assert chain.costs[1] < before


def test_a_stretch_keeps_its_order(variant: Variant) -> None:
    """What moved is one stretch: around it, and in it, all stops follow each other as before."""
    theta = np.zeros(PARAMETERS)
    oracles.native_blocks(theta)["blocks"][0] = ALWAYS
    chain = begin(8, variant, theta)
    moved = 0
    for _ in range(100):
        before = chain.tour.tolist()
        chain.run(1, 0.5)
        after = chain.tour.tolist()
        ways = {
            tuple(rest[:gap] + before[a:b] + rest[gap:])
            for a, b in itertools.combinations(range(1, 18), 2)
            for rest in [before[:a] + before[b:]]
            for gap in range(1, len(rest) + 1)
        }
        assert tuple(after) in ways
        moved += after != before
    assert moved > 10


def test_a_step_may_begin_with_the_best_tour(variant: Variant) -> None:
    """Where it always does, every tour is one request away from the best so far; where never, not all."""

    def near(theta: np.ndarray) -> list[bool]:
        chain = begin(8, variant, theta)
        chain.run(200, 0.9)
        found = []
        for _ in range(200):
            best = chain.best_tour.tolist()
            chain.run(1, 0.0)
            (request,) = chain.last_out
            assert chain.costs[0] == pytest.approx(
                oracles.cost(chain.here.costs, chain.tour.tolist()), abs=1e-9
            )
            mine = oracles.without(chain.tour.tolist(), request)
            found.append(mine == oracles.without(best, request))
        return found

    theta = single(np.zeros(PARAMETERS))
    assert not all(near(theta))
    oracles.native_blocks(theta)["return"][0] = ALWAYS
    assert all(near(theta))


def test_small_instances_are_solved(variant: Variant) -> None:
    """Every tour within reach, and the best of all found by zeros and by random parameters."""
    for n, seed in itertools.product([1, 2, 3, 4], range(4)):
        chain = begin(n, variant, random_theta(seed, 0.3 * seed))
        optimum = min(oracles.cost(chain.here.costs, t) for t in oracles.all_tours(n, variant))
        chain.run(3000, 0.0, 1 / 3000)
        assert chain.costs[1] == pytest.approx(optimum)


@pytest.mark.parametrize("exponent", [30, -30, 200, -200, 300, -300])
def test_the_unit_of_costs_does_not_matter(exponent: int, variant: Variant) -> None:
    """In units of a power of two not a bit changes, whatever single precision can hold."""
    plain = begin(8, variant, random_theta(3))
    unit = 2.0**exponent
    costs, reach = plain.here.costs * unit, plain.here.reach * unit
    for array in (costs, reach):
        array.setflags(write=False)
    here = plain.here._replace(costs=costs, reach=reach)
    scaled = Native(here, plain.tour, random_theta(3), scale=0.4 * unit)
    for chain in (plain, scaled):
        chain.run(400, 0.0, 1 / 400)
    assert scaled.tour.tolist() == plain.tour.tolist()
    assert (scaled.costs / unit).tolist() == plain.costs.tolist()


@pytest.mark.parametrize("never", [1e9, 1e14, 1e20, 1e40, 1e99])
def test_arcs_that_stand_for_never(never: float, variant: Variant) -> None:
    """Costs stay true, places stay places; the forbidden arcs of the first tour are left behind."""
    plain = begin(8, variant, random_theta(2, 0.5))
    costs = plain.here.costs.copy()
    rng = np.random.default_rng(3)
    costs[rng.random(costs.shape) < 0.25] = never
    reach = np.array(costs.T, order="C")
    for array in (costs, reach):
        array.setflags(write=False)
    chain = Native(plain.here._replace(costs=costs, reach=reach), plain.tour, plain.theta)
    assert chain.costs[0] >= never
    for _ in range(40):
        chain.run(25, 0.5)
        for claimed, route in zip(chain.costs, (chain.tour, chain.best_tour), strict=True):
            assert oracles.is_feasible(route.tolist(), 8, variant)
            assert claimed == pytest.approx(oracles.cost(costs, route.tolist()), rel=1e-9)
    assert chain.costs[1] < 10


# --- what it carries on -------------------------------------------------------------------------


def test_the_state_alone_decides(variant: Variant) -> None:
    first, again, other = (begin(25, variant, random_theta(1), seed=seed) for seed in (3, 3, 4))
    for chain in (first, again, other):
        chain.run(300, 0.0, 1 / 300)
    assert first.everything == again.everything
    assert first.tour.tolist() != other.tour.tolist()


@pytest.mark.parametrize("sigma", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 25])
def test_calls_one_after_the_other_are_one_call(n: int, sigma: float, variant: Variant) -> None:
    """Bit for bit, as long as progress goes on where it stood: paces here are powers of two."""
    whole, halves, single_steps = (begin(n, variant, random_theta(2, sigma)) for _ in range(3))
    pace = 2.0**-7
    whole.run(100, 0.125, pace)
    for part in range(2):
        halves.run(50, 0.125 + 50 * part * pace, pace)
    for step in range(100):
        single_steps.run(1, 0.125 + step * pace, pace)
    assert whole.everything == halves.everything == single_steps.everything
    assert whole.counters[0] == 100


def test_counters_times_and_traces(variant: Variant) -> None:
    """Steps, steps since the best, and what was taken out: 0.5 more each time, fading by 1 - 1 / 2n."""
    chain = begin(5, variant, random_theta(4, 0.5))
    stagnation, traces = 0, np.zeros(5)
    for step in range(1, 200):
        best = chain.costs[1]
        chain.run(1, 0.3)
        stagnation = 0 if chain.costs[1] < best else stagnation + 1
        assert chain.counters.tolist() == [step, stagnation]
        out = chain.last_out
        if out:  # else a block or stretch was moved or not, nothing was taken out
            traces *= 0.9
            traces[np.array(out) - 1] += 0.5
        assert chain.traces == pytest.approx(traces, abs=1e-5)
    assert len(set(chain.times.tolist())) > 1


@pytest.mark.parametrize("sigma", [0.0, 1.0])
def test_work_ends_at_progress_one(sigma: float, variant: Variant) -> None:
    """A step costs its pace and a toil for every request put back, or one for a block."""
    pace, toil = 2.0**-9, 2.0**-8
    theta = random_theta(6, sigma)
    whole, stepwise = begin(8, variant, theta), begin(8, variant, theta)
    whole.run(10**6, 0.25, pace, toil)
    progress = 0.25
    while progress < 1:
        stepwise.run(1, progress, pace, toil)
        progress += pace + toil * max(1, len(stepwise.last_out))
        assert stepwise.progress == progress
    assert whole.progress == progress
    assert whole.everything == stepwise.everything
    before = whole.everything
    whole.run(10, 1.0, pace, toil)
    assert whole.everything == before
    whole.run(10, 1.0, pace, 0.0)  # where only steps count, nothing ends before they are made
    assert whole.counters[0] == stepwise.counters[0] + 10


def test_work_of_single_removals_by_hand(variant: Variant) -> None:
    """(1 - 0.25) / (1 / 64 + 1 / 32) = 16 steps."""
    chain = begin(8, variant, single(np.zeros(PARAMETERS)))
    chain.run(10**6, 0.25, 1 / 64, 1 / 32)
    assert chain.counters[0] == 16


# --- chances ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_no_request_is_taken_out_twice_in_a_row(n: int, sigma: float, variant: Variant) -> None:
    """In steps that take out one, however much the scores want it; a single request has no choice."""
    chain = begin(n, variant, single(random_theta(5, sigma)))
    before: list[int] = []
    for _ in range(300):
        chain.run(1, 0.5)
        out = chain.last_out
        assert len(out) == 1
        assert (out != before) == (n > 1) or not before
        before = out


@pytest.mark.parametrize("count", range(6))
def test_as_many_go_out_as_the_class_says(count: int, variant: Variant) -> None:
    """1, 2, 3 to 4, 5 to 8, ..., 17 to 32: never more, and no request twice; never more than there are."""
    low, high = [(1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32)][count]
    for n in (2, 40):
        chain = begin(n, variant, single(np.zeros(PARAMETERS), count))
        seen: Counter[int] = Counter()
        for _ in range(200):
            chain.run(1, 0.5)
            seen[len(chain.last_out)] += 1
        assert max(seen) == min(high, n)
        assert min(seen) >= 1
        if n == 40:  # related requests may run out: rarely, but for strings that look for 17
            assert sum(times for size, times in seen.items() if size >= low) > (
                100 if high < 32 else 70
            )


@pytest.mark.parametrize(
    ("bias", "above", "stalled"),
    [([0.0] * 5, 0.0, 0), ([0.5, -1.0, 0.0, 1.5, 0.3], 0.0, 0), ([0.0] * 5, 0.8, 11)],
)
def test_removals_have_the_probabilities_of_their_scores(
    bias: list[float], above: float, stalled: int, variant: Variant
) -> None:
    """20,000 single steps, by chi-square: the softmax over features of the slow twin, and the bias.

    At their beginning the tour costs more than the best one, and nothing has improved for some steps.
    """
    n, scale = 5, 0.4
    theta = single(random_theta(8, 0.4))
    oracles.native_blocks(theta)["outlook"][:] *= (
        0.1  # savings are large numbers: leave others a chance
    )
    here = world(n, variant)
    rng = np.random.default_rng(1)
    tour = random_tour(n, variant, rng)
    times = np.array([-1, -3, -50, -7, -20])
    traces = rng.random(n).astype(np.float32)
    counts: Counter[int] = Counter()
    for seed in range(20_000):
        chain = Native(here, tour, theta, seed, scale, times, traces, np.array(bias))
        chain.costs[1] -= above
        chain.counters[1] = stalled
        chain.run(1, 0.3, budget=512.0, timed=True)
        counts.update(chain.last_out)
    seen = np.array([above / (4 * scale), stalled / (2 * 11), 0.3, 0.5, 1.0])
    features = whole_features(here, tour.tolist(), theta, seen, scale, times, traces)
    scores = oracles.native_scores(theta, seen, features) + bias
    weights = np.exp(scores - scores.max())
    chances = dict(enumerate((weights / weights.sum()).tolist(), 1))
    assert max(chances.values()) < 0.9
    assert_frequencies(counts, chances)


@pytest.mark.parametrize("preferences", [[0.0, 0.0, 0.0, 0.0], [1.0, -0.7, 0.8, -1.2]])
def test_steps_have_the_probabilities_of_the_heat_bath(
    preferences: list[float], variant: Variant
) -> None:
    """20,000 first steps, by chi-square: a request by its score, then its place by cost and preference."""
    n, scale = 3, 0.4
    theta = single(random_theta(9, 0.3))
    blocks = oracles.native_blocks(theta)
    blocks["outlook"][:] *= 0.1
    blocks["places"][:] = preferences
    here = world(n, variant)
    tour = random_tour(n, variant, np.random.default_rng(2))
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        chain = Native(here, tour, theta, seed, scale)
        chain.run(1, 0.1, budget=64.0)
        counts[tuple(chain.tour.tolist())] += 1
    seen = np.array([0.0, 0.0, 0.1, -0.25, 0.0])
    nodes = tour.tolist()
    features = whole_features(here, nodes, theta, seen, scale, [-30] * n, [0.0] * n)
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


@pytest.mark.parametrize("together", [0.0, 1.5])
@pytest.mark.parametrize("colder", [-0.7, -2.5], ids=["warm", "cold"])
def test_two_requests_go_back_by_the_heat_bath(
    colder: float, together: float, variant: Variant
) -> None:
    """20,000 first steps that take out both of two requests, by chi-square.

    They go back in an order that is random half of the time, else the longer one first or the one farther
    from the depot; the first has one place, the second one drawn at a colder temperature, below a tenth of
    the scale in one case and not in the other.
    """
    scale = 0.4
    theta = single(np.zeros(PARAMETERS), 1)
    blocks = oracles.native_blocks(theta)
    blocks["several"][:] = colder, 10.0  # taken whatever it costs
    blocks["places"][:] = 3.0, 3.0, 3.0, together  # there are no old places
    here = world(2, variant)
    tour = random_tour(2, variant, np.random.default_rng(2))
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(20_000):
        chain = Native(here, tour, theta, seed, scale)
        chain.run(1, 0.3)
        if chain.last_out == [1, 2]:  # the related one is passed over now and then
            counts[tuple(chain.tour.tolist())] += 1
    assert sum(counts.values()) > 10_000
    seen = np.array([0.0, 0.0, 0.3, 0.0, 0.0])
    bath = oracles.native_temperature(theta, seen, scale) * math.exp(colder)
    assert (bath < 0.1 * scale) == (colder == -2.5)
    costs = here.costs
    longer = 1 if costs[1, 3] > costs[2, 4] else 2
    farther = 1 if costs[0, 1] + costs[3, 0] > costs[0, 2] + costs[4, 0] else 2
    expected: Counter[tuple[int, ...]] = Counter()
    for first, second in ((1, 2), (2, 1)):
        share = 0.25 + 0.25 * (first == longer) + 0.25 * (first == farther)
        rest = [0, first, first + 2]
        changes = {
            (j, k): change - (bath * together if j == k else 0.0)
            for (j, k), change in oracles.reinsertion_changes(costs, rest, second, variant).items()
        }
        for pair, chance in oracles.heat_bath_of(changes, bath).items():
            expected[tuple(oracles.reinserted(rest, second, *pair))] += share * chance
    assert_frequencies(counts, expected)


def assert_metropolis(
    theta: np.ndarray, eager: np.ndarray, temperature: float, variant: Variant
) -> None:
    """The same numbers, very eager, show what is proposed; else it is taken with exp(-d / T)."""
    polished = begin(12, variant, np.zeros(PARAMETERS))
    polished.run(5000, 0.0, 1 / 5000)
    surplus = spread = 0.0
    for seed in range(3000):
        proposed = Native(polished.here, polished.best_tour, eager, seed)
        tried = Native(polished.here, polished.best_tour, theta, seed)
        for chain in (proposed, tried):
            chain.run(1, 0.0)
        change = proposed.costs[0] - polished.costs[1]
        if change > 1e-9 and len(proposed.last_out) != 1:  # a single request is always taken
            chance = math.exp(-change / temperature)
            taken = tried.tour.tolist() == proposed.tour.tolist()
            assert taken or tried.tour.tolist() == polished.best_tour.tolist()
            surplus += taken - chance
            spread += chance * (1 - chance)
    assert spread > 50
    assert abs(surplus) < 4 * math.sqrt(spread)


def test_worse_tours_after_large_removals_are_taken_by_their_probability(variant: Variant) -> None:
    theta = single(np.zeros(PARAMETERS), 2)
    eager = theta.copy()
    oracles.native_blocks(eager)["several"][1] = 10.0
    assert_metropolis(theta, eager, 0.4 * 0.4, variant)


def test_worse_stretches_are_taken_by_their_probability(variant: Variant) -> None:
    """At a learned multiple of the temperature."""
    theta = np.zeros(PARAMETERS)
    oracles.native_blocks(theta)["blocks"][0] = ALWAYS
    eager = theta.copy()
    oracles.native_blocks(theta)["blocks"][6] = -0.5
    oracles.native_blocks(eager)["blocks"][6] = 10.0
    assert_metropolis(theta, eager, 0.4 * 0.4 * math.exp(-0.5), variant)


def logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def test_stretches_and_returns_happen_as_often_as_their_logits_say(variant: Variant) -> None:
    """8,000 single steps from a tour above the best one, by chi-square; a logit is linear in the views."""
    n, scale = 8, 0.4
    here = world(n, variant)
    current, best = (random_tour(n, variant, np.random.default_rng(seed)) for seed in (1, 2))
    theta = single(np.zeros(PARAMETERS))
    blocks = oracles.native_blocks(theta)
    blocks["return"][:6] = [5.0, 0.3, 0.4, -0.6, 0.5, 0.2]
    blocks["blocks"][:6] = [2.2, 0.5, -0.4, 0.3, 0.2, -0.1]
    counts: Counter[str] = Counter()
    for seed in range(8000):
        chain = Native(here, current, theta, seed, scale)
        chain.best_tour[:] = best
        chain.costs[1] = chain.costs[0] - 0.8
        chain.counters[1] = 17
        chain.run(1, 0.3, budget=512.0, timed=True)
        out = chain.last_out
        if not out:
            counts["stretch"] += 1
            continue
        rest = oracles.without(chain.tour.tolist(), out[0])
        returned = rest == oracles.without(best.tolist(), out[0])
        assert returned != (rest == oracles.without(current.tolist(), out[0]))
        counts["returned" if returned else "went on"] += 1
    excess = 0.8 / (4 * scale)
    back = logistic(-6 + 5.0 + 0.3 * excess + 0.4 * 17 / 34 - 0.6 * 0.3 + 0.5 * 0.5 + 0.2)
    others = -3 + 2.2 - 0.4 * 17 / 34 + 0.3 * 0.3 + 0.2 * 0.5 - 0.1
    stretch, stretch_behind = logistic(others + 0.5 * excess), logistic(others)  # no excess there
    expected = {
        "stretch": (1 - back) * stretch + back * stretch_behind,
        "returned": back * (1 - stretch_behind),
        "went on": (1 - back) * (1 - stretch),
    }
    assert min(expected.values()) > 0.1
    assert_frequencies(counts, expected)


def test_related_requests_are_chosen_in_the_ways_of_their_shares(variant: Variant) -> None:
    """With the numbers of a seed each way alone takes out some requests; together they take turns."""
    logits = [0.4, -0.3, 0.8]
    here = world(12, variant)
    tour = random_tour(12, variant, np.random.default_rng(4))

    def taken(seed: int, ways: list[float]) -> list[int]:
        theta = single(np.zeros(PARAMETERS), 2)
        oracles.native_blocks(theta)["ways"][:] = ways
        chain = Native(here, tour, theta, seed)
        chain.run(1, 0.3)
        return chain.last_out

    counts: Counter[int] = Counter()
    for seed in range(6000):
        alone = [taken(seed, [ALWAYS * (way == one) for way in range(3)]) for one in range(3)]
        together = taken(seed, logits)
        assert together in alone
        if len(set(map(tuple, alone))) == 3:
            counts[alone.index(together)] += 1
    assert sum(counts.values()) > 1000
    weights = [math.exp(logit) for logit in logits]
    assert_frequencies(counts, {way: weight / sum(weights) for way, weight in enumerate(weights)})

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from n2s import kernels
from n2s.kernels.rules import gap_labels
from n2s.problem import Variant, random_tours


@pytest.mark.parametrize("batch", [1, 2, 7])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_mask_and_list_say_what_the_oracle_says(batch: int, n: int, variant: Variant) -> None:
    rng = np.random.default_rng(batch * 100 + n)
    tours = random_tours(n, variant, batch, rng)
    requests = rng.integers(1, n + 1, batch)
    rests = kernels.remove_requests(tours, requests)
    mask = kernels.feasible_mask(variant.code, rests)
    offsets, js, ks = kernels.feasible_pairs(variant.code, rests)
    for b in range(batch):
        expected = oracles.feasible_gaps(rests[b].tolist(), int(requests[b]), variant)
        assert list(map(tuple, np.argwhere(mask[b]).tolist())) == expected
        mine = slice(offsets[b], offsets[b + 1])
        assert list(zip(js[mine].tolist(), ks[mine].tolist(), strict=True)) == expected
    counts = kernels.count_feasible(variant.code, rests)
    assert (counts == np.diff(offsets)).all()
    for rank in range(int(counts.max())):
        ranks = np.minimum(rank, counts - 1)
        picked_j, picked_k = kernels.pick_feasible(variant.code, rests, ranks)
        assert (picked_j == js[offsets[:-1] + ranks]).all()
        assert (picked_k == ks[offsets[:-1] + ranks]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_feasible_tour_is_one_move_away_and_no_other(n: int, variant: Variant) -> None:
    """All feasible tours are grouped by what remains without a request; the list must give each group."""
    tours = np.array(list(oracles.all_tours(n, variant)))
    for request in range(1, n + 1):
        requests = np.full(len(tours), request)
        rests = kernels.remove_requests(tours, requests)
        groups: dict[bytes, set[bytes]] = {}
        for rest, tour in zip(rests, tours, strict=True):
            groups.setdefault(rest.tobytes(), set()).add(tour.tobytes())
        offsets, js, ks = kernels.feasible_pairs(variant.code, rests)
        owner = np.repeat(np.arange(len(tours)), np.diff(offsets))
        reached = kernels.insert_requests(rests[owner], requests[owner], js, ks)
        found: dict[bytes, set[bytes]] = {}
        for rest, tour in zip(rests[owner], reached, strict=True):
            found.setdefault(rest.tobytes(), set()).add(tour.tobytes())
        assert found == groups


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_labels_describe_lifo_by_the_top_of_the_stack(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tours = random_tours(n, Variant.LIFO, 1, rng)
    rest = kernels.remove_requests(tours, rng.integers(1, n + 1, 1))[0]
    labels = np.empty((2, len(rest)), np.int64)
    gap_labels(Variant.LIFO.code, rest, n, labels[0], labels[1], np.empty(n + 1, np.int64))
    loaded: list[int] = []
    for gap, node in enumerate(rest.tolist()):
        if node > n:
            assert loaded.pop() == node - n
        elif node > 0:
            loaded.append(node)
        top = loaded[-1] if loaded else 0
        assert labels[:, gap].tolist() == [top, top]

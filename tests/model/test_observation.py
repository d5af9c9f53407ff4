from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from n2s.model import History


@pytest.mark.parametrize(("batch", "n", "window"), [(1, 1, 1), (2, 5, 4), (7, 3, 10)])
def test_history_counts_the_last_removals(batch: int, n: int, window: int) -> None:
    rng = np.random.default_rng(1)
    history = History(batch, n, window)
    window = max(window, 3)
    pushed: list[np.ndarray] = []
    for _ in range(25):
        requests = rng.integers(1, n + 1, batch)
        history.push(requests)
        pushed.append(requests)
        for b in range(batch):
            mine = [int(step[b]) for step in pushed]
            counts = Counter(mine[-window:])
            expected = [counts[request] / window for request in range(1, n + 1)]
            assert history.frequency[b].tolist() == pytest.approx(expected)
            ago = [*reversed(mine[-3:]), 0, 0, 0][:3]
            assert history.recent[b].tolist() == ago
            for request in range(1, n + 1):
                age = 10**9 if request not in mine else mine[::-1].index(request) + 1
                assert float(history.age[b, request - 1]) == pytest.approx(min(age / n, 4.0))


def test_a_fresh_history_is_empty() -> None:
    history = History(2, 3, 5)
    assert history.frequency.sum() == 0
    assert (history.recent == 0).all()
    assert (history.age == 4.0).all()

"""The memory of a search: which requests were removed in the last K steps, and when."""

from __future__ import annotations

from numba import njit, prange


@njit(cache=True, parallel=True)
def record_removals(requests, step, ring, counts, last_step):  # type: ignore[no-untyped-def]
    """Enter the removals (B,) of one step, in place.

    Parameters
    ----------
    step
        Number of the step, counted from 0.
    ring
        (B, K) requests of the last K steps by step modulo K; 0 where there was none yet.
    counts
        (B, n) how often each request stands in its ring.
    last_step
        (B, n) step of each request's last removal; negative if there was none.
    """
    window = ring.shape[1]
    slot = step % window
    for b in prange(len(requests)):
        forgotten = ring[b, slot]
        if forgotten > 0:
            counts[b, forgotten - 1] -= 1
        request = requests[b]
        ring[b, slot] = request
        counts[b, request - 1] += 1
        last_step[b, request - 1] = step

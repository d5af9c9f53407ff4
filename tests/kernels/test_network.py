"""The network's fused kernels: gradients in double precision, and the small arithmetic below them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from n2s import kernels
from n2s.kernels import arithmetic, network, pairs
from n2s.model import fused
from n2s.model.plain import PairInput, Tail
from n2s.problem import Variant, random_tours


@njit
def exponentials(x, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        out[i] = arithmetic.quick_exp(x[i])


def test_quick_exp_is_exact_to_single_precision() -> None:
    x = np.linspace(-86, 87, 100_001).astype(np.float32)
    out = np.empty_like(x)
    exponentials(x, out)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(out / exact - 1).max() < 2e-7
    extremes = np.array([-1e30, -200, 0, 200], np.float32)
    out = np.empty_like(extremes)
    exponentials(extremes, out)
    assert out[0] < 1e-37
    assert out[2] == 1
    assert np.isfinite(out).all()
    double = np.linspace(-300, 300, 101)
    out = np.empty_like(double)
    exponentials(double, out)
    assert out == pytest.approx(np.exp(double), rel=1e-15)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 20), st.integers(0, 100))
def test_products_of_any_shape(height: int, depth: int, length: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    length = int(arithmetic.padded(length))
    a, rows = rng.normal(size=(height, depth)), rng.normal(size=(depth, length))
    out = np.empty((height, length))
    arithmetic.rows_product(a, rows, out)
    assert out == pytest.approx(a @ rows)
    left = rng.normal(size=(height, length))
    dots = np.empty((height, depth))
    arithmetic.dots_product(left, rows, dots)
    assert dots == pytest.approx(left @ rows.T)


@pytest.mark.parametrize(("batch", "size", "width"), [(1, 3, 8), (2, 5, 8), (2, 7, 8)])
def test_gradients_of_the_attention(batch: int, size: int, width: int) -> None:
    generator = torch.Generator().manual_seed(size)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    inputs = (draw(batch, size, 3 * width), draw(4, size, size), draw(8, 8), draw(8), draw(4, 8))
    bias = draw(4)
    assert torch.autograd.gradcheck(
        lambda *tensors: fused.synth_attention(*tensors, bias), inputs, atol=1e-7
    )


@pytest.mark.parametrize("variant", list(Variant), ids=str)
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (2, 2), (2, 4)])
def test_gradients_of_the_pair_mlp(batch: int, n: int, variant: Variant) -> None:
    rng = np.random.default_rng(n)
    gaps = 2 * n - 1
    tours = random_tours(n, variant, batch, rng)
    requests = rng.integers(1, n + 1, batch)
    rests = kernels.remove_requests(tours, requests)
    js, ks, _ = kernels.best_reinsertion(
        variant.code, rng.random((batch, 2 * n + 1, 2 * n + 1)), rests, requests
    )
    generator = torch.Generator().manual_seed(n)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    shapes = [(batch, gaps, 32), (batch, gaps, 32), (batch, gaps), (batch, 3, gaps)]
    inputs = [draw(*shape) for shape in [*shapes, (32,), (32, 32), (32,), (32,), (1,)]]

    def outputs(*t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        # Scaled down so that tanh does not saturate, where numerical derivatives vanish.
        tail = Tail(t[4], t[5] * 0.1, t[6], t[7] * 0.2, t[8], 6.0)
        pairs = PairInput(variant.code, rests, *t[:4], tail)
        return fused.pair_log_probs(pairs, torch.from_numpy(js), torch.from_numpy(ks))

    assert torch.autograd.gradcheck(outputs, inputs, atol=1e-6)


def test_the_number_of_threads_does_not_change_a_tours_result() -> None:
    from n2s.kernels.attention import synth_attention

    rng = np.random.default_rng(0)
    qkv = rng.normal(size=(5, 11, 24)).astype(np.float32)
    table = rng.normal(size=(8, 11, 16)).astype(np.float32)
    w1 = rng.normal(size=(8, 4)).astype(np.float32)
    w2 = rng.normal(size=(4, 8)).astype(np.float32)
    assert (synth_attention(qkv, table, w1, w2, 1) == synth_attention(qkv, table, w1, w2, 2)).all()


def test_normalise_is_the_instance_norm() -> None:
    from n2s.model.layers import instance_norm

    h = torch.randn(3, 5, 8) * 3 + 1
    expected = instance_norm(h)
    network.normalise(h.numpy().reshape(3, 40))
    torch.testing.assert_close(h, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("gaps", [1, 3, 7, 9, 49])
def test_arrays_of_the_pair_kernels_never_begin_close_to_each_other(gaps: int) -> None:
    """A vector loop from one array to another that begins less than a turn behind it runs as scalars.

    Its sums then have other last bits: two runs of one training differed by where memory was free.
    """
    kept = []
    for _ in range(20):
        scratch = pairs._scratch(np.zeros((1, gaps, 32), np.float32))
        kept.append(scratch)  # or the next one would lie in the same place
        begins = sorted(array.ctypes.data for array in scratch)
        assert min(np.diff(begins)) >= 1024

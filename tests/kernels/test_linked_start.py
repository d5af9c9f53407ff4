"""First tours without a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from n2s.kernels.chain import start_tour
from n2s.kernels.legs import plane
from n2s.kernels.linked_start import start_long_tour
from n2s.problem import Variant, generate


@pytest.mark.parametrize("variant", list(Variant))
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_it_is_the_tour_of_the_matrix(n: int, variant: Variant) -> None:
    rng = np.random.default_rng(n)
    for instance in generate(n, 3, seed=n, variant=variant):
        order = rng.permutation(n) + 1
        costs = np.array(instance.costs)
        expected = start_tour(variant.code, costs, costs, order).tolist()
        assert start_long_tour(variant.code, costs, order).tolist() == expected
        assert start_long_tour(variant.code, plane(instance), order).tolist() == expected

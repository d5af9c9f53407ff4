from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from n2s.problem import Instance, Variant

# Deadlines measure the machine, and the first example of a kernel includes its compilation.
settings.register_profile("n2s", deadline=None, max_examples=60)
settings.load_profile("n2s")


@pytest.fixture(params=list(Variant), ids=lambda variant: variant.value)
def variant(request: pytest.FixtureRequest) -> Variant:
    return request.param


@pytest.fixture
def tiny() -> Instance:
    """Three requests on a lattice of unit squares, depot in the corner.

        y=1   4      2      5
        y=0   0      1      3      6
              x=0    x=1    x=2    x=3

    Pickups 1, 2, 3; deliveries 4, 5, 6. The tour 0 1 2 3 6 5 4 has legs 1, 1, sqrt 2, 1, sqrt 2, 2
    and 1 back: 6 + 2 sqrt 2, the optimum of both variants.
    """
    return Instance(
        name="tiny",
        coordinates=np.array(
            [(0, 0), (1, 0), (1, 1), (2, 0), (0, 1), (2, 1), (3, 0)], dtype=np.float64
        ),
    )

from __future__ import annotations

import pytest
import torch

import oracles
from n2s.model.config import Position
from n2s.model.position import positional_table


@pytest.mark.parametrize("size", [3, 5, 21, 51])
def test_the_papers_encoding_number_by_number(size: int) -> None:
    expected = oracles.cyclic_encoding(size, 32)
    found = positional_table(size, 32, Position.PAPER)
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("rule", list(Position))
@pytest.mark.parametrize("size", [21, 101])
def test_the_encoding_is_cyclic(rule: Position, size: int) -> None:
    """The last position is as close to the first as any two neighbours are, on average."""
    table = positional_table(size, 128, rule)
    steps = (table - table.roll(-1, 0)).norm(dim=1)
    assert steps[-1] <= steps[:-1].max() * 1.01
    # And what is half a tour away is further than a neighbour.
    assert (table - table.roll(size // 2, 0)).norm(dim=1).mean() > 2 * steps.mean() / 3


@pytest.mark.parametrize("size", [3, 11, 21, 51, 101])
@pytest.mark.parametrize("width", [16, 128])
def test_the_released_pattern_number_by_number(size: int, width: int) -> None:
    expected = oracles.released_encoding(size, width)
    found = positional_table(size, width, Position.RELEASED)
    torch.testing.assert_close(found.double(), expected, atol=1e-5, rtol=0)


def test_the_released_pattern_is_centred_and_smooth() -> None:
    """Five neighbours are averaged and the mean taken off: columns sum to zero."""
    table = positional_table(51, 64, Position.RELEASED)
    assert table.mean(0).abs().max() < 1e-6
    assert table.shape == (51, 64)


def test_tables_are_built_once() -> None:
    assert positional_table(21, 64, Position.PAPER) is positional_table(21, 64, Position.PAPER)

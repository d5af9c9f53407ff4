"""splitmix64 against its published outputs."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from n2s.kernels.random import next_below, next_bits, next_uniform

REFERENCE = {
    # Outputs of the generator's published C code.
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC],
    1234567: [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431],
}
WORD = 2**64


@njit
def bits(state, count):  # type: ignore[no-untyped-def]
    result = np.empty(count, np.uint64)
    for index in range(count):
        result[index] = next_bits(state)
    return result


@njit
def uniforms(state, count):  # type: ignore[no-untyped-def]
    result = np.empty(count)
    for index in range(count):
        result[index] = next_uniform(state)
    return result


@njit
def below(state, bound, count):  # type: ignore[no-untyped-def]
    result = np.empty(count, np.int64)
    for index in range(count):
        result[index] = next_below(state, bound)
    return result


def seeded(seed: int) -> np.ndarray:
    return np.array([seed], np.uint64)


def before(output: int) -> np.ndarray:
    """The state whose next output this is: the mixer run backwards."""
    z = output ^ (output >> 31) ^ (output >> 62)
    z = z * pow(0x94D049BB133111EB, -1, WORD) % WORD
    z ^= (z >> 27) ^ (z >> 54)
    z = z * pow(0xBF58476D1CE4E5B9, -1, WORD) % WORD
    z ^= (z >> 30) ^ (z >> 60)
    return seeded((z - 0x9E3779B97F4A7C15) % WORD)


@pytest.mark.parametrize("seed", REFERENCE)
def test_the_bits_are_those_of_splitmix64(seed: int) -> None:
    assert bits(seeded(seed), 4).tolist() == REFERENCE[seed]


def test_any_number_may_be_a_seed_and_the_state_walks_on() -> None:
    state = seeded(WORD - 1)
    first = bits(state, 2).tolist()
    assert state[0] == (WORD - 1 + 2 * 0x9E3779B97F4A7C15) % WORD
    assert bits(seeded(WORD - 1), 2).tolist() == first
    assert first != bits(seeded(0), 2).tolist()


def test_uniform_numbers_are_the_upper_53_bits() -> None:
    expected = [(word >> 11) / 2**53 for word in REFERENCE[0]]
    assert uniforms(seeded(0), 4).tolist() == expected


@pytest.mark.parametrize(("output", "number"), [(0, 0.0), (WORD - 1, 1 - 2**-53)])
def test_the_ends_of_the_range(output: int, number: float) -> None:
    assert bits(before(output), 1).tolist() == [output]
    assert uniforms(before(output), 1).tolist() == [number]
    for bound in (1, 2, 3, 5, 7, 25, 1000, 12_345):
        expected = 0 if output == 0 else bound - 1
        assert below(before(output), bound, 1).tolist() == [expected]


def test_whole_numbers_are_all_equally_likely() -> None:
    """70,000 draws from 7 values: each 10,000 times, give or take 5 deviations of 93."""
    counts = np.bincount(below(seeded(3), 7, 70_000))
    assert len(counts) == 7
    assert np.abs(counts - 10_000).max() < 5 * 93
    numbers = uniforms(seeded(4), 70_000)
    assert abs(numbers.mean() - 0.5) < 5 * (1 / 12 / 70_000) ** 0.5

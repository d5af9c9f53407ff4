"""The eight symmetries of the unit square, drawn as Algorithm 2 of the paper draws them."""

from __future__ import annotations

import numpy as np

from n2s.problem.distance import FloatArray

OPERATIONS = ("flip", "mirror_x", "mirror_y", "rotate")


def draw_symmetry(rng: np.random.Generator) -> FloatArray:
    """(2, 2) matrix about the centre: four operations in random order, each with a random choice.

    Swap x and y or not, 1 - x or not, 1 - y or not, rotate by a multiple of 90 degrees (Table 2). All
    entries are -1, 0 or 1, so distances stay exactly what they are.
    """
    matrix = np.eye(2)
    for operation in rng.permutation(OPERATIONS):
        if operation == "rotate":
            turns = int(rng.integers(4))
            step = np.linalg.matrix_power(np.array([[0, -1], [1, 0]]), turns).astype(np.float64)
        elif rng.random() < 0.5:
            step = np.eye(2)
        else:
            step = np.array(_MATRICES[str(operation)], dtype=np.float64)
        matrix = step @ matrix
    return matrix


def apply_symmetry(points: FloatArray, matrix: FloatArray) -> FloatArray:
    """Points (..., 2) of the unit square under a symmetry."""
    result: FloatArray = (points - 0.5) @ matrix.T + 0.5
    return result


_MATRICES = {
    "flip": [[0, 1], [1, 0]],
    "mirror_x": [[-1, 0], [0, 1]],
    "mirror_y": [[1, 0], [0, -1]],
}

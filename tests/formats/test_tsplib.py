from __future__ import annotations

import numpy as np
import pytest

from n2s.errors import InputError, UnsupportedError
from n2s.formats import tsplib
from n2s.formats.base import Source
from n2s.problem import Metric, Rounding


def split(text: str) -> tsplib.Document:
    return tsplib.split(Source("a.tsp", text.encode()))


def test_specifications_and_sections_keep_their_lines() -> None:
    document = split("NAME : a b: c\n\n# remark\nDIMENSION:2\nX_SECTION :\n1 2\n3\nEOF\nrest\n")
    assert document.name == "a b: c"
    assert document.dimension == 2
    section = document.section("X")
    assert section.line == 5
    assert section.rows == (tsplib.Row(6, ("1", "2")), tsplib.Row(7, ("3",)))


def test_a_file_without_a_name_is_called_like_the_file() -> None:
    assert split("DIMENSION : 2\n").name == "a"


def test_comments_may_repeat_and_specifications_may_follow_sections() -> None:
    document = split("COMMENT : a\nCOMMENT : b\nX_SECTION\n1\nDIMENSION : 7\n")
    assert document.dimension == 7
    assert len(document.section("X").rows) == 1


# The same distances in every layout: 12, 13, 14, 23, 24, 34 are the distances between those nodes.
SYMMETRIC = np.array([[0, 12, 13, 14], [12, 0, 23, 24], [13, 23, 0, 34], [14, 24, 34, 0]])
LAYOUTS = {
    "FULL_MATRIX": "0 12 13 14\n12 0 23 24\n13 23 0 34\n14 24 34 0",
    "LOWER_ROW": "12\n13 23\n14 24 34",
    "LOWER_DIAG_ROW": "0\n12 0\n13 23 0\n14 24 34 0",
    "UPPER_ROW": "12 13 14\n23 24\n34",
    "UPPER_DIAG_ROW": "0 12 13 14\n0 23 24\n0 34\n0",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("separator", ["\n", " ", "\r\n"])
def test_explicit_matrices_are_streams_of_numbers(layout: str, separator: str) -> None:
    numbers = LAYOUTS[layout].replace("\n", separator)
    text = (
        "DIMENSION : 4\nEDGE_WEIGHT_TYPE : EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT : {layout}\nEDGE_WEIGHT_SECTION\n{numbers}\nEOF\n"
    )
    geometry = tsplib.geometry(split(text))
    assert geometry.coordinates is None
    np.testing.assert_array_equal(geometry.matrix, SYMMETRIC)


def test_a_full_matrix_may_be_asymmetric() -> None:
    text = (
        "DIMENSION : 2\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\n"
        "EDGE_WEIGHT_SECTION\n0 1\n2 0\n"
    )
    np.testing.assert_array_equal(tsplib.geometry(split(text)).matrix, [[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("kind", "metric", "rounding"),
    [
        ("EUC_2D", Metric.EUCLIDEAN, Rounding.NEAREST),
        ("CEIL_2D", Metric.EUCLIDEAN, Rounding.UP),
        ("FLOOR_2D", Metric.EUCLIDEAN, Rounding.DOWN),
        ("MAN_2D", Metric.MANHATTAN, Rounding.NEAREST),
        ("MAX_2D", Metric.MAXIMUM, Rounding.NEAREST),
        ("GEO", Metric.TSPLIB_GEO, Rounding.NONE),
    ],
)
def test_weight_types(kind: str, metric: Metric, rounding: Rounding) -> None:
    text = f"DIMENSION : 1\nEDGE_WEIGHT_TYPE : {kind}\nNODE_COORD_SECTION\n1 2.5 -3e1\n"
    geometry = tsplib.geometry(split(text))
    assert (geometry.metric, geometry.rounding) == (metric, rounding)
    np.testing.assert_array_equal(geometry.coordinates, [[2.5, -30]])


EXPLICIT = "DIMENSION : {}\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : {}\n"
COORDINATES = "DIMENSION : {}\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("NAME : a\nhello\n", "'hello' is neither", 2),
        ("NAME : a\nNAME : b\n", r"NAME is given twice \(first in line 1\)", 2),
        ("X_SECTION\n1\nX_SECTION\n", r"X_SECTION occurs twice \(first in line 1\)", 3),
        ("DIMENSION : 2\n", "EDGE_WEIGHT_TYPE is missing", None),
        ("DIMENSION : 2\nEDGE_WEIGHT_TYPE : EUC_2D\n", "NODE_COORD_SECTION is missing", None),
        ("EDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n", "DIMENSION is missing", None),
        (COORDINATES.format("two"), "DIMENSION must be a whole number, not 'two'", 1),
        (COORDINATES.format("0"), "DIMENSION is 0", 1),
        # Nothing of the declared size is ever allocated.
        (COORDINATES.format("9" * 18) + "1 0 0\n", "has 1 rows but DIMENSION is 9999", 3),
        (COORDINATES.format("9" * 99) + "1 0 0\n", "DIMENSION must be a whole number", 1),
        (COORDINATES.format(1) + "1 0\n", "a row here is 'id x y', not '1 0'", 4),
        (COORDINATES.format(1) + "1 0 x\n", "coordinate of node '1' must be a number", 4),
        (COORDINATES.format(1) + "1 nan 0\n", "coordinate of node '1' must be a number", 4),
        (COORDINATES.format(1) + "1 1_0 0\n", "coordinate of node '1' must be a number", 4),
        (COORDINATES.format(1) + "1 0 1e999\n", "coordinate of node '1' must be a number", 4),
        (COORDINATES.format(1) + "1 0 1\nEDGE_WEIGHT_SECTION\n0\n", "contradicts", 2),
        (EXPLICIT.format(2, ""), "EDGE_WEIGHT_FORMAT is missing", 3),
        (EXPLICIT.format(2, "FULL_MATRIX"), "EDGE_WEIGHT_SECTION is missing", None),
        (
            EXPLICIT.format(2, "FULL_MATRIX") + "EDGE_WEIGHT_SECTION\n0 1\n1\n",
            r"has 3 numbers but a FULL_MATRIX of 2 nodes has 4 \(is the file cut off\?\)",
            4,
        ),
        (
            EXPLICIT.format("9" * 18, "LOWER_ROW") + "EDGE_WEIGHT_SECTION\n0 1\n1\n",
            "has 3 numbers but a LOWER_ROW",
            4,
        ),
        (
            EXPLICIT.format(2, "LOWER_ROW") + "EDGE_WEIGHT_SECTION\ninf\n",
            "a distance must be a number, not 'inf'",
            5,
        ),
    ],
)
def test_errors_are_one_sentence_with_a_line(text: str, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        tsplib.geometry(split(text))
    assert caught.value.line == line
    assert caught.value.source == "a.tsp"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXPLICIT.format(2, "UPPER_COL"), "EDGE_WEIGHT_FORMAT 'UPPER_COL' is not supported"),
        ("DIMENSION : 2\nEDGE_WEIGHT_TYPE : EXACT_2D\n", "EDGE_WEIGHT_TYPE 'EXACT_2D' is not"),
    ],
)
def test_unsupported(text: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        tsplib.geometry(split(text))


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.0, "0"), (0.1, "0.1"), (1e300, "1e+300"), (-2.5, "-2.5")],
)
def test_numbers_are_written_so_that_they_read_the_same(value: float, text: str) -> None:
    assert tsplib.written(value) == text
    assert float(text) == value

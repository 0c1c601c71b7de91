"""Boxes to cells, by hand."""

import numpy as np
import pytest

from zoo.data.images.truth import alignment, cells


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((0, 0, 0.1, 0.1), [[1, 0], [0, 0]]),
        ((0, 0, 0.45, 0.45), [[1, 0], [0, 0]]),
        ((0, 0, 0.55, 0.45), [[1, 1], [0, 0]]),
        ((0.45, 0.6, 0.55, 0.9), [[0, 0], [1, 1]]),
        ((0.4, 0.4, 0.6, 0.6), [[1, 1], [1, 1]]),
        ((0.9, 0.1, 0.95, 0.2), [[0, 1], [0, 0]]),
        ((0.8, 0.1, 0.95, 0.3), [[0, 0, 0, 1], [0, 0, 0, 0]]),  # rows and columns are not exchanged
        ((0.6, 0.1, 0.95, 0.3), [[0, 0, 1, 1], [0, 0, 0, 0]]),
    ],
)
def test_cells_by_hand(box, expected):
    """The centres of 2 columns lie at .25 and .75; a box is wider by half a cell, .25 of the picture, on each side."""
    assert cells([box], np.shape(expected))[0].reshape(np.shape(expected)).astype(int).tolist() == expected


def test_many_boxes_against_a_loop_over_cells():
    corners = np.sort(np.random.default_rng(0).random((50, 2, 2)), 1)
    boxes = corners.reshape(50, 4)
    for box, row in zip(boxes, cells(boxes, (5, 7)), strict=True):
        for i in range(5):
            for j in range(7):
                x, y = (j + 0.5) / 7, (i + 0.5) / 5
                inside = box[0] - 0.5 / 7 <= x <= box[2] + 0.5 / 7 and box[1] - 0.1 <= y <= box[3] + 0.1
                assert row[7 * i + j] == inside


def test_an_object_of_any_position_has_a_cell():
    for x in np.linspace(0, 1, 41):
        assert cells([(x, 0.5, x, 0.5)], (8, 8)).any()


def test_alignment_of_captions():
    """Two captions of three words on 2 x 2 cells: words 0 and 2 of the first, and word 1 of the second, which is one
    piece of two words."""
    upper_left, lower_right = (0, 0, 0.4, 0.4), (0.6, 0.6, 1, 1)
    rows, positions, boxes = [0, 0, 1, 1], [0, 2, 1, 1], [upper_left, lower_right, upper_left, lower_right]
    found = alignment((2, 3), rows, positions, boxes, (2, 2)).astype(int).tolist()
    none = [0, 0, 0, 0]
    assert found == [[[1, 0, 0, 0], none, [0, 0, 0, 1]], [none, [1, 0, 0, 1], none]]
    assert alignment((2, 3), [], [], [], (2, 2)).shape == (2, 3, 4)

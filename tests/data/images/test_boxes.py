"""Boxes to cells, by hand."""

import numpy as np

from zoo.data.images.boxes import alignment, cells


def drawn(box, grid):
    return cells([box], grid)[0].reshape(grid).astype(int).tolist()


def test_cells_of_two_by_two():
    """Centres lie at .25 and .75; a box is wider by half a cell, .25 of the picture, on each side."""
    assert drawn((0, 0, 0.1, 0.1), (2, 2)) == [[1, 0], [0, 0]]
    assert drawn((0, 0, 0.45, 0.45), (2, 2)) == [[1, 0], [0, 0]]
    assert drawn((0, 0, 0.55, 0.45), (2, 2)) == [[1, 1], [0, 0]]
    assert drawn((0.45, 0.6, 0.55, 0.9), (2, 2)) == [[0, 0], [1, 1]]
    assert drawn((0.4, 0.4, 0.6, 0.6), (2, 2)) == [[1, 1], [1, 1]]
    assert drawn((0.9, 0.1, 0.95, 0.2), (2, 2)) == [[0, 1], [0, 0]]


def test_rows_and_columns_are_not_mixed_up():
    """Of 2 rows and 4 columns: an object at the right edge, in the upper half."""
    assert drawn((0.8, 0.1, 0.95, 0.3), (2, 4)) == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert drawn((0.6, 0.1, 0.95, 0.3), (2, 4)) == [[0, 0, 1, 1], [0, 0, 0, 0]]


def test_the_boxes_of_many():
    """Against a loop over cells."""
    draw = np.random.default_rng(0)
    corners = np.sort(draw.random((50, 2, 2)), 1)
    boxes = corners.reshape(50, 4)
    found = cells(boxes, (5, 7))
    for box, row in zip(boxes, found, strict=True):
        for i in range(5):
            for j in range(7):
                x, y = (j + 0.5) / 7, (i + 0.5) / 5
                inside = box[0] - 0.5 / 7 <= x <= box[2] + 0.5 / 7 and box[1] - 0.1 <= y <= box[3] + 0.1
                assert row[7 * i + j] == inside


def test_an_object_of_any_place_has_a_cell():
    for x in np.linspace(0, 1, 41):
        assert cells([(x, 0.5, x, 0.5)], (8, 8)).any()


def test_alignment_of_captions():
    """Two captions of three words on 2 x 2 cells: words 0 and 2 of the first, word 1 of the second, which is one piece
    of two words."""
    upper_left, lower_right = (0, 0, 0.4, 0.4), (0.6, 0.6, 1, 1)
    rows, positions, boxes = [0, 0, 1, 1], [0, 2, 1, 1], [upper_left, lower_right, upper_left, lower_right]
    found = alignment((2, 3), rows, positions, boxes, (2, 2)).astype(int).tolist()
    none = [0, 0, 0, 0]
    assert found == [[[1, 0, 0, 0], none, [0, 0, 0, 1]], [none, [1, 0, 0, 1], none]]
    assert alignment((2, 3), [], [], [], (2, 2)).shape == (2, 3, 4)

"""Truth of captions, the boxes of their words, and the cells of boxes, by hand."""

import numpy as np
import pytest

from zoo.data.images.truth import alignment, boxes_named, cells, is_true

# y grows downwards: the star is at the upper left, one circle below it, the other far to the right
FACTS = {
    "objects": [
        {"size": "large", "colour": "red", "shape": "star", "centre": [0.2, 0.2]},
        {"size": "small", "colour": "blue", "shape": "circle", "centre": [0.3, 0.8]},
        {"size": "large", "colour": "blue", "shape": "circle", "centre": [0.9, 0.4]},
    ]
}


@pytest.mark.parametrize(
    ("caption", "true"),
    [
        ("a red star above a blue circle", True),
        ("a red star left of a blue circle", True),  # the other one
        ("there is a blue circle right of a red star", True),
        ("there is a red star and a large blue circle to its right", True),
        ("the picture shows a small blue circle below a large red star", True),
        ("a large red star with a small blue circle below it", True),
        ("A large red star is above  a small blue circle .", True),
        (["a", "large", "red", "star", "is", "above", "a", "small", "blue", "circle"], True),
        ("a large red star is below a small blue circle", False),
        ("a large red star is left of a small blue circle", False),  # it is, but farther above
        ("a small blue circle above a large red star", False),
        ("a small red star is above a small blue circle", False),
        ("a large red square is above a small blue circle", False),
        ("a large red star is above a large red star", False),
        ("a large red star with a small blue circle above it", False),
        ("a large red star is above a small blue circle a", False),
        ("a star is above a circle", False),
        ([], False),
    ],
)
def test_truth_by_hand(caption, true):
    assert is_true(caption, FACTS) == true


def test_words_outside_the_grammar_and_objects_outside_the_scene_have_no_box():
    facts = {"objects": [{"size": "small", "colour": "red", "shape": "star", "box": [0.1, 0.2, 0.3, 0.4]}]}
    box = (0.1, 0.2, 0.3, 0.4)
    words = ["a", "red", "star", "red", "a", "Small", "red", "star"]
    assert boxes_named(words, facts) == [None, box, box, None, None, box, box, box]
    assert boxes_named(["a", "large", "red", "star"], facts) == [None] * 4
    assert boxes_named(["a", "blue", "star"], facts) == [None] * 3 and boxes_named([], facts) == []


# Cells


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((0, 0, 0.45, 0.45), [[1, 0], [0, 0]]),
        ((0, 0, 0.55, 0.45), [[1, 1], [0, 0]]),
        ((0.45, 0.6, 0.55, 0.9), [[0, 0], [1, 1]]),
        ((0.4, 0.4, 0.6, 0.6), [[1, 1], [1, 1]]),
        ((0.8, 0.1, 0.95, 0.3), [[0, 0, 0, 1], [0, 0, 0, 0]]),  # rows and columns are not exchanged
        ((0.6, 0.1, 0.95, 0.3), [[0, 0, 1, 1], [0, 0, 0, 0]]),
    ],
)
def test_cells_by_hand(box, expected):
    """The centres of 2 columns lie at .25 and .75; a box is wider by half a cell, .25 of the picture, on each side."""
    assert cells([box], np.shape(expected))[0].reshape(np.shape(expected)).astype(int).tolist() == expected


def test_alignment_of_captions():
    """Two captions of three words on 2 x 2 cells: words 0 and 2 of the first, and word 1 of the second, which is one
    piece of two words."""
    upper_left, lower_right = (0, 0, 0.4, 0.4), (0.6, 0.6, 1, 1)
    rows, positions, boxes = [0, 0, 1, 1], [0, 2, 1, 1], [upper_left, lower_right, upper_left, lower_right]
    found = alignment((2, 3), rows, positions, boxes, (2, 2)).astype(int).tolist()
    none = [0, 0, 0, 0]
    assert found == [[[1, 0, 0, 0], none, [0, 0, 0, 1]], [none, [1, 0, 0, 1], none]]
    assert alignment((2, 3), [], [], [], (2, 2)).shape == (2, 3, 4)

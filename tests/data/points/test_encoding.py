"""Sets on their way into a batch: places, tokens, what is refused; and the encoder in a checkpoint."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from zoo.data.points.encoding import PointEncoder
from zoo.data.points.goals import GOALS
from zoo.data.points.sets import into_unit_square
from zoo.errors import ConfigError, DataError

TRIANGLE = [(0.1, 0.2), (0.9, 0.2), (0.5, 0.8)]
FIELD = [(100, 50), (300, 50), (200, 150), (150, 60)]  # 200 wide, 100 high


def test_a_batch_of_two_sizes():
    batch = PointEncoder("hull")([TRIANGLE, FIELD], [[0, 1, 2], [0, 1, 2]])
    assert torch.equal(batch.points[0], torch.tensor([*TRIANGLE, (0, 0)]))
    assert batch.points[1].tolist() == [[0, 0], [1, 0], [0.5, 0.5], [0.25, pytest.approx(0.05)]]
    assert batch.point_mask.tolist() == [[True, True, True, False], [True] * 4]
    assert batch.scale.tolist() == [1, 200] and batch.index.tolist() == [0, 1] and batch.group.tolist() == [0, 0]
    assert batch.target.tolist() == [[3, 4, 5, 2]] * 2 and batch.target_input.tolist() == [[1, 3, 4, 5]] * 2
    assert batch.alignment[0].int().tolist() == [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [1, 0, 0, 0, 0]]


def test_targets_of_two_lengths_end_where_they_end():
    batch = PointEncoder("hull")([TRIANGLE, FIELD], [[2, 0, 1], [3, 1, 2, 0]])
    assert batch.target.tolist() == [[5, 3, 4, 2, 0], [6, 4, 5, 3, 2]]
    assert batch.target_mask.sum(1).tolist() == [4, 5]


def test_without_targets_there_are_none_and_numbers_need_no_rows():
    batch = PointEncoder("order")([[0.5, 0.25], [[3], [1], [2]]])
    assert batch.target is None and batch.alignment is None
    assert batch.points[..., 0].tolist() == [[0.5, 0.25, 0], [1, 0, 0.5]] and batch.scale.tolist() == [1, 2]
    assert len(PointEncoder("hull")([])) == 0


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1, max_size=9), st.floats(1e-3, 1e3))
def test_a_set_is_moved_and_scaled_alike_on_both_axes(rows, stretch):
    points = np.array(rows) * stretch
    placed, scale = into_unit_square(points)
    assert placed.dtype == np.float32 and placed.min() >= 0 and placed.max() <= 1
    differences = points[:, None] - points
    if scale > 1:
        moved = placed.astype(float)
        assert (moved[:, None] - moved) * scale == pytest.approx(differences, abs=1e-6 * scale)
    elif points.min() >= 0 and points.max() <= 1:
        assert (placed == points.astype(np.float32)).all() and scale == 1


@pytest.mark.parametrize(
    ("goal", "given", "said"),
    [
        ("hull", [(0, 0), (1, 1)], "a set for goal=hull has at least 3 points, found 2"),
        ("hull", [], "has at least 3 points, found 0"),
        ("order", [0.5], "a set for goal=order has at least 2 points, found 1"),
        ("hull", [*TRIANGLE, TRIANGLE[1]], "points 2 and 4 are the same"),
        ("hull", [(0, 0), (1e9, 0), (5e8, 5e8), (5e8, 5e8 + 1)], "points 3 and 4 are the same, or too near to"),
        ("order", [0.5, 0.1, 0.5], "points 1 and 3 are the same"),
        ("tour", [(0, 0)] * 4, "at one place"),
        ("hull", [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.7, 0.7)], "all 4 points lie on a line, where there is no h"),
        ("triangulation", [(500000.1, 1), (500000.1, 2), (500000.1, 4)], "lie on a line, where there is no triang"),
        ("hull", [(0, 0), (1, float("nan")), (1, 1)], "coordinate 2 of point 2 is nan; expected a number"),
        ("hull", [(0, 0), (1, 0), (float("inf"), 1)], "coordinate 1 of point 3 is inf; expected a number"),
        ("hull", [(0, 0, 0), (1, 0, 1), (1, 1, 1)], r"expected rows of 2 numbers, found rows of shape \(3,\)"),
        ("hull", [0, 1, 2], "expected rows of 2 numbers, found numbers alone"),
        ("hull", [(0, 0), (1,)], "expected rows of 2 numbers, found"),
        ("hull", [("a", "b")] * 3, "expected rows of 2 numbers, found"),
        ("order", [(0, 1), (1, 2)], "expected rows of 1 number, found rows"),
    ],
)
def test_what_is_no_set_is_named(goal, given, said):
    with pytest.raises(DataError, match=f"^set 2: .*{said}"):
        PointEncoder(goal)([TRIANGLE if GOALS[goal].width == 2 else [0.1, 0.2], given])


def test_points_on_a_line_or_at_one_place_have_a_tour():
    assert len(PointEncoder("tour")([[(0, 0), (0.5, 0.5), (0.5, 0.5), (1, 1)]])) == 1


def test_the_encoder_travels_as_plain_data():
    encoder = PointEncoder.from_state({"goal": "tour"})
    assert encoder.state() == {"goal": "tour"}
    assert encoder.display(np.array(FIELD)) == [(100.0, 50.0), (300.0, 50.0), (200.0, 150.0), (150.0, 60.0)]
    assert PointEncoder("order").display([3, 1]) == [(3.0,), (1.0,)]
    with pytest.raises(ConfigError, match=r"data\.goal=hul: expected hull.*; did you mean 'hull'"):
        PointEncoder("hul")

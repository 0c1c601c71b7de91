"""The goals: every channel and every scored step of a tiny sequence of each by hand."""

import numpy as np
import pytest

from zoo.data.bits.goals.associative_recall import AssociativeRecall
from zoo.data.bits.goals.copy_bits import Copy
from zoo.data.bits.goals.dynamic_ngrams import DynamicNgrams
from zoo.data.bits.goals.priority_sort import PrioritySort
from zoo.data.bits.goals.repeat_copy import RepeatCopy

COPY, REPEAT = Copy(2), RepeatCopy(2, (1, 3))
RECALL, NGRAMS, SORT = AssociativeRecall(2, 1), DynamicNgrams(1), PrioritySort(2, 2)


def check(sequence, inputs, targets, scored):
    np.testing.assert_allclose(sequence.inputs, inputs, rtol=1e-6)
    np.testing.assert_array_equal(sequence.targets, targets)
    np.testing.assert_array_equal(sequence.scored, np.array(scored, bool))
    assert sequence.inputs.dtype == sequence.targets.dtype == np.float32


def test_copy():
    """Two vectors, the delimiter, and two steps for the copy."""
    check(
        COPY.parse("10 11"),
        [[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]],
        [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1]],
        [0, 0, 0, 1, 1],
    )


def test_repeat_copy():
    """1 to 3 repeats have mean 2 and variance 2/3. A separate step marks the end."""
    check(
        REPEAT.parse("10 01 x3"),
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.5**0.5], *[[0] * 4] * 7],
        [*[[0] * 3] * 4, *[[1, 0, 0], [0, 1, 0]] * 3, [0, 0, 1]],
        [0] * 4 + [1] * 7,
    )
    assert REPEAT.parse("10 x2").inputs[2, 3] == 0
    assert RepeatCopy(2, (4, 4)).parse("10 x5").inputs[2, 3] == 1


def test_associative_recall():
    """A delimiter before each of three items, one on both sides of the second, which is asked for, and the third."""
    check(
        RECALL.parse("11 | 10 | 01 ? 10"),
        [
            [0, 0, 1, 0], [1, 1, 0, 0],
            [0, 0, 1, 0], [1, 0, 0, 0],
            [0, 0, 1, 0], [0, 1, 0, 0],
            [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1],
            [0, 0, 0, 0],
        ],
        [*[[0, 0]] * 9, [0, 1]],
        [0] * 9 + [1],
    )  # fmt: skip
    longer = AssociativeRecall(2, 2).parse("11 00 | 10 01 ? 11 00")
    assert len(longer.inputs) == 2 * 3 + 4 + 2
    np.testing.assert_array_equal(longer.targets[longer.scored], [[1, 0], [0, 1]])


def test_dynamic_ngrams():
    """Each bit is foretold from the one before."""
    check(NGRAMS.parse("1 101"), [[0], [1], [1], [0]], [[1], [1], [0], [1]], [1, 1, 1, 1])


def test_the_bayesian_predictor():
    """With a context of one bit: 1/2; nothing has followed 1, 1/2; one 1 has followed 1, a 0 has (0 + 1/2) / (1 + 1) =
    1/4; nothing has followed 0, 1/2; a 1 and a 0 have followed 1, a 0 has (1 + 1/2) / (2 + 1) = 1/2."""
    bits = [1, 1, 0, 1, 0]
    np.testing.assert_allclose(NGRAMS.optimal_chances(bits), [1 / 2, 1 / 2, 1 / 4, 1 / 2, 1 / 2])
    assert NGRAMS.sequence(bits).optimal_bits == pytest.approx(6)


def test_priority_sort():
    """Three vectors with priorities, the delimiter, and the two of the highest, the highest first."""
    check(
        SORT.parse("10:-.5 01:0.75 11:0.25"),
        [[1, 0, -0.5, 0], [0, 1, 0.75, 0], [1, 1, 0.25, 0], [0, 0, 0, 1], [0] * 4, [0] * 4],
        [*[[0, 0]] * 4, [0, 1], [1, 1]],
        [0, 0, 0, 0, 1, 1],
    )
    np.testing.assert_array_equal(SORT.parse("10:0 01:0 11:0").targets[4:], [[1, 0], [0, 1]])  # the first read first
    assert SORT.parse("11:1").scored.sum() == 1  # fewer than are asked for


@pytest.mark.parametrize(
    ("goal", "sizes"), [(COPY, (3,)), (REPEAT, (2, 3)), (AssociativeRecall(6, 3), (4,)), (NGRAMS, (7,)), (SORT, (5,))]
)
def test_what_is_drawn_can_be_typed(goal, sizes):
    """A drawn sequence has the steps that its sizes say, and the line that it is shown as means the same sequence."""
    drawn = goal.draw(np.random.default_rng(3), *sizes)
    assert len(drawn.inputs) == len(drawn.targets) == len(drawn.scored) == goal.steps(*sizes)
    assert drawn.inputs.shape[1] == goal.in_width and drawn.targets.shape[1] == goal.out_width
    again = goal.parse(goal.typed(drawn))
    np.testing.assert_allclose(again.inputs, drawn.inputs, atol=1e-4)
    np.testing.assert_array_equal(again.targets, drawn.targets)
    np.testing.assert_array_equal(again.scored, drawn.scored)
    assert not drawn.targets[~drawn.scored].any()


def test_what_was_written_as_a_line():
    rows = np.array([[1, 0], [0, 1]])
    assert COPY.written(rows) == "10 01" and COPY.written(rows[:0]) == ""
    assert REPEAT.written(np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 0, 0]])) == "10 01end end 00"
    assert NGRAMS.written(rows[:, :1]) == "10"
    unknown = NGRAMS.parse("1101")._replace(targets=np.zeros((0, 1), np.float32))
    assert NGRAMS.typed(unknown) == "110"  # the last bit is not read

"""The hops of an answer as a picture."""

import numpy as np
import pytest
from matplotlib.collections import PatchCollection, QuadMesh

from tests.visualize.stories import ANSWER, answer, long_answer
from zoo.tasks.answering import ExaminedAnswer
from zoo.visualize.answering import AnsweringView
from zoo.visualize.hops_picture import LONGEST_SENTENCE, MOST_SENTENCES, hops_figure


def cells(figure):
    (mesh,) = [part for part in figure.axes[0].collections if isinstance(part, QuadMesh)]
    return np.asarray(mesh.get_array()).reshape(mesh.get_coordinates().shape[0] - 1, -1)


def framed(figure):
    """The rows that have a frame."""
    (found,) = [part for part in figure.axes[0].collections if isinstance(part, PatchCollection)]
    return [int(path.get_extents().min[1]) for path in found.get_paths()]


def labels(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def written(figure):
    return [text.get_text() for text in figure.texts]


def test_a_row_for_each_sentence_a_column_for_each_hop_and_a_row_of_what_is_left():
    figure = hops_figure(ANSWER)
    np.testing.assert_allclose(cells(figure), [[0.75, 0.125], [0, 0], [0.25, 0.375], [0, 0.5]])
    assert labels(figure) == [*ANSWER.sentences, "(empty memory)"]
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["hop 1", "hop 2"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the oldest on top
    numbers = {text.get_position(): text.get_text() for text in axes.texts}
    assert numbers[0.5, 0.5] == "0.75" and numbers[1.5, 3.5] == "0.50" and len(numbers) == 8
    assert ANSWER.question in written(figure) and "garden  0.75" in written(figure)
    figure.canvas.draw()  # a dollar begins no formula


def test_weights_that_sum_to_one_leave_nothing_over():
    assert labels(hops_figure(answer(hops=((0.7, 0.0, 0.2998),)))) == [*ANSWER.sentences]


def test_the_true_answer_and_what_it_follows_from():
    view = AnsweringView()
    right = view.picture(ANSWER, ExaminedAnswer(0, ANSWER, "garden", (True, False, True)))
    assert framed(right) == [0, 2] and "✓" in written(right)
    assert any("framed: what the true answer follows from" in text for text in written(right))
    wrong = view.picture(ANSWER, ExaminedAnswer(0, ANSWER, "hall", None))
    assert framed(wrong) == [] and "✗ true answer hall" in written(wrong)
    typed = view.picture(ANSWER)
    assert framed(typed) == [] and not {"✓", "✗"} & set("".join(written(typed)))


def test_of_a_long_story_the_sentences_that_matter_are_drawn():
    prediction, supporting = long_answer(100, 3), [number == 7 for number in range(100)]
    figure = hops_figure(prediction, "garden", supporting)
    found = [int(label[6:-1]) for label in labels(figure)]
    assert found == [3, 7, *range(100 - MOST_SENTENCES + 2, 100)]  # the strong one, the needed one, the newest
    assert framed(figure) == [1]
    assert any("60 more sentences, none with more than 0.01 in any hop" in text for text in written(figure))


def test_long_sentences_are_cut_and_a_story_may_be_empty():
    figure = hops_figure(answer(sentences=("w" * 200, "b", "c")))
    assert len(labels(figure)[0]) == LONGEST_SENTENCE
    hops_figure(answer(sentences=(), hops=((), ()))).canvas.draw()


def test_without_attention_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no attention"):
        hops_figure(answer(hops=()))
    assert AnsweringView().picture(answer(hops=())) is None

"""A translation as a picture, and reviewed examples as rows of a table."""

import numpy as np
import pytest
from matplotlib.collections import PatchCollection, QuadMesh

from zoo.tasks.translation import ExaminedTranslation, Translated, TranslationPrediction
from zoo.visualize.alignment_picture import LONGEST_WORD, MOST_CELLS, alignment_figure
from zoo.visualize.translation import TranslationView

SOURCE = ("ein", "hund", "$x$", "</s>")
WEIGHTS = ((0.7, 0.1, 0.1, 0.1), (0.0, 1.0, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25))


def translated(tokens=("a", "dog", "</s>"), attention=WEIGHTS):
    return Translated(" ".join(tokens[:-1]), tokens, -0.5, -0.25, True, attention)


def cells(figure):
    (mesh,) = [part for part in figure.axes[0].collections if isinstance(part, QuadMesh)]
    return np.asarray(mesh.get_array()).reshape(mesh.get_coordinates().shape[0] - 1, -1)


def frames(figure):
    """The (column, row) of each frame."""
    (found,) = [part for part in figure.axes[0].collections if isinstance(part, PatchCollection)]
    return {tuple(map(int, path.get_extents().min)) for path in found.get_paths()}


def test_every_weight_is_a_cell_under_its_source_token_and_beside_its_target_token():
    figure = alignment_figure(SOURCE, translated())
    np.testing.assert_allclose(cells(figure), WEIGHTS)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(SOURCE)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "dog", "</s>"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row on top
    figure.canvas.draw()  # a dollar begins no formula


def test_true_links_are_frames():
    assert frames(alignment_figure(SOURCE, translated(), [(1, 0), (0, 1)])) == {(1, 0), (0, 1)}
    assert frames(alignment_figure(SOURCE, translated())) == set()


def test_long_words_and_long_sentences_are_cut():
    words, count = ("w" * 40, *["x"] * 99), 100
    figure = alignment_figure(words, translated(("y",) * count, ((1 / count,) * count,) * count))
    assert cells(figure).shape == (MOST_CELLS, MOST_CELLS)
    first = figure.axes[0].get_xticklabels()[0].get_text()
    assert len(first) == LONGEST_WORD and first.endswith("…")
    assert any("cut to" in text.get_text() for text in figure.texts)


def test_without_attention_there_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no attention"):
        alignment_figure(SOURCE, translated(attention=None))
    assert TranslationView().picture(TranslationPrediction(SOURCE, (translated(attention=None),))) is None


def test_an_empty_translation_can_be_drawn():
    alignment_figure(("</s>",), Translated("", (), 0.0, 0.0, False, ())).canvas.draw()


def test_rows_of_the_table():
    view, prediction = TranslationView(), TranslationPrediction(SOURCE, (translated(),))
    examined = ExaminedTranslation(3, prediction, "a dog", [(0, 0)])
    row = dict(zip(view.examined_columns(), view.examined_row(examined), strict=True))
    assert list(row) == ["index", "source", "reference", "translation", "log-probability", "alignment"]
    assert list(row.values()) == [3, "ein hund $x$ </s>", "a dog", "a dog", -0.5, "0-0 1-1"]
    assert frames(view.picture(prediction, examined)) == {(0, 0)}


def test_a_word_that_the_network_does_not_know_is_in_brackets():
    prediction = TranslationPrediction(SOURCE, (translated(),), unknown=(1,))
    figure = TranslationView().picture(prediction)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["ein", "[hund]", "$x$", "</s>"]
    assert "unknown to the network" in figure.texts[0].get_text()
    known = alignment_figure(SOURCE, translated())
    assert not any(text.get_text() for text in known.texts)

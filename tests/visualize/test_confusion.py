"""The picture of a confusion matrix, read from its artists."""

import numpy as np
import pytest
import torch

from tests.visualize.test_document_page import contrast
from zoo.visualize import confusion_figure, save_picture
from zoo.visualize.confusion import DARK, SHADES
from zoo.visualize.drawing import INK

MATRIX = [[8, 2, 0], [1, 3, 0], [0, 0, 0]]


def cells(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_counts_in_the_cells_and_shares_as_shades(kind):
    figure = confusion_figure(kind(MATRIX), ["a", "b", "c"])
    assert cells(figure) == ["8", "2", "0", "1", "3", "0", "0", "0", "0"]
    np.testing.assert_allclose(figure.axes[0].images[0].get_array(), [[0.8, 0.2, 0], [0.25, 0.75, 0], [0, 0, 0]])
    assert figure.axes[0].get_title(loc="left") == "11 of 14 right (78.6%)"


def test_rows_are_true_classes():
    axes = confusion_figure(MATRIX, ["a", "b", "c"]).axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("true class", "predicted class")
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b", "c"]
    row, column = next((t.get_position()[1], t.get_position()[0]) for t in axes.texts if t.get_text() == "2")
    assert (row, column) == (0, 1)


def test_the_matrix_must_fit_the_classes():
    with pytest.raises(ValueError, match=r"2 classes.*\(3, 3\)"):
        confusion_figure(MATRIX, ["a", "b"])


@pytest.mark.filterwarnings("error")
def test_many_classes_long_names_and_no_examples(tmp_path):
    names = [f"$\\no_{i}$ {'long ' * 20}" for i in range(70)]
    figure = confusion_figure(np.zeros((70, 70), dtype=int), names)
    assert not cells(figure)
    assert all(len(tick.get_text()) <= 28 for tick in figure.axes[0].get_yticklabels())
    assert save_picture(figure, tmp_path / "confusion.png").stat().st_size > 0


def test_numbers_are_readable_on_every_shade():
    for share in np.linspace(0, 1, 101):
        ink = "#ffffff" if share > DARK else INK
        rgb = tuple(int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5))
        assert contrast(rgb, SHADES(share)[:3]) >= 4

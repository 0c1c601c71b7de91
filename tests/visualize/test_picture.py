"""The picture of a document, read from its artists."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.lines import Line2D

from tests.visualize.documents import even, prediction, without_weights
from zoo.tasks.classification import AttendedSentence
from zoo.visualize import document_figure, save_png
from zoo.visualize.picture import BAR_WIDTH, CLASS_BAR, EVIDENCE, MARGIN, WIDTH, WORD


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def marked(figure, kind):
    """The artists of a kind (`word`, `sentence`, `class`, `evidence`) by their numbers."""
    artists = (a for a in figure.axes[0].get_children() if (a.get_gid() or "").startswith(kind + " "))
    return {tuple(map(int, a.get_gid().split()[1:])): a for a in artists}


def test_shows_every_word_its_class_and_probabilities():
    figure = document_figure(prediction(), "bad")
    shown = texts(figure)
    everything = "the soup was great we sat outside good bad 0.75 0.25 0.64 0.36"
    assert set(everything.split()) <= set(shown)
    assert "✗ true class bad" in shown
    assert "✓ true class good" in texts(document_figure(prediction(), "good"))
    assert not any("true class" in text for text in texts(document_figure(prediction())))


def test_bars_and_boxes_are_as_strong_as_the_weights():
    figure = document_figure(prediction())
    bars = {number: bar.get_width() / BAR_WIDTH for (number,), bar in marked(figure, "sentence").items()}
    assert bars == {0: pytest.approx(1), 1: pytest.approx(0.36 / 0.64)}
    classes = {number: bar.get_width() / CLASS_BAR for (number,), bar in marked(figure, "class").items()}
    assert classes == {0: pytest.approx(0.25), 1: pytest.approx(0.75)}
    boxes = marked(figure, "word")
    assert (0, 2) not in boxes  # weight 0
    for at, strength in {(0, 3): 1.0, (0, 1): 0.8 * 0.2 / 0.6, (1, 2): 0.6 * 0.5 / 0.6}.items():
        expected = 1 - strength * (1 - np.array(to_rgb(WORD)))
        np.testing.assert_allclose(boxes[at].get_facecolor()[:3], expected, atol=1e-6)
    by_word = marked(document_figure(prediction(), weighing="word"), "word")
    np.testing.assert_allclose(by_word[1, 2].get_facecolor()[0], 1 - 0.5 / 0.75 * (1 - to_rgb(WORD)[0]), atol=1e-6)


def test_a_box_stands_behind_its_word():
    figure = document_figure(prediction())
    renderer = figure.canvas.get_renderer()
    word = next(text for text in figure.axes[0].texts if text.get_text() == "great")
    box = marked(figure, "word")[0, 3].get_window_extent(renderer)
    extent = word.get_window_extent(renderer)
    assert box.x0 < extent.x0 < extent.x1 < box.x1
    assert box.y0 < extent.y0 < extent.y1 < box.y1


def test_true_evidence_is_underlined_and_a_phrase_is_underlined_through():
    figure = document_figure(prediction(), "good", [[False, False, True, True], [True, False, False]])
    lines = marked(figure, "evidence")
    assert set(lines) == {(0, 2), (0, 3), (1, 0)}
    assert lines[0, 2].get_xdata()[1] == lines[0, 3].get_xdata()[0]
    assert "decided the true class" in texts(figure)
    colours = [line.get_color() for line in document_figure(prediction()).findobj(Line2D)]
    assert EVIDENCE not in colours


def test_lines_wrap_inside_the_margins():
    figure = document_figure(even(1, 60))
    renderer = figure.canvas.get_renderer()
    words = [text.get_window_extent(renderer) for text in figure.axes[0].texts if text.get_text() == "word"]
    assert len(words) == 60
    assert max(extent.x1 for extent in words) / figure.dpi <= WIDTH - MARGIN + 0.02
    for one, other in pairwise(words):
        assert one.x1 < other.x0 or one.y0 > other.y1  # beside it, or on the next line


def test_a_long_document_is_cut_and_says_so():
    figure = document_figure(even(50, 3), max_lines=10)
    assert texts(figure).count("word") == 30
    assert "… 40 more sentences with 0.80 of the attention" in texts(figure)
    assert not any(text.startswith("…") for text in texts(document_figure(even(10, 3), max_lines=10)))


def test_a_long_sentence_is_cut_and_says_so():
    figure = document_figure(even(2, 500), max_lines=3)
    left = 500 - texts(figure).count("word")
    assert 0 < left < 500
    assert f"… {left} more words of this sentence and 1 more sentence with 0.50 of the attention" in texts(figure)


def test_a_word_wider_than_the_picture_is_shortened():
    figure = document_figure(prediction(sentences=(AttendedSentence(("x" * 100_000,), 1.0, (1.0,)),)))
    (word,) = [text for text in texts(figure) if text.startswith("xxx")]
    assert word.endswith("…")
    assert len(word) < 200
    box = marked(figure, "word")[0, 0]
    assert box.get_x() + box.get_width() <= WIDTH - MARGIN + 0.05


def test_is_as_high_as_its_text():
    low, high = document_figure(even(2, 3)).get_size_inches(), document_figure(even(12, 3)).get_size_inches()
    assert low[0] == high[0] == WIDTH
    assert high[1] > low[1] + 2


@pytest.mark.parametrize(
    ("document", "note"),
    [
        (without_weights("a b", ""), "the network has no attention weights"),
        (prediction(sentences=()), "(no words)"),
    ],
)
def test_says_what_is_not_there(document, note):
    figure = document_figure(document)
    assert note in texts(figure)
    assert [*marked(figure, "word"), *marked(figure, "sentence")] == []


def test_many_classes_show_the_likeliest():
    probabilities = {f"class {i}": i / 1225 for i in range(50)}
    figure = document_figure(prediction(label="class 49", probabilities=probabilities))
    assert len(marked(figure, "class")) == 6
    assert {f"class {i}" for i in range(40, 50)} & set(texts(figure)) == {f"class {i}" for i in range(44, 50)}


@pytest.mark.filterwarnings("error")
def test_saves_any_text_as_it_stands(tmp_path):
    words = ("$5", "$\\no_math$", "x_i^2", "<b>", "日本", "\N{GRINNING FACE}", "\x00", "\ud800")
    document = prediction(sentences=(AttendedSentence(words, 1.0, (1 / 8,) * 8),))
    path = save_png(document_figure(document), tmp_path / "new folder" / "é.png")
    height, width, _ = imread(path).shape
    assert width == 1350
    assert height > 200


def test_leaves_no_figure_open_in_pyplot(tmp_path):
    save_png(document_figure(prediction()), tmp_path / "a.png")
    assert plt.get_fignums() == []

"""The picture of a document, read from its artists."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.text import Text

from tests.visualize.documents import even, prediction, without_weights
from zoo.tasks.classification import AttendedSentence
from zoo.visualize import document_figure, document_picture, save_picture
from zoo.visualize.document_picture import BAR_WIDTH, CLASS_BAR, MARGIN, TEXT_LEFT, WIDTH, Letters
from zoo.visualize.drawing import BLUE, ORANGE


def written(figure):
    """The texts as they stand on the picture."""
    return [artist for artist in figure.artists if isinstance(artist, Text)]


def texts(figure):
    return [text.get_text() for text in written(figure)]


def collection(figure, kind):
    """All that is drawn of a kind, None where there is nothing."""
    found = [artist for artist in figure.axes[0].collections if artist.get_gid() == kind]
    assert len(found) <= 1, "one artist a kind"
    return found[0] if found else None


def lengths(figure, kind):
    """Of the boxes or lines of a kind, in the order drawn."""
    made = collection(figure, kind)
    return [path.get_extents().width for path in made.get_paths()] if made else []


def over(figure, kind):
    """The words that the boxes or lines of a kind begin under -> (extents, colour)."""
    found, made = {}, collection(figure, kind)
    for number, path in enumerate(made.get_paths() if made else []):
        box, colors = path.get_extents(), made.get_facecolor() if kind == "words" else made.get_color()
        for text in written(figure):
            x, y = text.get_position()
            if abs(x - box.x0) < 0.04 and -0.1 < box.y1 - y < 0.12:
                found[text.get_text()] = box, colors[number % len(colors)]
    return found


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
    assert lengths(figure, "sentences") == pytest.approx([BAR_WIDTH, BAR_WIDTH * 0.36 / 0.64])
    assert lengths(figure, "classes") == pytest.approx([CLASS_BAR * 0.25, CLASS_BAR * 0.75])
    boxes = over(figure, "words")
    assert set(boxes) == {"the", "soup", "great", "we", "sat", "outside"}  # that of "was" is 0
    for word, strength in {"great": 1.0, "soup": 0.8 * 0.2 / 0.6, "outside": 0.6 * 0.5 / 0.6}.items():
        expected = 1 - strength * (1 - np.array(to_rgb(BLUE)))
        np.testing.assert_allclose(boxes[word][1][:3], expected, atol=1e-6)
    _, color = over(document_figure(prediction(), weighing="word"), "words")["outside"]
    np.testing.assert_allclose(color[0], 1 - 0.5 / 0.75 * (1 - to_rgb(BLUE)[0]), atol=1e-6)


def test_a_box_stands_behind_its_word():
    figure = document_figure(prediction())
    renderer = figure.canvas.get_renderer()
    word = next(text for text in written(figure) if text.get_text() == "great")
    box = over(figure, "words")["great"][0].transformed(figure.axes[0].transData)
    extent = word.get_window_extent(renderer)
    assert box.x0 < extent.x0 < extent.x1 < box.x1
    assert box.y1 < extent.y0 < extent.y1 < box.y0  # y points down


def test_true_evidence_is_underlined_and_a_phrase_is_underlined_through():
    figure = document_figure(prediction(), "good", [[False, False, True, True], [True, False, False]])
    lines = over(figure, "evidence")
    assert set(lines) == {"was", "great", "we"}
    assert lines["was"][0].x1 == lines["great"][0].x0
    assert to_rgb(ORANGE) == tuple(lines["was"][1][:3])
    assert "decided the true class" in texts(figure)
    assert collection(document_figure(prediction()), "evidence") is None


def test_words_that_the_network_does_not_know_have_a_dotted_line():
    sentences = (
        AttendedSentence(("the", "soooup", "was", "graet"), 0.6, (0.1, 0.4, 0.1, 0.4), unknown=(1, 3)),
        AttendedSentence(("we", "left"), 0.4, (0.5, 0.5)),
    )
    figure = document_figure(prediction(sentences=sentences))
    assert set(over(figure, "unknown")) == {"soooup", "graet"}
    assert "unknown to the network" in texts(figure)
    assert "unknown to the network" not in texts(document_figure(prediction()))


def test_lines_wrap_inside_the_margins():
    figure = document_figure(even(1, 60))
    renderer = figure.canvas.get_renderer()
    words = [text.get_window_extent(renderer) for text in written(figure) if text.get_text() == "word"]
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
    (width,) = lengths(figure, "words")
    assert TEXT_LEFT - 0.035 + width <= WIDTH - MARGIN + 0.05


def test_a_picture_has_few_artists_and_measures_each_text_once(monkeypatch):
    """Each artist of its own costs more than what it draws."""
    document = even(20, 8)
    document_figure(document)
    measured = []
    monkeypatch.setattr(document_picture, "letters_of", Letters)
    renderer = document_picture._renderer()
    width = renderer.get_text_width_height_descent
    monkeypatch.setattr(renderer, "get_text_width_height_descent", lambda t, *_: measured.append(t) or width(t, *_))
    figure = document_figure(document)
    assert texts(figure).count("word") == 160
    assert len(figure.axes[0].collections) <= 7
    assert list(figure.axes[0].patches) == list(figure.axes[0].lines) == []
    assert measured.count("word") == 1


@pytest.mark.parametrize("ending", [".png", ".pdf", ".svg"])
def test_the_ending_says_the_format(tmp_path, ending):
    begin = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[ending]
    assert save_picture(document_figure(prediction()), tmp_path / f"x{ending}").read_bytes().startswith(begin)


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
    assert collection(figure, "words") is collection(figure, "sentences") is None


def test_many_classes_show_the_likeliest():
    probabilities = {f"class {i}": i / 1225 for i in range(50)}
    figure = document_figure(prediction(label="class 49", probabilities=probabilities))
    assert len(lengths(figure, "classes")) == 6
    assert {f"class {i}" for i in range(40, 50)} & set(texts(figure)) == {f"class {i}" for i in range(44, 50)}


@pytest.mark.filterwarnings("error")
def test_saves_any_text_as_it_stands(tmp_path):
    words = ("$5", "$\\no_math$", "x_i^2", "<b>", "日本", "\N{GRINNING FACE}", "\x00", "\ud800")
    document = prediction(sentences=(AttendedSentence(words, 1.0, (1 / 8,) * 8),))
    path = save_picture(document_figure(document), tmp_path / "new folder" / "é.png")
    height, width, _ = imread(path).shape
    assert width == 1350
    assert height > 200


def test_leaves_no_figure_open_in_pyplot(tmp_path):
    save_picture(document_figure(prediction()), tmp_path / "a.png")
    assert plt.get_fignums() == []

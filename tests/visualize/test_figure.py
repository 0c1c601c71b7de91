"""Blocks as a picture, read from its artists."""

from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from tests.visualize.documents import answer_blocks, even, prediction, without_weights
from tests.visualize.reading import collection, contrast, grid, place_of, rgb, shapes, texts, written
from zoo import visualize
from zoo.predicting.classification import AttendedSentence
from zoo.visualize import confusion_figure, letters, save_picture
from zoo.visualize.blocks import Block, Classes, Grid, Head, Note, Passage, Rows
from zoo.visualize.classification import reliability_figure
from zoo.visualize.drawing import PALETTE, Key
from zoo.visualize.letters import PIXELS, Letters
from zoo.visualize.reliability import draw_reliability
from zoo.visualize.renderers import canvas, figure
from zoo.visualize.renderers.figure import BAR_WIDTH, CLASS_BAR, DARK, MARGIN, SAMPLES, TEXT_LEFT, TEXT_WIDTH, draw

WIDTH = TEXT_WIDTH + 2 * MARGIN
BLUE = PALETTE["attention"]


def picture(said, truth=None, evidence=None):
    return draw(answer_blocks(said, truth, evidence))


def lengths(figure, kind):
    return [width for _, width, _ in shapes(figure, kind)]


def over(figure, kind):
    """The words that the boxes or lines of a kind begin under -> (extents, colour)."""
    found, made = {}, collection(figure, kind)
    for number, path in enumerate(made.get_paths() if made else []):
        box, colors = path.get_extents(), made.get_facecolor() if kind == "words" else made.get_color()
        for text in written(figure):
            x, y = text.get_position()
            if abs(x - box.x0) < 4 and -10 < box.y1 - y < 12:
                found[text.get_text()] = box, colors[number % len(colors)]
    return found


def boxes(figure):
    """(text, its box in pixels from the lower left corner) of all upright texts."""
    renderer, scale = figure.canvas.get_renderer(), PIXELS / figure.dpi
    upright = [text for text in written(figure) if not text.get_rotation()]
    extents = [(text.get_text(), text.get_window_extent(renderer)) for text in upright]
    return [(text, box.x0 * scale, box.y0 * scale, box.x1 * scale, box.y1 * scale) for text, box in extents]


def touching(figure):
    """Pairs of texts that overlap, and texts outside the margins."""
    found = [
        (one[0], other[0])
        for one, other in combinations(boxes(figure), 2)
        if min(one[3], other[3]) - max(one[1], other[1]) > 1 and min(one[4], other[4]) - max(one[2], other[2]) > 1
    ]
    width = figure.get_size_inches()[0] * PIXELS
    return found + [box[0] for box in boxes(figure) if box[1] < MARGIN - 3 or box[3] > width - MARGIN + 3]


# heads and classes

FINE = ("very negative", "negative", "neutral", "positive", "very positive")
LONG = tuple(f"a much longer class name of which the beginning is alike, {number}" for number in range(5))
BROAD = tuple(letter * 30 for letter in "WM@QG")
MANY = tuple(f"kind {number}" for number in range(20))


@pytest.mark.parametrize("classes", [FINE, LONG, BROAD, MANY, ("a", "b")], ids=["fine", "long", "broad", "many", "ab"])
@pytest.mark.parametrize("truth", [None, 0, 1])
def test_nothing_runs_into_anything_else(classes, truth):
    shares = dict.fromkeys(classes, 1 / len(classes))
    true = None if truth is None else ("true class", classes[truth])
    head = Head(
        classes[0], 0.75, "predicted", truth=true, right=None if truth is None else truth == 0,
        classes=Classes(shares, classes[0]), notes=("a note " * 60,),
    )  # fmt: skip
    made = draw([head])
    assert touching(made) == []
    shown = [box[0] for box in boxes(made)]
    names = {name for name in shown if name in shares or name.endswith("…") or name.startswith("…")}
    assert len(names) >= min(len(classes), figure.MOST_CLASSES), "names stay different when they are cut"
    assert sum("a note" in text for text in shown) > 1, "long notes are wrapped"


def test_the_truth_is_beside_the_probability_where_it_fits_and_below_it_else():
    def places(name):
        head = Head("x", 0.75, truth=("true class", name), right=False, classes=Classes(dict.fromkeys(LONG, 0.2)))
        found = {box[0]: box for box in boxes(draw([head]))}
        (verdict,) = [box for text, box in found.items() if text.startswith("✗ true class")]
        return verdict, found["probability 0.75"]

    verdict, probability = places("short")
    assert verdict[1] > probability[3] and verdict[2] < probability[4]
    verdict, probability = places(LONG[1])
    assert verdict[1] < probability[3] and verdict[4] < probability[2]


def test_few_classes_keep_their_order_and_of_many_those_that_matter_are_shown():
    shares = {name: (20 - number) / 210 for number, name in enumerate(MANY)}
    assert Classes(dict.fromkeys("bacdfe", 0.1), first=("c",)).likeliest(6) == list("bacdfe")
    assert Classes(shares).likeliest(6) == list(MANY[:6])
    chosen = Classes(shares, first=(MANY[0], MANY[19], MANY[15])).likeliest(6)
    assert chosen == [*MANY[:4], MANY[15], MANY[19]], "the predicted, the true, those of the tree, the likeliest"
    assert Classes(shares, first=(MANY[0], None, "no class", None)).likeliest(6) == list(MANY[:6])
    most = Classes(shares, first=(MANY[0], MANY[19], *MANY * 2)).likeliest(6)
    assert len(most) == 12 and MANY[19] in most
    nine = dict.fromkeys(reversed(MANY[:9]), 1 / 9)
    assert Classes(nine, first=(None, None, *MANY)).likeliest(6) == list(nine), "all of them, in their order"
    shares = {name: 0.5 if number == 0 else 0.5 / 19 for number, name in enumerate(MANY)}
    shown = texts(draw([Head(MANY[0], 0.5, classes=Classes(shares, MANY[0]))]))
    assert {"and 10 more", "0.26"} <= set(shown)  # 10 * 0.5 / 19
    assert len([text for text in shown if text in MANY]) == 10 + 1


# passages


def test_bars_and_boxes_are_as_strong_as_the_weights():
    made = picture(prediction())
    everything = "the soup was great we sat outside good bad 0.75 0.25 0.64 0.36"
    assert set(everything.split()) <= set(texts(made))
    assert lengths(made, "bars")[:2] == pytest.approx([CLASS_BAR * 0.25, CLASS_BAR * 0.75])
    assert lengths(made, "bars")[2:4] == pytest.approx([BAR_WIDTH, BAR_WIDTH * 0.36 / 0.64])
    drawn = over(made, "words")
    assert set(drawn) >= {"the", "soup", "great", "we", "sat", "outside"} and "was" not in drawn  # 0
    for word, strength in {"great": 1.0, "soup": 0.8 * 0.2 / 0.6, "outside": 0.6 * 0.5 / 0.6}.items():
        expected = 1 - strength * (1 - np.array(to_rgb(BLUE)))
        np.testing.assert_allclose(drawn[word][1][:3], expected, atol=0.003)
    _, color = over(draw([Passage(prediction().sentences, "word")]), "words")["outside"]
    np.testing.assert_allclose(color[0], 1 - 0.5 / 0.75 * (1 - to_rgb(BLUE)[0]), atol=0.003)


def test_boxes_lines_and_signs_of_words():
    made = picture(prediction())
    word = next(text for text in written(made) if text.get_text() == "great")
    box = over(made, "words")["great"][0].transformed(made.axes[0].transData)
    extent = word.get_window_extent(made.canvas.get_renderer())
    assert box.x0 < extent.x0 < extent.x1 < box.x1
    assert box.y1 < extent.y0 < extent.y1 < box.y0  # y points down
    made = picture(even(1, 60))
    renderer = made.canvas.get_renderer()
    words = [text.get_window_extent(renderer) for text in written(made) if text.get_text() == "word"]
    assert len(words) == 60
    assert max(extent.x1 for extent in words) / made.dpi * PIXELS <= WIDTH - MARGIN + 2
    for one, other in pairwise(words):
        assert one.x1 < other.x0 or one.y0 > other.y1  # beside it, or on the next line
    made = picture(prediction(), "good", [[False, False, True, True], [True, False, False]])
    lines = over(made, "evidence")
    assert set(lines) == {"was", "great", "we"} and lines["was"][0].x1 == lines["great"][0].x0
    assert to_rgb(PALETTE["true"]) == tuple(lines["was"][1][:3])
    assert "decided the true class" in texts(made)
    assert collection(picture(prediction()), "evidence") is None
    sentences = (
        AttendedSentence(("the", "soooup", "was", "graet"), 0.6, (0.1, 0.4, 0.1, 0.4), unknown=(1, 3)),
        AttendedSentence(("we", "left"), 0.4, (0.5, 0.5)),
    )
    made = picture(prediction(sentences=sentences))
    assert set(over(made, "unknown")) == {"soooup", "graet"} and "unknown to the network" in texts(made)
    assert "unknown to the network" not in texts(picture(prediction()))


def test_a_picture_is_as_high_as_its_text_and_long_texts_are_cut():
    made = draw([Passage(even(50, 3).sentences, most_lines=10)])
    assert texts(made).count("word") == 30 and "… 40 more sentences with 0.80 of the attention" in texts(made)
    assert not any(text.startswith("…") for text in texts(draw([Passage(even(10, 3).sentences, most_lines=10)])))
    made = draw([Passage(even(2, 500).sentences, most_lines=3)])
    left = 500 - texts(made).count("word")
    assert 0 < left < 500
    assert f"… {left} more words of this sentence and 1 more sentence with 0.50 of the attention" in texts(made)
    made = picture(prediction(sentences=(AttendedSentence(("x" * 100_000,), 1.0, (1.0,)),)))
    (word,) = [text for text in texts(made) if text.startswith("xxx")]
    assert word.endswith("…") and len(word) < 200
    assert TEXT_LEFT - 4 + max(lengths(made, "words")) <= TEXT_WIDTH + 5
    low, high = picture(even(2, 3)).get_size_inches(), picture(even(12, 3)).get_size_inches()
    assert low[0] == high[0] == WIDTH / PIXELS and high[1] > low[1] + 2


def test_a_picture_has_few_artists_and_measures_each_text_once(monkeypatch):
    """Each artist of its own costs more than what it draws."""
    measured, renderer = [], letters._renderer()
    width = renderer.get_text_width_height_descent
    monkeypatch.setattr(renderer, "get_text_width_height_descent", lambda t, *_: measured.append(t) or width(t, *_))
    made = picture(even(20, 8))
    assert texts(made).count("word") == 160 and measured.count("word") == 1
    assert len(made.axes[0].collections) <= 7
    assert list(made.axes[0].patches) == list(made.axes[0].lines) == []


@pytest.mark.parametrize(
    ("said", "note"),
    [(without_weights("a b", ""), "the network has no attention weights"), (prediction(sentences=()), "(no words)")],
)
def test_what_is_missing_is_said(said, note):
    made = picture(said)
    assert note in texts(made) and collection(made, "words") is None


# grids

WEIGHTS = ((0.7, 0.1, 0.2), (0.0, 1.0, 0.0))


def test_every_weight_is_a_cell_under_its_column_and_beside_its_row_and_true_cells_are_framed():
    made = draw([Grid(["a", "$x$"], ["ein", "hund", "</s>"], WEIGHTS, unknown=["hund"])])
    np.testing.assert_allclose(grid(made), WEIGHTS)
    a, second = place_of(made, "a"), place_of(made, "$x$")
    assert a[0] == second[0] and a[1] < second[1], "the first row is on top"
    xs = [place_of(made, name)[0] for name in ("ein", "hund", "</s>")]
    assert xs == sorted(xs) and xs[0] > a[0]
    (line,) = collection(made, "unknown").get_segments()
    assert abs(line[0][0] - xs[1]) < 8
    made.canvas.draw()  # a dollar begins no formula
    made = draw([Grid(["a", "b"], ["x", "y", "z"], WEIGHTS, true={(0, 1), (1, 2)})])
    (left, top), (middle, low) = (place for place, _, _ in sorted(shapes(made, "true")))
    assert middle > left and low > top
    assert collection(draw([Grid(["a"], ["x"], [[1.0]])]), "true") is None


def test_grids_of_sentences_keep_those_that_matter_with_numbers_the_rest_and_the_question():
    made = draw([Grid(["a b", "c d"], ["hop 1"], [[0.75], [0.0]], sentences=True, rest=[0.25], asked="Who?")])
    np.testing.assert_allclose(grid(made), [[0.75], [0.0], [0.25]])
    assert {"0.75", "0.00", "0.25", "(empty memory)", "hop 1", "Who?"} <= set(texts(made))
    rows = [place_of(made, name)[1] for name in ("a b", "c d", "(empty memory)", "Who?")]
    assert rows == sorted(rows)
    many = Grid([f"s{n}" for n in range(100)], ["hop"], [[0.01] for _ in range(100)], sentences=True, axes=("", "hop"))
    needed = Grid(many.rows, many.columns, [[0.5 if n == 3 else 0.01] for n in range(100)], sentences=True,
                  true={(7, 0)}, strongest={(3, 0)}, axes=("", "hop"))  # fmt: skip
    kept = needed.cut(40, 60)
    assert [int(name[1:]) for name in kept.rows] == [3, 7, *range(62, 100)]  # the strong, the needed, the newest
    assert kept.true == {(1, 0)} and kept.strongest == {(0, 0)}
    assert kept.note == "60 more sentences, none with more than 0.01 in any hop"
    assert needed.cut(100, 60) is needed
    made = draw([needed])
    assert kept.note in texts(made) and len(grid(made)) == 40


def test_of_long_grids_the_first_rows_and_columns_are_kept_and_empty_ones_are_drawn():
    large = Grid(["w" * 300] * 100, ["x"] * 70, [[1 / 70] * 70] * 100, axes=("target tokens", "source tokens"))
    made = draw([large])
    assert grid(made).shape == (60, 60) and "cut to 60 target tokens and 60 source tokens" in texts(made)
    assert all(text.endswith("…") for text in texts(made) if text.startswith("ww"))
    assert large.cut(100, 60).note == "cut to 60 source tokens"
    draw([Grid([], [], []), Grid(["a"], [], [[]]), Grid([], ["a"], [])]).canvas.draw()


# the confusion matrix

MATRIX = [[8, 2, 0], [1, 3, 0], [0, 0, 0]]


@pytest.mark.parametrize("kind", [list, np.array])
def test_counts_in_the_cells_and_shares_as_shades(kind):
    made = confusion_figure(kind(MATRIX), ["a", "b", "c"])
    np.testing.assert_allclose(grid(made), [[0.8, 0.2, 0], [0.25, 0.75, 0], [0, 0, 0]])
    assert "11 of 14 right (78.6%)" in texts(made)
    assert "rows: the true class; columns: the predicted class" in texts(made)
    assert place_of(made, "2")[1] == pytest.approx(place_of(made, "8")[1]), "row: the true class"
    assert place_of(made, "2")[0] > place_of(made, "8")[0] and place_of(made, "3")[1] > place_of(made, "2")[1]


def test_the_matrix_fits_the_classes_and_numbers_are_readable_on_every_shade():
    with pytest.raises(ValueError, match=r"2 classes.*\(3, 3\)"):
        confusion_figure(MATRIX, ["a", "b"])
    for share in np.linspace(0, 1, 101):
        ink = "#ffffff" if share >= DARK else PALETTE["ink"]
        assert contrast(rgb(ink), canvas.ATTENTION(share)[:3]) >= 4


@pytest.mark.filterwarnings("error")
def test_many_classes_long_names_and_no_examples(tmp_path):
    names = [f"$\\no_{i}$ {'long ' * 20}" for i in range(70)]
    made = confusion_figure(np.zeros((70, 70), dtype=int), names)
    assert "0" not in texts(made) and "0 of 0 right" in texts(made)
    assert save_picture(made, tmp_path / "confusion.png").stat().st_size > 0


def test_the_figures_of_each_class_are_in_its_row():
    made = confusion_figure(MATRIX, ["a", "b", "c"])
    row = {text: place_of(made, text)[1] for text in ("8", "0.89", "0.80", "0.84")}  # 8/9, 8/10, 16/19
    assert max(row.values()) - min(row.values()) < 1
    columns = [place_of(made, text)[0] for text in ("2", "precision", "recall", "F1")]
    assert columns == sorted(columns) and place_of(made, "precision")[0] == place_of(made, "0.89")[0]


# reliability


def test_bars_of_reliability_are_as_high_as_the_accuracy():
    bins = np.zeros((3, 15))
    bins[:, [7, 14]] = [[4, 12345], [2, 12000], [3, 6172.5]]
    made = draw_reliability(bins)
    (left, high), (right, half) = ((one.points[0][0], one.size[1]) for one in made.shapes["words"])
    ((_, floor), (_, ceiling)), *_ = (line.points for line in made.shapes["evidence"])
    assert (high, half) == pytest.approx((0.75 * (floor - ceiling), 0.5 * (floor - ceiling))) and left < right
    small, large = (one.size[1] for one in made.shapes["bars"])
    assert small / large == pytest.approx(4 / 12345)
    found = texts(reliability_figure(torch.from_numpy(bins)))
    assert {"4", "12k", f"calibration error {(1 + 5827.5) / 12349:.3f}"} <= {*found}


# the others, and files


def test_rows_with_and_without_titles_and_notes():
    rows = [("n5", "92.0%", "99.6%"), ("n50", "69.6%", "FAIL")]
    made = draw([Rows(rows, ["", "accuracy", "area"]), Rows([("words", 3), ("-1.5", "a dog")]), Note("cut"), Block()])
    assert texts(made)[:8] == ["accuracy", "area", "n5", "92.0%", "99.6%", "n50", "69.6%", "FAIL"]
    assert texts(made)[8:] == ["words", "3", "-1.5", "a dog", "cut"]
    (right, low), (same, _), (_, high) = (place_of(made, text) for text in ("FAIL", "99.6%", "n5"))
    assert right == same and low > high
    assert touching(made) == []


@pytest.mark.parametrize("ending", [".png", ".pdf", ".svg"])
def test_the_ending_chooses_the_format(tmp_path, ending):
    begin = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[ending]
    assert save_picture(picture(prediction()), tmp_path / f"x{ending}").read_bytes().startswith(begin)


@pytest.mark.filterwarnings("error")
def test_saves_any_text_as_it_is(tmp_path):
    words = ("$5", "$\\no_math$", "x_i^2", "<b>", "日本", "\N{GRINNING FACE}", "\x00", "\ud800")
    said = prediction(sentences=(AttendedSentence(words, 1.0, (1 / 8,) * 8),))
    path = save_picture(picture(said), tmp_path / "new folder" / "é.png")
    height, width, _ = imread(path).shape
    assert width == 1350 and height > 200
    assert plt.get_fignums() == []


def test_a_page_gives_words_at_least_the_room_that_dejavu_sans_needs():
    for word in ("swimming", "WONDERFUL", "I'll", "of", "…"):
        exact = Letters().width(word, 140) / 10
        assert Letters(for_page=True).width(word, 14) >= exact - 1
    assert Letters(for_page=True).width("日本", 14) == 28, "as wide as high"


def test_a_picture_can_draw_the_sign_of_every_key():
    modules = [import_module(f"zoo.visualize.{path.stem}") for path in Path(visualize.__path__[0]).glob("*.py")]
    keys = [one for module in modules for one in vars(module).values() if isinstance(one, Key)]
    assert len(keys) > 20
    assert {key.sample for key in keys} <= {"", *SAMPLES}

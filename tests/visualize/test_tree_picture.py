"""The pictures of trees, read from their artists."""

import logging
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from tests.visualize.test_fonts import TEXTS, made_font
from tests.visualize.trees import FINE, PAIR, dependency, examined, grown, prediction, read
from zoo.tasks.relatedness import ExaminedPair
from zoo.tasks.tree_classification import ExaminedTree
from zoo.tasks.trees import ReadTree
from zoo.visualize import fonts, save_picture
from zoo.visualize.drawing import INK
from zoo.visualize.tree_head import MARGIN
from zoo.visualize.tree_layout import laid_out
from zoo.visualize.tree_marks import marks
from zoo.visualize.tree_picture import HALO, RADIUS, WIDEST, pair_figure, tree_figure

MARKS = marks(FINE)


def written(figure):
    return [artist for artist in figure.artists if isinstance(artist, Text)]


def texts(figure):
    return [text.get_text() for text in written(figure)]


def collection(figure, kind):
    """All that is drawn of a kind, None where there is nothing."""
    found = [artist for artist in figure.axes[0].collections if artist.get_gid() == kind]
    assert len(found) <= 1, "one artist a kind"
    return found[0] if found else None


def shapes(figure, kind):
    """(middle, width, colour) of the shapes of a kind, in the order drawn."""
    made = collection(figure, kind)
    if made is None:
        return []
    boxes = [path.get_extents() for path in made.get_paths()]
    colours = [tuple(colour[:3]) for colour in made.get_facecolor()]
    return [
        ((box.x0 / 2 + box.x1 / 2, box.y0 / 2 + box.y1 / 2), box.width, colour)
        for box, colour in zip(boxes, colours, strict=True)
    ]


def discs(figure, layout, radius=RADIUS):
    """Where the disc of each node stands, and its colour."""
    found = [(at, colour) for at, width, colour in shapes(figure, "nodes") if abs(width / 2 - radius) < 1e-6]
    return dict(zip(layout.nodes, found, strict=True))


def test_each_node_is_a_disc_of_its_class_and_each_word_below():
    said = prediction()
    figure, layout = tree_figure(said), laid_out(said.tree)
    for node, (at, colour) in discs(figure, layout).items():
        mark = MARKS[said.labels[node]]
        assert colour == pytest.approx(to_rgb(mark.colour))
        (sign,) = [text for text in written(figure) if np.allclose(text.get_position(), at, atol=0.09)]
        assert sign.get_text() == mark.drawn
    places = {text.get_text(): text.get_position() for text in written(figure) if text.get_text() in said.tree.words}
    assert list(places) == list(said.tree.words)
    assert len({y for _, y in places.values()}) == 1
    assert [x for x, _ in places.values()] == sorted(x for x, _ in places.values())
    for word, (x, y) in places.items():
        leaf = said.tree.word.index(said.tree.words.index(word))
        (at_x, at_y), _ = discs(figure, layout)[leaf]
        assert at_x == pytest.approx(x) and y > at_y + RADIUS


def test_edges_lead_from_disc_to_disc():
    said = prediction()
    figure, layout = tree_figure(said), laid_out(said.tree)
    at = {node: place for node, (place, _) in discs(figure, layout).items()}
    ends = [(tuple(line[0]), tuple(line[-1])) for line in collection(figure, "edges").get_segments()]
    expected = [(at[above], at[node]) for node in layout.nodes if (above := said.tree.parent[node]) >= 0]
    np.testing.assert_allclose(ends, expected)


def test_the_head_says_class_probability_and_truth():
    shown = texts(tree_figure(prediction()))
    assert {"predicted", "positive", "probability 0.75", "0.75", "0.06"} <= set(shown)
    assert set(FINE) <= set(shown), "the key to the signs"
    assert not any("true class" in text for text in shown)
    assert "✓ true class positive" in texts(_of(examined()))
    assert "✗ true class neutral" in texts(_of(examined(wrong=[0])))


def _of(one):
    return tree_figure(one.prediction, one)


def test_a_smaller_disc_has_the_true_class_where_another_was_predicted():
    one = examined(wrong=[6, 9])
    figure, layout = _of(one), laid_out(one.prediction.tree)
    at = discs(figure, layout)
    small = [shape for shape in shapes(figure, "true") if shape[1] > 0.12]  # but for that of the key
    assert len(small) == 2
    for node, (place, _, colour) in zip((6, 9), small, strict=True):
        assert colour == pytest.approx(to_rgb(MARKS["neutral"].colour))
        assert at[node][1] == pytest.approx(to_rgb(MARKS["very positive"].colour))
        np.testing.assert_allclose(place, np.add(at[node][0], (RADIUS * 0.85, -RADIUS * 0.85)))
    assert "small disc: true class" in texts(figure)
    assert shapes(_of(examined()), "true") == [] and "small disc: true class" not in texts(_of(examined()))


def test_a_node_without_a_true_class_is_not_wrong():
    one = examined()
    unlabelled = replace(one, labels=(one.labels[0], *[None] * (len(one.labels) - 1)))
    assert shapes(_of(unlabelled), "true") == []


@pytest.mark.parametrize("weights", [None, (0.5, *[0.0] * 8, 0.5, *[0.0] * 3)])
def test_evidence_has_a_ring_outside_its_halo(weights):
    tree = replace(prediction().tree, weights=weights)
    one = examined(evidence=[7, 9], tree=tree, labels=prediction().labels)
    figure = _of(one)
    at = discs(figure, laid_out(one.prediction.tree))
    rings = [(place, width) for place, width, _ in shapes(figure, "evidence") if width > 2 * RADIUS]
    np.testing.assert_allclose([place for place, _ in rings], [at[7][0], at[9][0]])
    made = collection(figure, "evidence")
    assert len(made.get_facecolor()) == 0 or set(made.get_facecolor()[:, 3]) == {0}, "what is below stays to be seen"
    assert {tuple(edge[:3]) for edge in made.get_edgecolor()} == {to_rgb(INK)}
    halos = [width for place, width, _ in shapes(figure, "halos") if np.allclose(place, at[9][0])]
    assert rings[1][1] > max([2 * RADIUS, *halos]) and len(halos) == (weights is not None)
    assert len(made.get_paths()) == 3, "and the sample in the key"
    assert "tells the true class" in texts(figure)
    assert "tells the true class" not in texts(_of(examined()))


def test_halos_are_as_large_as_the_attention_is_high():
    weights = (0.5, 0.0, 0.0, 0.0, 0.25, 0.125, 0.125, *[0.0] * 6)
    said = prediction(replace(prediction().tree, weights=weights), prediction().labels)
    figure = tree_figure(said)
    at = discs(figure, laid_out(said.tree))
    halos = [shape for shape in shapes(figure, "halos") if shape[1] > 2 * RADIUS]  # but for that of the key
    np.testing.assert_allclose([place for place, _, _ in halos], [at[node][0] for node in (0, 4, 5, 6)])
    gaps = [shape for shape in shapes(figure, "gaps") if shape[1] > 2 * RADIUS]
    np.testing.assert_allclose([place for place, _, _ in gaps], [place for place, _, _ in halos])
    rings = [(halo / 2) ** 2 - (gap / 2) ** 2 for (_, halo, _), (_, gap, _) in zip(halos, gaps, strict=True)]
    np.testing.assert_allclose(np.array(rings) / rings[0], [1, 0.5, 0.25, 0.25])
    assert {colour for _, _, colour in gaps} == {(1.0, 1.0, 1.0)}, "a class as yellow as a halo stays apart from it"
    assert halos[0][2] == pytest.approx(to_rgb(HALO))
    assert "attention: the halo's area (largest 0.5)" in texts(figure)
    bare = tree_figure(prediction())
    assert shapes(bare, "halos") == shapes(bare, "gaps") == [] and not any("halo" in text for text in texts(bare))


def test_halos_stay_below_edges_and_off_the_words():
    weights = (*[0.0] * 12, 1.0)
    said = prediction(replace(prediction().tree, weights=weights), prediction().labels)
    figure = tree_figure(said)
    levels = [collection(figure, kind).get_zorder() for kind in ("halos", "gaps", "edges", "nodes")]
    assert levels == sorted(levels) and len(set(levels)) == 4
    lowest = max(y + width / 2 for (_, y), width, _ in shapes(figure, "halos") if width > 2 * RADIUS)
    (word,) = extents(figure, ["all"])
    top = figure.get_size_inches()[1] - word.y1 / figure.dpi
    assert top > lowest + 0.02
    bare = tree_figure(prediction())
    assert figure.get_size_inches()[1] > bare.get_size_inches()[1]


@pytest.mark.parametrize("classes", [FINE, tuple(map(str, range(99, 104)))])
def test_signs_stay_in_their_discs(classes):
    one = prediction(grown(5, "balanced"), classes=classes)
    figure = tree_figure(one, ExaminedTree(0, one, None, one.labels[1:] + one.labels[:1], None))
    renderer, high = figure.canvas.get_renderer(), figure.get_size_inches()[1]
    drawn = [mark.drawn for mark in marks(classes).values()]
    signs = [text for text in written(figure) if text.get_text() in drawn and text.get_weight() == "bold"]
    found = [text.get_window_extent(renderer) for text in signs]
    middles = [((box.x0 + box.x1) / 2 / figure.dpi, high - (box.y0 + box.y1) / 2 / figure.dpi) for box in found]
    small = 0
    for place, width, _ in [*shapes(figure, "nodes"), *shapes(figure, "true")]:
        for (x, y), box in zip(middles, found, strict=True):
            if np.hypot(x - place[0], y - place[1]) < 0.05:
                small += width < 2 * RADIUS
                assert box.width / figure.dpi < 0.86 * width
    assert small > 5


def test_unknown_words_have_a_dotted_line():
    said = prediction(replace(prediction().tree, unknown=(1,)), prediction().labels)
    figure = tree_figure(said)
    (word,) = [text for text in written(figure) if text.get_text() == "film"]
    line = collection(figure, "unknown").get_segments()[0]
    assert line[:, 0].mean() == pytest.approx(word.get_position()[0])
    assert 0.02 < line[0][1] - word.get_position()[1] < 0.12
    assert "unknown to the network" in texts(figure)
    assert collection(tree_figure(prediction()), "unknown") is None


def test_a_note_is_said():
    note = "read along a balanced tree: none was given"
    assert note in texts(tree_figure(prediction(), note=note)) and note in texts(pair_figure(PAIR, note=note))


def extents(figure, words):
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in written(figure) if text.get_text() in words]


@pytest.mark.parametrize("words", [8, 20, 24])
def test_words_side_by_side_do_not_touch(words):
    said = prediction(grown(words, "balanced"))
    figure = tree_figure(said)
    boxes = extents(figure, said.tree.words)
    assert len(boxes) == words
    for one, other in pairwise(boxes):
        assert one.x1 < other.x0
    assert boxes[0].x0 / figure.dpi >= MARGIN - 0.02
    assert boxes[-1].x1 / figure.dpi <= figure.get_size_inches()[0] - MARGIN + 0.02


def test_many_words_are_slanted_on_a_picture_that_is_not_wider():
    said = prediction(grown(40, "balanced"))
    figure = tree_figure(said)
    words = [text for text in written(figure) if text.get_text() in said.tree.words]
    assert len(words) == 40 and {text.get_rotation() > 30 for text in words} == {True}
    assert figure.get_size_inches()[0] <= WIDEST
    lowest = min(box.y0 for box in extents(figure, said.tree.words))
    assert lowest > 0.2 * figure.dpi, "on the picture"


@pytest.mark.parametrize(
    "tree",
    [grown(300, "balanced"), grown(300, "right"), grown(300, "left", inside=True)],
    ids=["wide", "deep", "words"],
)
def test_what_does_not_fit_is_folded_and_said(tree):
    weighed = replace(tree, weights=(1 / len(tree.parent),) * len(tree.parent))
    figure = tree_figure(prediction(weighed))
    width, height = figure.get_size_inches()
    assert width <= WIDEST and height <= 12
    (note,) = [text for text in texts(figure) if "folded" in text]
    missing = len(tree.parent) - len(shapes(figure, "nodes")) + len(FINE) + 1
    assert note == (
        f"{missing:,} of {len(tree.parent):,} nodes are not drawn, but folded into the triangles; "
        f"they have {missing / len(tree.parent):.2f} of the attention"
    )
    assert shapes(figure, "folds")
    assert not [text for text in texts(tree_figure(prediction())) if "folded" in text]


def test_a_tree_five_thousand_deep_is_drawn():
    words = tuple(f"w{n}" for n in range(5000))
    tree = ReadTree(words, (-1, *range(4999)), tuple(range(5000)), None)
    assert sum(tree_figure(prediction(tree)).get_size_inches()) < 24


def test_a_long_word_is_cut():
    tree = ReadTree(("x" * 100_000, "y"), (-1, 0, 0), (-1, 0, 1), None)
    (cut,) = [text for text in texts(tree_figure(prediction(tree))) if text.startswith("xxx")]
    assert cut.endswith("…") and len(cut) < 60


def test_classes_without_an_order_have_colours_of_their_own():
    classes = ("ABBR", "DESC", "ENTY")
    said = prediction(grown(4, "balanced"), classes=classes)
    found = discs(tree_figure(said), laid_out(said.tree))
    assert {said.labels[node]: colour for node, (_, colour) in found.items()} == {
        name: pytest.approx(to_rgb(mark.colour)) for name, mark in marks(classes).items()
    }


def test_a_dependency_tree_has_a_line_from_each_node_to_its_word():
    said = prediction(dependency("a big dog barks", (2, 2, 3, -1)))
    figure = tree_figure(said)
    at = discs(figure, laid_out(said.tree))
    drops = collection(figure, "drops").get_segments()
    words = [text.get_position()[0] for text in written(figure) if text.get_text() in said.tree.words]
    assert [line[0][0] for line in drops] == [line[-1][0] for line in drops] == words
    assert [at[node][0][0] for node in (0, 1, 2, 3)] == words
    assert at[3][0][1] < at[2][0][1] < at[0][0][1] == at[1][0][1]
    assert collection(tree_figure(prediction()), "drops") is None


# pairs


def test_a_pair_is_two_trees_below_each_other_with_scores():
    figure = pair_figure(PAIR, ExaminedPair(0, PAIR, "4.5", 4.5))
    shown = texts(figure)
    assert {"relatedness", "4.25", "of 1 to 5", "true score 4.5", "0.12", "0.50", "0.38"} <= set(shown)
    first, second = (
        [text.get_position()[1] for text in written(figure) if text.get_text() in tree.words]
        for tree in (PAIR.first, PAIR.second)
    )
    assert len(first) == 5 and len(second) == 3 and max(first) < min(second)
    plain = [place for place, width, _ in shapes(figure, "nodes") if abs(width / 2 - RADIUS * 0.6) < 1e-6]
    assert len(plain) == 8
    assert not any("true score" in text for text in texts(pair_figure(PAIR)))
    assert "attention: the halo's area (largest 0.62)" in shown and "unknown to the network" in shown


def test_a_score_of_zero_is_a_score():
    assert "true score 0" in texts(pair_figure(PAIR, ExaminedPair(0, PAIR, "0", 0.0)))


# files and fonts


@pytest.mark.filterwarnings("error")
def test_saves_any_text_as_it_stands(tmp_path):
    words = ("$5", "$\\no_math$", "x_i^2", "<b>", "\N{GRINNING FACE}", "\x00", "\ud800", "$")
    tree = replace(grown(8, "balanced"), words=words)
    path = save_picture(tree_figure(prediction(tree, classes=("$a_b$", "b")), note="$x$"), tmp_path / "é.png")
    assert path.stat().st_size > 1000
    save_picture(pair_figure(replace(PAIR, first=tree)), tmp_path / "pair.svg")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("script", TEXTS)
def test_letters_of_other_scripts_are_looked_for(tmp_path, monkeypatch, caplog, script):
    monkeypatch.setattr(fonts, "_said", set())
    fonts._family.cache_clear()
    text, package = TEXTS[script]
    words = text.split()
    tree = dependency(text, (-1, *[0] * (len(words) - 1)))
    monkeypatch.setattr(fonts, "installed", tuple)
    with caplog.at_level(logging.WARNING):
        tree_figure(prediction(tree))
    assert caplog.messages[0].endswith(f"apt install {package}")
    fonts._family.cache_clear()
    path = made_font(tmp_path / f"Trees{script}.ttf", text.replace(" ", ""))
    monkeypatch.setattr(fonts, "installed", lambda: (path,))
    figure = tree_figure(prediction(tree))
    (word,) = [one for one in written(figure) if one.get_text() == words[0]]
    assert f"Trees{script}" in word.get_fontfamily()
    fonts._family.cache_clear()


def test_no_words():
    tree, _ = read("(2 a)")
    assert "a" in texts(tree_figure(prediction(tree)))
    empty = replace(PAIR, first=ReadTree((), (), (), None))
    assert "(no words)" in texts(pair_figure(empty))

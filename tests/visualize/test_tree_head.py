"""What stands above and below pictures of trees: nothing runs into anything else, the key has what is to be seen."""

from dataclasses import replace
from itertools import combinations

import pytest
from matplotlib.transforms import Affine2D

from tests.visualize.test_tree_picture import texts, written
from tests.visualize.trees import FINE, PAIR, examined, grown, prediction, read
from zoo.tasks.relatedness import ExaminedPair
from zoo.tasks.tree_classification import ExaminedTree
from zoo.visualize.tree_head import KEY_SHARE, LONGEST_NAME, MARGIN, MOST_ROWS, NARROWEST, Head, chosen
from zoo.visualize.tree_picture import WIDEST, pair_figure, tree_figure
from zoo.visualize.tree_sheet import Letters

ALIKE = tuple(f"a class name of thirty signs {number}" for number in range(5))
LONG = tuple(f"a much longer class name of which the beginning is alike, {number}" for number in range(5))
BROAD = tuple(letter * 30 for letter in "WM@QG")
MANY = tuple(f"kind {number}" for number in range(20))


def judged(tree, classes, truth):
    """A prediction of which each node is right but for the root, of which the class is said to be `truth`."""
    said = prediction(tree, classes=classes)
    return ExaminedTree(0, said, truth, said.labels, None)


def boxes(figure):
    """(text, its box in inches) of all that is written upright."""
    renderer, dpi = figure.canvas.get_renderer(), figure.dpi
    upright = [text for text in written(figure) if text.get_text() and not text.get_rotation()]
    scale = Affine2D().scale(1 / dpi)
    return [(text.get_text(), text.get_window_extent(renderer).transformed(scale)) for text in upright]


def touching(figure):
    """Texts one on another, and those that run out of the picture."""
    found = [
        (one, other)
        for (one, a), (other, b) in combinations(boxes(figure), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.01 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.01
    ]
    width = figure.get_size_inches()[0]
    return found + [text for text, box in boxes(figure) if box.x0 < MARGIN - 0.03 or box.x1 > width - MARGIN + 0.03]


@pytest.mark.parametrize(
    "classes", [FINE, ALIKE, LONG, BROAD, ("a", "b")], ids=["fine", "alike", "long", "broad", "ab"]
)
@pytest.mark.parametrize("words", [1, 6, 24, 40])
def test_nothing_runs_into_anything_else(classes, words):
    tree = grown(words, "balanced")
    for truth in (classes[0], classes[1], None):
        one = judged(tree, classes, truth)
        figure = tree_figure(one.prediction, one, note="of which not much is to be said")
        assert touching(figure) == []
        assert NARROWEST <= figure.get_size_inches()[0] <= WIDEST


@pytest.mark.parametrize("classes", [ALIKE, LONG, BROAD, MANY])
def test_names_are_told_apart(classes):
    said = prediction(grown(3, "left"), classes=classes)
    names = [name for name, _ in boxes(tree_figure(said))]
    key = Head(Letters(iter(classes)), said.probabilities, chosen(said.probabilities), above="", large="", under="")
    assert len(set(key.names)) == len(key.names)
    assert set(key.names) <= set(names)
    assert all(key.letters.width(name, 8.5, "bold") <= LONGEST_NAME for name in key.names)
    assert key.key / key.least <= KEY_SHARE + 1e-9


def test_what_is_true_stands_behind_the_probability_where_it_fits_and_below_it_else():
    def place(classes):
        one = judged(grown(3, "left"), classes, classes[1])
        found = dict(boxes(tree_figure(one.prediction, one)))
        (verdict,) = [box for text, box in found.items() if "true class" in text]
        return verdict, found["probability 0.75"]

    verdict, probability = place(("right", "wrong"))
    assert verdict.x0 > probability.x1 and verdict.y0 < probability.y1
    verdict, probability = place(LONG)
    assert verdict.x0 < probability.x1 and verdict.y1 < probability.y0


def test_the_score_of_a_pair_stands_clear_of_long_grades():
    pair = replace(PAIR, probabilities=dict.fromkeys(LONG, 0.2))
    assert touching(pair_figure(pair, ExaminedPair(0, pair, "4.5", 4.5))) == []


# which classes


def test_few_classes_are_all_told_in_their_order():
    shares = {name: number / 15 for number, name in enumerate("bacdfe")}
    assert chosen(shares, ["c"], ["e"]) == list("bacdfe")


def test_of_many_the_predicted_the_true_and_those_in_the_tree_are_told():
    shares = {name: (20 - number) / 210 for number, name in enumerate(MANY)}
    assert chosen(shares) == list(MANY[:6])
    assert chosen(shares, [MANY[0], MANY[19]], [MANY[15]]) == [*MANY[:4], MANY[15], MANY[19]]
    assert chosen(shares, [MANY[0], None, "no class"], [None]) == list(MANY[:6])
    most = chosen(shares, [MANY[19]], MANY * 2)
    assert len(most) == MOST_ROWS and MANY[19] in most
    assert chosen(shares, [], [*MANY, *MANY[10:]])[:10] == [*MANY[:2], *MANY[10:18]], "those seen more often"
    nine = dict.fromkeys(reversed(MANY[:9]), 1 / 9)
    assert chosen(nine, [], MANY) == list(nine), "all of them, in their order"


def test_how_many_are_left_out_is_said():
    shares = {name: 0.5 if number == 0 else 0.5 / 19 for number, name in enumerate(MANY)}
    said = prediction(read("(2 a)")[0], (MANY[0],), MANY, shares)
    one = ExaminedTree(0, said, MANY[17], (MANY[17],), None)
    shown = texts(tree_figure(said, one))
    assert {"and 14 more", "0.37", "✗ true class kind 17", "kind 17"} <= set(shown)  # 14 * 0.5 / 19
    drawn = {MANY[0], MANY[17]}
    assert drawn <= {text for text in shown if text in MANY} and len({text for text in shown if text in MANY}) == 6
    assert not any("more" in text for text in texts(tree_figure(examined().prediction)))


# notes


@pytest.mark.parametrize("words", [1, 24])
def test_long_notes_are_wrapped_to_the_width(words):
    note = "the labels in the brackets were not read: " + ", ".join(f"label{number}" for number in range(60))
    said = prediction(grown(words, "balanced"))
    figure = tree_figure(said, note=note)
    assert touching(figure) == []
    shown = texts(figure)
    first = next(number for number, text in enumerate(shown) if text.startswith("the labels"))
    assert " ".join(shown[first:]) == note and len(shown) - first > 2
    short = tree_figure(said, note="the labels")
    lines = len(shown) - first
    assert figure.get_size_inches()[1] - short.get_size_inches()[1] == pytest.approx(0.22 * (lines - 1))
    assert min(box.y0 for _, box in boxes(figure)) > 0.1
    assert touching(tree_figure(said, note="x" * 1000)) == []

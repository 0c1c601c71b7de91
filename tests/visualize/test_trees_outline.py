"""Trees on the terminal, with colour and without."""

from dataclasses import replace

import pytest

from tests.visualize.reading import printed as lines
from tests.visualize.trees import FINE, PAIR, dependency, examined, grown, prediction, read
from zoo.predicting.tree_classification import ExaminedTree
from zoo.predicting.trees import ReadTree
from zoo.visualize.relatedness import RelatednessView
from zoo.visualize.renderers.terminal import Printed
from zoo.visualize.tree_classification import TreeClassificationView
from zoo.visualize.trees.drawing import MOST_NODES, SHORT
from zoo.visualize.trees.marks import marks


def tree_text(said, one=None):
    return Printed(TreeClassificationView().blocks(said, one))


def printed(said, **options):
    return "\n".join(lines(said, **options))


def test_signs_say_it_all_without_colour_which_shades_words():
    assert lines(tree_text(prediction())) == [
        "positive  0.75  very negative 0.06, negative 0.06, neutral 0.06",
        "The film was not bad/-- at all",
        "",
        " +  0.50 The film was not bad at all",
        " 0  0.50   The film",
        " +  0.50   was not bad at all",
        " +  0.51     not bad at all",
        " -  0.51       bad at all",
        " 0  0.51         at all",
    ]
    text = printed(tree_text(prediction()), color_system="truecolor", force_terminal=True)
    assert "48;2;181;32;47mbad\x1b" in text  # the red of very negative
    assert "bad/--" not in text and " - " in text


def test_attention_has_a_column_and_all_lines_together_have_all_of_it():
    tree = replace(prediction().tree, weights=(0.5, 0.25, *[0.0] * 10, 0.25))
    found = lines(tree_text(prediction(tree, prediction().labels)))
    assert found[3].split() == ["attention"]
    assert found[4].split()[:3] == ["+", "0.50", "0.50"] and found[5].split()[:3] == ["0", "0.50", "0.25"]
    assert found[-1] == "words: 0.25 of the attention together"
    one = examined(wrong=[9], tree=replace(prediction().tree, weights=(1 / 13,) * 13), labels=prediction().labels)
    found = lines(tree_text(one.prediction, one))
    assert found[-1] == "other words: 0.46 of the attention together", "six of 13: bad has a row of its own"
    large = replace(grown(40, "balanced"), weights=(1 / 79,) * 79)
    assert lines(tree_text(prediction(large)))[-2:] == [
        "… and 30 more phrases, with 0.38 of the attention",
        "words: 0.51 of the attention together",
    ]


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("weighed", [True, False], ids=["attention", "bare"])
def test_a_narrow_terminal_cuts_phrases_and_no_number(width, weighed):
    tree = grown(17, "right")
    tree = replace(tree, words=tuple(f"word{n:02}" for n in range(17)), weights=(1 / 33,) * 33 if weighed else None)
    said = prediction(tree)
    found = lines(tree_text(said, ExaminedTree(0, said, said.label, said.labels, None)), width=width)
    rows = found[found.index("") + 2 :][:16]
    known = marks(FINE)
    for node, row in enumerate(rows):
        sign, number = known[said.labels[2 * node]].sign, f"{said.confidence[2 * node]:.2f}"
        assert row.split()[:3] == [sign, number, sign] and len(row) <= width
        assert ("0.03" in row.split()) == weighed
        assert row.split()[3 + weighed].startswith("word"), "something of the phrase is left"
    assert rows[0].endswith("…")


@pytest.mark.parametrize(
    ("system", "bare", "coloured"),
    [("standard", False, False), ("256", False, True), ("truecolor", False, True), ("truecolor", True, False)],
)
def test_where_two_classes_would_have_one_colour_signs_say_it(system, bare, coloured):
    text = printed(tree_text(prediction()), color_system=system, force_terminal=True, no_color=bare)
    assert ("/--" in text) != coloured and ("\x1b[" in text)
    assert ("48;" in text) == coloured


@pytest.mark.parametrize("words", [MOST_NODES // 2, MOST_NODES // 2 + 1])
def test_a_larger_tree_is_told_in_its_widest_phrases(words):
    found = lines(tree_text(prediction(grown(words, "balanced"))))
    start = found.index("")
    outline = [line for line in found[start + 1 :] if not line.startswith("…")]
    if 2 * words - 1 <= MOST_NODES:
        assert len(outline) == words - 1 and not found[-1].startswith("…")
    else:
        assert len(outline) == SHORT and found[-1] == f"… and {words - 1 - SHORT} more phrases"
        assert outline[0].split()[2] == "w0" and outline[-1].split()[2] != "w0"
        assert min(len(line.split()) - 2 for line in outline) > 2, "not the narrow ones"


def test_a_deep_tree_stays_on_the_screen_and_a_pair_has_its_score_and_grades():
    words = tuple(f"w{n}" for n in range(5000))
    tree = ReadTree(words, (-1, *range(4999)), tuple(range(5000)), None)
    found = lines(tree_text(prediction(tree)))
    assert len(found[found.index("") :]) == SHORT + 2
    assert all(len(line) <= 80 for line in found)
    narrow = lines(tree_text(prediction(grown(30, "right"))), width=40)
    assert all(len(line) <= 40 for line in narrow)
    assert lines(Printed(RelatednessView().blocks(PAIR)))[:3] == [
        "4.25  1: 0.00, 2: 0.00, 3: 0.12, 4: 0.50, 5: 0.38  of 1 to 5",
        "  A brown dog is running",
        "  The cat <runs>(?)",
    ]
    assert "(no words)" in printed(Printed(RelatednessView().blocks(replace(PAIR, first=ReadTree((), (), (), None)))))


def test_the_words_of_the_sentence_and_their_signs():
    tree = ReadTree(("good", ",", "film"), (1, -1), (0, 2), None, unknown=(2,))
    text = lines(tree_text(prediction(tree, ("positive", "neutral"))))
    assert text[1] == "good/+ , film(?)"
    assert text[3].endswith("good … film")
    tree = dependency("where is it", (1, -1, 1))
    said = prediction(tree, ("LOC", "ABBR", "HUM"), ("ABBR", "HUM", "LOC"))
    assert lines(tree_text(said))[1] == "where/L is/A it/H"
    assert len(lines(tree_text(prediction(read("(4 good)")[0], ("very positive",))))) == 2

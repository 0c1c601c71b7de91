"""Blocks on the terminal, with colour and without."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tests.visualize.bits import COPY
from tests.visualize.bits import prediction as bits
from tests.visualize.documents import prediction, without_weights
from tests.visualize.reading import in_colour, printed
from tests.visualize.stories import ANSWER, answer, long_answer
from tests.visualize.trees import grown
from zoo.predicting.classification import AttendedSentence
from zoo.visualize.algorithmic import AlgorithmicView
from zoo.visualize.answering import AnsweringView
from zoo.visualize.blocks import Block, Grid, Head, Note, Passage, Rows
from zoo.visualize.classification import ClassificationView
from zoo.visualize.renderers.terminal import Printed
from zoo.visualize.trees.drawing import Tree


def document(said):
    return Printed(ClassificationView().blocks(said))


def story(said):
    return Printed(AnsweringView().blocks(said))


def sequence(said):
    return Printed(AlgorithmicView().blocks(said))


# passages and classes


def test_without_colour_numbers_and_marks_are_enough():
    lines = printed(document(prediction()))
    assert lines[0] == "good  0.75"
    assert lines[1].split() == ["bad", "0.25", "█████"]
    assert lines[2].split() == ["good", "0.75", "█" * 15]
    # strengths: soup 0.27, great 1; sat 0.4, outside 0.5
    assert lines[4] == "0.64 ████████ the *soup* was **great**"
    assert lines[5] == "0.36 ████▌    we *sat outside*"
    text = str(document(prediction()))
    assert "0.36 ████▌    we *sat outside*\n" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert "\x1b" not in text


def test_colour_shades_the_words_and_needs_no_marks():
    text = in_colour(document(prediction()))
    assert "*" not in text
    assert "48;2;91;155;240mgreat\x1b" in text  # the strongest word, in the deepest shade
    assert "mthe\x1b" not in text  # 0.07: too weak to show
    bare = in_colour(document(prediction()), no_color=True)
    assert "**great**" in bare and "48;2" not in bare


def test_a_terminal_of_ascii_gets_ascii_bars():
    class Latin(io.StringIO):
        encoding = "ascii"

    console = Console(file=Latin(), width=80, color_system=None, legacy_windows=False)
    console.print(document(prediction()))
    text = console.file.getvalue()
    assert text.isascii() and "0.64 ######## the" in text


def test_long_sentences_are_beside_the_margin_which_needs_attention():
    said = prediction(sentences=(AttendedSentence(("word",) * 40, 1.0, (1 / 40,) * 40),))
    first, *others = [line for line in printed(document(said)) if "word" in line]
    assert first.startswith("1.00 ████████ word") and others
    assert all(line.startswith(" " * 14 + "word") for line in others)
    assert printed(document(without_weights("so it goes", "")))[4] == "so it goes"
    assert "(no words)" in printed(document(prediction(sentences=())))


def test_text_is_never_markup_and_never_an_order_to_the_terminal():
    odd = ("[bold]loud[/bold]", "\x1b[2J", ":smile:")
    tree = Tree(replace(grown(3, "left"), words=odd))
    grid = Grid(odd, odd, [[0.1] * 3] * 3, asked=odd[1])
    for block in (Head(" ".join(odd), under=odd[1]), Passage(without_weights(" ".join(odd)).sentences), grid, tree):
        text = in_colour(Printed([block]))
        assert "[bold]loud[/bold]" in text and ":smile:" in text and "\x1b[2J" not in text
    assert "\x1b[2J" not in in_colour(Printed([Rows([odd]), Note(odd[1])]))


@pytest.mark.parametrize(("classes", "rows"), [(10, 10), (12, 10)])
def test_many_classes_show_the_likeliest(classes, rows):
    probabilities = {f"class {i}": i / sum(range(classes)) for i in range(classes)}
    text = "\n".join(printed(document(prediction(label=f"class {classes - 1}", probabilities=probabilities))))
    assert text.count("  class ") == rows
    assert ("and 2 more classes" in text) == (classes == 12)


# grids


def test_a_story_has_the_strongest_sentence_of_each_hop_starred_and_is_cut():
    lines = printed(story(ANSWER))
    first, second, third = ANSWER.sentences
    assert lines[0] == "garden  0.75  <hall> 0.12"
    rows = [f"*0.75 0.12 {first}", f"0.00 0.00 {second}", f"0.25 *0.38 {third}", "0.00 0.50 (empty memory)"]
    assert [" ".join(line.split()) for line in lines[2:]] == ["hop 1 hop 2", *rows, ANSWER.question]
    text = in_colour(story(ANSWER))
    assert "*" not in text and "\x1b[1;" in text
    lines = printed(story(long_answer(100, 5)))
    assert any(line.endswith("It is 5.") for line in lines) and not any(line.endswith("It is 6.") for line in lines)
    assert lines[-1] == "... 80 more sentences, none with more than 0.01 in any hop"
    assert [line.strip() for line in printed(story(answer(hops=())))[2:]] == [*ANSWER.sentences, ANSWER.question]
    lines = printed(Printed([Grid(["a", "dog"], ["ein", "hund"], [[0.9, 0.1], [0.2, 0.8]])]))
    assert [line.split() for line in lines[1:]] == [["ein", "hund"], ["0.90", "0.10", "a"], ["0.20", "0.80", "dog"]]


# heads with wrong letters


def test_wrong_bits_have_marks_below_them_also_in_long_lines():
    """Thirty-three words of two letters and a blank fill a line but for one place; all are wrong in their second."""
    assert printed(sequence(COPY)) == ["11 01", " ^", "  ✗ 1 of 4 bits are wrong"]
    right = bits(written=("10", "01"), probabilities=COPY.targets)
    assert printed(sequence(right)) == ["10 01", "  ✓ all 4 bits are right"]
    assert printed(sequence(bits(truth=None, targets=None))) == ["11 01"]
    text = in_colour(sequence(COPY))
    assert "^" not in text and "\x1b[1;4;31m1\x1b[0m" in text
    many = bits(written=("11",) * 40, truth=("10",) * 40)
    lines = str(sequence(many)).splitlines()
    assert lines[0] == " ".join(["11"] * 33) and lines[1] == " ".join([" ^"] * 33)
    assert lines[2] == " ".join(["11"] * 7) and lines[3] == " ".join([" ^"] * 7)
    joined = bits(written=("1",) * 120, truth=("1",) * 119 + ("0",), separator="")
    assert [len(line) for line in str(sequence(joined)).splitlines()[:3]] == [100, 20, 20]


# the others


def test_rows_notes_and_blocks_without_a_form_for_the_terminal():
    blocks = [Rows([("words", "a <b>")]), Note("[i]cut[/i]"), Rows([(1, 2, 3)], ["", "b", "c"])]
    assert printed(Printed(blocks)) == ["words  a <b>", "[i]cut[/i]", "   b  c", "1  2  3"]
    assert printed(Printed([Block(), Note("after")])) == ["after"]

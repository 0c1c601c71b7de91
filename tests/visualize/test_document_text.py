"""A document on the terminal, with colour and without."""

import io

import pytest
from rich.console import Console

from tests.visualize.documents import prediction, without_weights
from zoo.tasks.classification import AttendedSentence
from zoo.visualize import DocumentText


def printed(document, **options):
    console = Console(file=io.StringIO(), **{"width": 80, "color_system": None, "legacy_windows": False, **options})
    console.print(DocumentText(document))
    return console.file.getvalue()


def test_without_colour_numbers_and_marks_say_it_all():
    lines = [line.rstrip() for line in printed(prediction()).splitlines()]
    assert lines[0] == "good  0.75"
    assert lines[1].split() == ["bad", "0.25", "█████"]
    assert lines[2].split() == ["good", "0.75", "█" * 15]
    # strengths: soup 0.27, great 1; sat 0.4, outside 0.5
    assert lines[4] == "0.64 ████████ the *soup* was **great**"
    assert lines[5] == "0.36 ████▌    we *sat outside*"


def test_print_gives_the_same_without_trailing_blanks():
    text = str(DocumentText(prediction()))
    assert "0.36 ████▌    we *sat outside*\n" in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert "\x1b" not in text


def test_colour_shades_the_words_and_needs_no_marks():
    text = printed(prediction(), color_system="truecolor", force_terminal=True)
    assert "*" not in text
    assert "48;2;91;155;240mgreat\x1b" in text  # the strongest word, in the deepest shade
    assert "mthe\x1b" not in text  # 0.07: too weak to show


def test_no_color_on_a_terminal_marks_the_words():
    text = printed(prediction(), color_system="truecolor", force_terminal=True, no_color=True)
    assert "**great**" in text
    assert "48;2" not in text


def test_a_terminal_that_knows_ascii_only_gets_ascii_bars():
    class Latin(io.StringIO):
        encoding = "ascii"

    console = Console(file=Latin(), width=80, color_system=None, legacy_windows=False)
    console.print(DocumentText(prediction()))
    text = console.file.getvalue()
    assert text.isascii()
    assert "0.64 ######## the" in text


def test_long_sentences_hang_beside_the_margin():
    words = ("word",) * 40
    weights = (1 / 40,) * 40
    document = prediction(sentences=(AttendedSentence(words, 1.0, weights),))
    first, *others = [line for line in printed(document).splitlines() if "word" in line]
    assert first.startswith("1.00 ████████ word")
    assert others
    assert all(line.startswith(" " * 14 + "word") for line in others)


def test_text_is_never_markup_and_never_an_order_to_the_terminal():
    document = without_weights("[bold]loud[/bold] \x1b[2J :smile:")
    text = printed(document, color_system="truecolor", force_terminal=True)
    assert "[bold]loud[/bold]" in text
    assert ":smile:" in text
    assert "\x1b[2J" not in text


def test_without_attention_there_is_no_margin():
    assert printed(without_weights("so it goes", "")).splitlines()[4].rstrip() == "so it goes"


@pytest.mark.parametrize(("classes", "rows"), [(10, 10), (12, 10)])
def test_many_classes_show_the_likeliest(classes, rows):
    probabilities = {f"class {i}": i / sum(range(classes)) for i in range(classes)}
    text = printed(prediction(label=f"class {classes - 1}", probabilities=probabilities))
    assert text.count("  class ") == rows
    assert ("and 2 more classes" in text) == (classes == 12)


def test_no_words():
    assert "(no words)" in printed(prediction(sentences=()))

"""Copied words are linked to their places on a page, and have their numbers in a picture and on the terminal."""

from argparse import Namespace

from tests.visualize.reading import Page, texts
from zoo.predicting.texts import Copied, ExaminedText, TextPrediction, Written
from zoo.visualize.copies import Copies
from zoo.visualize.renderers.terminal import Printed
from zoo.visualize.texts import TextView

SOURCE = ("Abba", "met", "Zork", ".", "he", "paid", "$5$", ".")
WORDS = ("Zork", "paid", "$5$", "</s>")
COPIED = Copied((0.02, 0.9, 0.1, 1.0), (0.98, 0.1, 0.9, 0.0), (2, None, 6, None))
WEIGHTS = tuple(tuple(float(at == place) for at in range(8)) for place in (2, 5, 6, 0))


class Texts(TextView):
    """Any subclass."""


VIEW = Texts()


def prediction(copied=COPIED):
    best = Written("Zork paid $5$", WORDS, -1.0, -0.25, True, WEIGHTS, copied)
    return TextPrediction(SOURCE, (best,), (0, 2), (0,) * 4 + (1,) * 4)


def test_each_copied_word_of_a_page_leads_to_its_place():
    page = VIEW.page([prediction()])
    made = Page(page)
    assert made.texts("a", "g") == ["Zork", "$5$"]
    assert made.texts("span", "copied") == ["Zork", "$5$"]
    name = Copies(WORDS[:3], COPIED.generate, COPIED.place[:3], [SOURCE[:4], SOURCE[4:]]).name
    for place in (2, 6):
        assert page.count(f'href="#{name}-{place}"') == page.count(f'id="{name}-{place}"') == 1
    assert "--v:0.900" in page  # p_gen of `paid`, under which the line is nearly full
    assert "leads to its place" in made.texts("p", "about")[0]


def test_a_picture_and_the_terminal_number_the_places():
    figure = VIEW.picture(prediction(), ExaminedText(0, prediction(), "Zork paid"))
    assert {"Zork", "1", "2", "reference Zork paid"} <= set(texts(figure))
    printed = str(Printed(VIEW.blocks(prediction()))).splitlines()
    assert "Zork[1] paid $5$[2]" in printed
    assert "Abba met Zork[1] ." in printed
    assert "he paid $5$[2] ." in printed


def test_without_copying_the_attention_alone_is_shown():
    page = VIEW.page([prediction(None)])
    assert "href" not in page
    assert 'class="cells' in page


def test_rows_and_the_terminal():
    assert VIEW.row(prediction()) == ["Abba met Zork . he paid $5$ .", "Zork paid $5$", -1.0]
    assert VIEW.terminal(prediction(), 0, Namespace(nbest=None)) == "Zork paid $5$"
    assert VIEW.unknown(prediction()) == ["Abba", "Zork"]

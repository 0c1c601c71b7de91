"""The view of translation: pages, pictures and rows of tables."""

from argparse import Namespace

import numpy as np

from tests.visualize.reading import Page, grid, texts
from zoo.predicting.translation import ExaminedTranslation, Translated, TranslationPrediction
from zoo.visualize.translation import TranslationView

VIEW = TranslationView()
SOURCE = ("ein", "hund", "$x$", "</s>")
WEIGHTS = ((0.7, 0.1, 0.1, 0.1), (0.0, 1.0, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25))


def translated(tokens=("a", "dog", "</s>"), attention=WEIGHTS):
    return Translated(" ".join(tokens[:-1]), tokens, -0.5, -0.25, True, attention)


PREDICTION = TranslationPrediction(SOURCE, (translated(),), unknown=(1,))


def test_true_links_and_rows():
    figure = VIEW.picture(PREDICTION)
    np.testing.assert_allclose(grid(figure), WEIGHTS)
    assert {"a dog", "ein hund $x$ </s>", "log-probability -0.500", "unknown to the network"} <= set(texts(figure))
    known = TranslationPrediction(SOURCE, (translated(),))
    assert "unknown to the network" not in texts(VIEW.picture(known))
    examined = ExaminedTranslation(3, PREDICTION, "a dog", [(1, 0)])
    assert VIEW.blocks(PREDICTION, examined)[1].true == {(0, 1)} and VIEW.blocks(PREDICTION)[1].true == set()
    columns = ["index", "source", "reference", "translation", "log-probability", "alignment"]
    assert VIEW.examined_columns() == columns
    assert VIEW.examined_row(examined) == [3, "ein hund $x$ </s>", "a dog", "a dog", -0.5, "0-0 1-1"]


def test_without_attention_there_is_no_picture_and_an_empty_translation_has_one():
    bare = TranslationPrediction(SOURCE, (translated(attention=None),))
    assert VIEW.picture(bare) is None and "<table" not in VIEW.page([bare])
    nothing = TranslationPrediction(("</s>",), (Translated("", (), 0.0, 0.0, False, ()),))
    assert "(nothing)" in texts(VIEW.picture(nothing)) and "(nothing)" in VIEW.page([nothing])


def test_the_page_and_the_terminal_have_all_translations():
    several = TranslationPrediction(SOURCE, (translated(), translated(("dog", "</s>"), None)), unknown=(1,))
    made = Page(VIEW.page([several]))
    assert made.texts("th")[-2:] == ["-0.2500", "-0.2500"] and made.texts("span", "u") == ["hund"]
    assert VIEW.terminal(several, 1, Namespace(nbest=None)) == "a dog"
    assert VIEW.terminal(several, 1, Namespace(nbest=2)) == "1 ||| a dog ||| -0.2500\n1 ||| dog ||| -0.2500"
    assert "All translations" in made.texts("p", "about")[0] and "All translations" not in VIEW.page([PREDICTION])


def test_steps_are_numbers_after_the_tokens_and_shades():
    taken = {"source": (1, 4, 2, 1), "translation": (2, 2, 1)}
    pondered = TranslationPrediction(SOURCE, (translated(),), steps=taken)
    block = VIEW.blocks(pondered)[-1]
    assert [one.words for one in block.sentences] == [
        ("ein:1", "hund:4", "$x$:2", "</s>:1"),
        ("a:2", "dog:2", "</s>:1"),
    ]
    assert block.shades() == [[0.25, 1.0, 0.5, 0.25], [0.5, 0.5, 0.25]]
    assert {"hund:4", "steps"} <= set(texts(VIEW.picture(pondered)))
    assert "hund:4" in VIEW.page([pondered]) and "hund:4" not in VIEW.page([PREDICTION])

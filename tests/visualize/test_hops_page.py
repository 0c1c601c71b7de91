"""The hops of an answer as a page and on the terminal; stories that a user gives; rows of tables."""

from argparse import Namespace
from io import StringIO

import pytest
from rich.console import Console

from tests.visualize.stories import ANSWER, answer, long_answer
from tests.visualize.test_document_page import Page
from zoo.data.stories.readers import StoryQuestion
from zoo.errors import ConfigError, DataError
from zoo.tasks.answering import ExaminedAnswer
from zoo.visualize.answering import AnsweringView
from zoo.visualize.hops_page import MOST_SENTENCES
from zoo.visualize.hops_text import HopsText
from zoo.visualize.hops_weighing import chosen, empty, left_out, strongest

VIEW = AnsweringView()


# which sentences matter


def test_the_strongest_sentence_of_each_hop():
    assert strongest(ANSWER) == [0, 2]
    assert strongest(answer(hops=())) == strongest(answer(sentences=(), hops=((), ()))) == []


def test_what_is_left_over():
    assert empty(ANSWER) == [0.0, 0.5]
    assert empty(answer(hops=((0.5, 0.5, 1e-8),))) is None


def test_the_sentences_that_are_shown_of_many():
    assert chosen(ANSWER, 5) == [0, 1, 2]
    assert chosen(ANSWER, 2) == [0, 2]
    assert chosen(ANSWER, 1, [False, True, False]) == [1]
    assert chosen(answer(hops=()), 2) == [1, 2]  # the newest
    assert left_out(ANSWER, [0, 1, 2]) == ""
    assert left_out(ANSWER, [0, 2]) == "1 more sentence, none with more than 0.00 in any hop"
    assert left_out(answer(hops=()), [2]) == "2 more sentences"


# page


def test_the_page_holds_every_weight_and_probability_exactly():
    page = Page(VIEW.page([answer(hops=((0.1 + 0.2, 1 / 3, 0.0),), probability=2 / 3)]))
    weights = [float(attributes["data-weight"]) for _, attributes, _ in page.find("td", "weight")]
    assert weights[:3] == [0.1 + 0.2, 1 / 3, 0.0]
    assert weights[3] == pytest.approx(1 - 0.3 - 1 / 3)
    shares = [
        attributes["data-probability"] for tag, attributes, _ in page.elements if "data-probability" in attributes
    ]
    assert shares == ["0.75", "0.125"]
    assert [text for _, _, text in page.find("h2")] == ["garden"]


def test_the_strongest_of_each_hop_is_framed_and_texts_stay_texts():
    html = VIEW.page([ANSWER])
    page = Page(html)
    assert [attributes["data-weight"] for _, attributes, _ in page.find("td", "best")] == ["0.75", "0.375"]
    assert [text for _, _, text in page.find("span", "u")] == ["<left>."]
    assert "&lt;hall&gt;" in html and "<hall>" not in html
    assert "hop 2" in html and "(empty memory)" in html
    assert "the strongest of a hop is framed" in html and "went to empty places of the memory" in html


def test_a_network_without_attention_and_a_blank_line_have_their_place_on_the_page():
    html = VIEW.page([answer(hops=(), unknown=()), None])
    assert "1 question, 1 blank." in html and "(blank)" in html
    page = Page(html)
    assert not page.find("td", "weight") and "Mary got the $x$." in html
    assert "dotted" not in html[html.index("</style>") :]


def test_a_long_story_is_cut():
    html = VIEW.page([long_answer(300, 5)])
    assert len(Page(html).find("td", "weight")) == MOST_SENTENCES
    assert "It is 5." in html and "150 more sentences, none with more than 0.00 in any hop" in html


# terminal


def test_the_terminal_has_the_story_with_the_strongest_sentence_of_each_hop_starred():
    lines = str(HopsText(ANSWER)).splitlines()
    assert lines[0] == "garden  0.75   (<hall> 0.12)"
    assert [line.split() for line in lines[2:]] == [
        ["hop", "1", "hop", "2"],
        ["*0.75", "0.12", *ANSWER.sentences[0].split()],
        ["0.00", "0.00", *ANSWER.sentences[1].split()],
        ["0.25", "*0.38", *ANSWER.sentences[2].split()],
        ["0.00", "0.50", "(empty", "memory)"],
        ANSWER.question.split(),
    ]


def test_where_there_is_colour_there_are_no_stars():
    console = Console(file=StringIO(), width=100, force_terminal=True, color_system="truecolor")
    console.print(VIEW.terminal(ANSWER, 0, Namespace()))
    text = console.file.getvalue()
    assert "*" not in text and "\x1b[1;" in text


def test_a_long_story_is_cut_on_the_terminal():
    text = str(HopsText(long_answer(100, 5)))
    assert "It is 5." in text and "It is 6." not in text and "... 80 more sentences" in text


# tables


def test_rows():
    examined = ExaminedAnswer(4, ANSWER, "hall", (True, False, True))
    assert dict(zip(VIEW.examined_columns(), VIEW.examined_row(examined), strict=True)) == {
        "index": 4,
        "story": "Mary got the $x$. John <left>. Mary went to the garden.",
        "true": "hall",
        "question": "Where is the $x$?",
        "answer": "garden",
        "probability": 0.75,
        "hops": "hop 1: Mary got the $x$. 0.75; hop 2: Mary went to the garden. 0.38",
    }
    assert VIEW.row(answer(hops=()))[-1] == ""
    assert VIEW.unknown(ANSWER) == ["<left>"]
    assert VIEW.as_json(ANSWER)["alternatives"] == {"garden": 0.75, "<hall>": 0.125}


# what a user gives


def test_stories_on_the_command_line_and_in_a_file(tmp_path):
    file = tmp_path / "story.txt"
    file.write_text("1 Mary left.\n2 Who left?\tMary\t1\n3 John came.\n4 Who came?\n")
    left, came = StoryQuestion(["Mary left."], "Who left?"), StoryQuestion(["Mary left.", "John came."], "Who came?")
    assert VIEW.read(["Mary left. Who left?", " "], file) == [left, None, left, came]
    file.write_text("Mary left. Who left?\n\n")
    assert VIEW.read([], file) == [left, None]
    with pytest.raises(DataError, match="the story is empty"):
        VIEW.read(["Who left?"], None)
    with pytest.raises(ConfigError, match=r"is a file: give --file .*story.txt, which reads it, a story a line"):
        VIEW.read([str(file)], None)


class Network:
    def __init__(self, prediction):
        self.prediction = prediction

    def __call__(self, inputs):
        return [self.prediction for _ in inputs]


def test_a_network_without_attention_draws_no_picture():
    for asked, prediction in ((None, answer(hops=())), ("out.png", ANSWER)):
        VIEW.prepare(Network(prediction), Namespace(attention=asked))
    with pytest.raises(ConfigError, match=r"--attention: this network has no attention; .*model=memn2n"):
        VIEW.prepare(Network(answer(hops=())), Namespace(attention="out.png"))

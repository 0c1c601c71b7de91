"""The view of answering: which sentences matter, pictures, rows of tables, and stories that a user gives."""

import pytest

from tests.visualize.reading import shapes, texts
from tests.visualize.stories import ANSWER, answer
from zoo.data.stories.readers import StoryQuestion
from zoo.errors import DataError
from zoo.predicting.answering import ExaminedAnswer
from zoo.visualize.answering import AnsweringView, strongest

VIEW = AnsweringView()


def test_the_strongest_sentence_of_each_hop_and_what_is_left_over():
    assert strongest(ANSWER) == [0, 2]
    assert strongest(answer(hops=())) == strongest(answer(sentences=(), hops=((), ()))) == []
    assert VIEW.blocks(ANSWER)[1].rest == [0.0, 0.5]
    assert VIEW.blocks(answer(hops=((0.5, 0.5, 1e-8),)))[1].rest is None
    assert VIEW.picture(answer(hops=())) is None
    VIEW.picture(answer(sentences=(), hops=((), ()))).canvas.draw()


def test_the_true_answer_and_what_it_follows_from():
    right = VIEW.picture(ANSWER, ExaminedAnswer(0, ANSWER, "garden", (True, False, True)))
    assert "✓ true answer garden" in texts(right) and "framed: what the true answer follows from" in texts(right)
    rows = {round(y) for (_, y), width, _ in shapes(right, "true") if width > 20}
    assert len(rows) == 2 and max(rows) - min(rows) == pytest.approx(46, abs=1), "the first and the third row"
    wrong = VIEW.picture(ANSWER, ExaminedAnswer(0, ANSWER, "hall", None))
    assert shapes(wrong, "true") == [] and "✗ true answer hall" in texts(wrong)
    typed = VIEW.picture(ANSWER)
    assert shapes(typed, "true") == [] and not {"✓", "✗"} & set("".join(texts(typed)))


def test_steps_follow_each_sentence_and_the_question():
    block = VIEW.blocks(answer(steps={"sentence": (1, 1, 3), "question": (4,)}))[-1]
    assert [one.words for one in block.sentences] == [
        ("Mary got the $x$.:1",),
        ("John <left>.:1",),
        ("Mary went to the garden.:3",),
        ("Where is the $x$?:4",),
    ]
    assert block.shades() == [[0.25], [0.25], [0.75], [1.0]]


# tables


def test_rows():
    story, hops = " ".join(ANSWER.sentences), "hop 1: Mary got the $x$. 0.75; hop 2: Mary went to the garden. 0.38"
    row = VIEW.examined_row(ExaminedAnswer(4, ANSWER, "hall", (True, False, True)))
    assert row == [4, story, "hall", "Where is the $x$?", "garden", 0.75, hops]
    assert VIEW.examined_columns() == ["index", "story", "true", "question", "answer", "probability", "hops"]
    assert VIEW.row(answer(hops=()))[-1] == ""
    assert VIEW.unknown(ANSWER) == ["<left>"]


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

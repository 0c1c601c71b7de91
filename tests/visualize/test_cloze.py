"""The view of the cloze task: rows, terminal, page, picture, and the questions that it reads."""

from argparse import Namespace
from dataclasses import replace

import pytest

from tests.visualize.reading import Page, collection, printed, texts
from zoo.data.cloze.batch import BLANK, ClozeQuestion
from zoo.errors import DataError
from zoo.predicting.cloze import ClozePrediction, ExaminedQuestion, ReadText
from zoo.tasks.cloze import Cloze
from zoo.visualize.cloze import query_of, sentences_of, spans
from zoo.visualize.view import view_of

PREDICTION = ClozePrediction(
    answer="Anna",
    probabilities={"Ben": 0.25, "Anna": 0.75},
    document=ReadText(
        ("Anna", "slept", ".", "Ben", "<saw>", "Anna", "."), (0.4, 0.1, 0.0, 0.2, 0.1, 0.2, 0.0), unknown=(4,)
    ),
    query=ReadText((BLANK, "was", "seen"), (0.1, 0.2, 0.7), unknown=(0, 1)),
    sentence_ends=(3, 7),
)
BARE = ReadText((BLANK, "slept"), None)
WITHOUT_QUERY = ClozePrediction("Anna", {"Anna": 1.0}, ReadText(("Anna", "."), (1.0, 0.0)), BARE, (2,))
VIEW = view_of(Cloze)


def test_a_sentence_weighs_what_its_words_have_together():
    first, second = sentences_of(PREDICTION)
    assert (first.words, second.words) == (("Anna", "slept", "."), ("Ben", "<saw>", "Anna", "."))
    assert (first.weight, second.weight) == (pytest.approx(0.5), pytest.approx(0.5))
    assert first.word_weights == pytest.approx([0.8, 0.2, 0.0]) and second.unknown == (1,)
    assert spans(PREDICTION) == spans(replace(PREDICTION, sentence_ends=(0, 3, 3, 7))) == [(0, 3), (3, 7)]
    bare = sentences_of(replace(PREDICTION, document=ReadText(PREDICTION.document.words, None)))
    assert [(part.weight, part.word_weights) for part in bare] == [(None, None)] * 2
    unread = sentences_of(replace(WITHOUT_QUERY, sentence_ends=(1, 2)))
    assert [(part.weight, part.word_weights) for part in unread] == [(1.0, (1.0,)), (0.0, (0.0,))]


def test_the_blank_is_no_unknown_word_and_is_required():
    assert VIEW.unknown(PREDICTION) == ["<saw>", "was"]
    assert query_of(PREDICTION).unknown == (1,)
    with pytest.raises(DataError, match=BLANK):
        VIEW.read(["Anna slept. Ben did not."], None)


def test_rows_and_lines_of_the_terminal():
    top = "Anna 0.40, Ben 0.20, Anna 0.20, slept 0.10, <saw> 0.10"
    row = VIEW.examined_row(ExaminedQuestion(4, PREDICTION, "Ben", None))
    assert row == [4, f"{BLANK} was seen", "Ben", "Anna", 0.75, "Anna 0.75, Ben 0.25", top]
    assert VIEW.examined_columns()[1:4] == ["query", "true", "answer"]
    lines = printed(VIEW.terminal(PREDICTION, 0, Namespace()))
    assert lines[0] == "Anna  0.75"
    assert lines[1].split()[:2] == ["Ben", "0.25"] and lines[2].split()[:2] == ["Anna", "0.75"]
    assert lines[4] == f"{BLANK} *was(?)* **seen**"  # 0.1, 0.2 and 0.7 of 0.7, the highest
    assert lines[6] == "0.50 ████████ **Anna** *slept* ."  # 0.4 and 0.1 of 0.4
    assert lines[7] == "0.50 ████████ *Ben <saw>(?) Anna* ."
    assert printed(VIEW.terminal(WITHOUT_QUERY, 0, Namespace()))[3] == f"{BLANK} slept"


def test_the_page_and_the_picture():
    html = VIEW.page([PREDICTION, None, WITHOUT_QUERY])
    made = Page(html)
    assert "2 questions, 1 blank." in html and "<saw>" in made.texts("span", "u")
    assert made.find("span", "u")[0][1]["data-tip"].endswith("; unknown to the network")
    assert made.find("article")[0][1]["data-label"] == "Anna" and len(made.find("ol", "titled")) == 2
    assert "how much each word counts" in html and "how much each word counts" not in VIEW.page([WITHOUT_QUERY])
    plain, evidence = VIEW.picture(PREDICTION), (True, True, True, False, False, False, False)
    reviewed = VIEW.picture(PREDICTION, ExaminedQuestion(0, PREDICTION, "Ben", evidence))
    assert {"in the blank", "Anna", "✗ true answer Ben", "query", BLANK, "tells the answer"} <= set(texts(reviewed))
    assert "tells the answer" not in texts(plain)
    for kind in ("words", "bars", "evidence", "unknown"):
        assert collection(reviewed, kind) is not None, kind


def test_what_the_network_alone_said_is_said_where_language_models_judged_again():
    judged = replace(PREDICTION, reader_probabilities={"Ben": 0.6, "Anna": 0.4})
    said = "re-ranked; the network alone: Ben 0.60"
    assert said in "".join(printed(VIEW.terminal(judged, 0, Namespace()))) and said in VIEW.page([judged])
    assert "re-ranked" not in VIEW.page([PREDICTION])


def test_questions_are_read_from_the_command_line_and_from_files(tmp_path):
    typed = f"Anna slept. Ben was out. The one asleep was {BLANK}. | Anna|Ben"
    (given,) = VIEW.read([typed], None)
    assert isinstance(given, ClozeQuestion) and given.candidates == ["Anna", "Ben"]
    cbt = tmp_path / "questions.txt"
    sentences = "".join(f"{n} Anna slept , Ben did not .\n" for n in range(1, 21))
    cbt.write_text(f"{sentences}21 It was {BLANK} who slept .\tAnna\t\tAnna|Ben\n")
    (read,) = VIEW.read([], cbt)
    assert len(read.sentences) == 20 and BLANK in read.query
    lines = tmp_path / "lines.txt"
    lines.write_text(f"{typed}\n\n")
    assert [question is None for question in VIEW.read([typed], lines)] == [False, False, True]

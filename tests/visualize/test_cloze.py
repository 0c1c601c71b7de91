"""What the cloze task shows: rows, terminal, page, picture, and which questions it reads."""

import io
import re
from argparse import Namespace

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.console import Console

from zoo.data.cloze.question import BLANK, ClozeQuestion
from zoo.errors import DataError
from zoo.tasks.cloze import Cloze, ClozePrediction, ExaminedQuestion, ReadText
from zoo.visualize.cloze_page import STYLE
from zoo.visualize.cloze_texts import document_of, evidence_of, query_of
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
WITHOUT_QUERY = ClozePrediction(
    "Anna",
    {"Anna": 1.0},
    ReadText(("Anna", "."), (1.0, 0.0)),
    ReadText((BLANK, "slept"), None),
    (2,),
)
VIEW = view_of(Cloze)


def test_a_sentence_weighs_what_its_words_have_together():
    first, second = document_of(PREDICTION).sentences
    assert (first.words, second.words) == (("Anna", "slept", "."), ("Ben", "<saw>", "Anna", "."))
    assert (first.weight, second.weight) == (pytest.approx(0.5), pytest.approx(0.5))
    assert first.word_weights == pytest.approx((0.8, 0.2, 0.0)) and second.unknown == (1,)
    assert evidence_of(PREDICTION, (True, *[False] * 6)) == [(True, False, False), (False,) * 4]


def test_a_sentence_without_attention_has_weights_of_zero():
    prediction = ClozePrediction("a", {"a": 1.0}, ReadText(("a", "b"), (1.0, 0.0)), ReadText((BLANK,), None), (1, 2))
    assert [sentence.word_weights for sentence in document_of(prediction).sentences] == [(1.0,), (0.0,)]
    assert [sentence.weight for sentence in document_of(prediction).sentences] == [1.0, 0.0]


def test_the_blank_is_no_unknown_word():
    assert VIEW.unknown(PREDICTION) == ["<saw>", "was"]
    assert query_of(PREDICTION).sentences[0].unknown == (1,)


def test_a_row_of_a_table():
    assert VIEW.row(PREDICTION) == [
        f"{BLANK} was seen",
        "Anna",
        0.75,
        "Anna 0.75, Ben 0.25",
        "Anna 0.40, Ben 0.20, Anna 0.20, slept 0.10, <saw> 0.10",
    ]
    examined = ExaminedQuestion(4, PREDICTION, "Ben", None)
    assert dict(zip(VIEW.examined_columns(), VIEW.examined_row(examined), strict=True))["true"] == "Ben"
    assert VIEW.examined_row(examined)[0] == 4


def printed(prediction):
    console = Console(file=io.StringIO(), width=80, color_system=None, legacy_windows=False)
    console.print(VIEW.terminal(prediction, 0, Namespace()))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_on_the_terminal():
    lines = printed(PREDICTION)
    assert lines[0] == "Anna  0.75"
    assert lines[1].split()[:2] == ["Ben", "0.25"] and lines[2].split()[:2] == ["Anna", "0.75"]
    assert lines[4] == f"{BLANK} *was(?)* **seen**"  # 0.1, 0.2 and 0.7 of 0.7, the highest
    assert lines[6] == "0.50 ████████ **Anna** *slept* ."  # 0.4 and 0.1 of 0.4
    assert lines[7] == "0.50 ████████ *Ben <saw>(?) Anna* ."


def test_a_query_without_attention_has_no_marks():
    assert printed(WITHOUT_QUERY)[3] == f"{BLANK} slept"


def test_the_page():
    html = VIEW.page([PREDICTION, None, WITHOUT_QUERY])
    assert "2 questions, 1 blank." in html and STYLE in html
    assert "&lt;saw&gt;" in html and "<saw>" not in html
    first = html.split("<article")[1]
    shares = re.findall(r'data-probability="([\d.]+)"', first)
    assert shares == ["0.25", "0.75"] and 'data-label="Anna"' in first
    assert first.count('class="query sentences') == 1
    assert "how much each word counts" in html
    assert "how much each word counts" not in VIEW.page([WITHOUT_QUERY])


def test_the_picture():
    plain = VIEW.picture(PREDICTION)
    assert isinstance(plain, Figure)
    evidence = (True, True, True, False, False, False, False)
    reviewed = VIEW.picture(PREDICTION, ExaminedQuestion(0, PREDICTION, "Ben", evidence))
    written = [text.get_text() for text in reviewed.findobj(Text)]
    for words in ("in the blank", "Anna", "✗ true answer Ben", "query", BLANK, "tells the answer"):
        assert words in written, words
    assert "tells the answer" not in [text.get_text() for text in plain.findobj(Text)]
    drawn = {artist.get_gid() for artist in reviewed.axes[0].collections}
    assert {"words", "sentences", "classes", "evidence", "unknown"} <= drawn


def test_a_long_document_is_cut_and_said():
    words = ("word",) * 3000
    long = ClozePrediction(
        "word", {"word": 1.0}, ReadText(words, (1 / 3000,) * 3000), ReadText((BLANK,), None), (3000,)
    )
    figure = VIEW.picture(long)
    assert figure.get_size_inches()[1] < 16
    assert any("more words of this sentence" in text.get_text() for text in figure.findobj(Text))


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


def test_a_line_without_a_blank_is_refused():
    with pytest.raises(DataError, match=BLANK):
        VIEW.read(["Anna slept. Ben did not."], None)

"""How dialogues are read, how their turns are shown, and a talk in the terminal."""

import io
from argparse import Namespace

import pytest

from tests.visualize.reading import Page
from zoo.errors import DataError, UnusableInput
from zoo.predicting.dialogue import ReplyPrediction
from zoo.predicting.texts import Written
from zoo.visualize.blocks import Passage
from zoo.visualize.dialogue import DialogueView

VIEW = DialogueView()
SOURCE = ("<a>", "hi", "</s>", "<b>", "yes", "</s>")
WEIGHTS = ((0.1, 0.3, 0.0, 0.2, 0.4, 0.0), (0.1, 0.1, 0.0, 0.2, 0.6, 0.0))


def prediction(attention=WEIGHTS):
    best = Written("bye", ("bye", "</s>"), -1.0, -0.5, True, attention)
    return ReplyPrediction(SOURCE, (best,), (1,), (0, 0, 0, 1, 1, 1))


def test_words_are_turns_and_blank_lines_separate_dialogues(tmp_path):
    assert VIEW.read(["hi", "hello", "bye"], None) == [["hi", "hello", "bye"]]
    file = tmp_path / "lines.txt"
    file.write_text('hi\nhello\n\n\nbye\n\n["a", "b"]\n{"turns": ["c"], "speakers": ["X"]}\n')
    expected = [["hi", "hello"], ["bye"], ["a", "b"], {"turns": ["c"], "speakers": ["X"]}]
    assert VIEW.read([], file) == expected
    assert VIEW.read(["ha"], file) == [["ha"], *expected]
    with pytest.raises(DataError, match=r"is not JSON"):
        VIEW.parse("{hi")
    assert VIEW.entered(["hi\nyes\n\n"]) == ["hi", "yes"]
    assert VIEW.example({"dialogue": "hi / yes"}) == "hi"


def test_turns_have_the_attention_of_the_whole_reply():
    (passage,) = (block for block in VIEW.blocks(prediction()) if isinstance(block, Passage))
    first, second = passage.sentences
    assert [one.words for one in passage.sentences] == [SOURCE[:3], SOURCE[3:]]
    assert (first.weight, second.weight) == pytest.approx((0.3, 0.7))  # means over both tokens
    assert first.word_weights == pytest.approx((1 / 3, 2 / 3, 0))
    assert first.unknown == (1,)
    page = Page(VIEW.page([prediction()]))
    assert "bye" in page.texts("h2", "") or "bye" in VIEW.page([prediction()])
    (passage,) = (block for block in VIEW.blocks(prediction(None)) if isinstance(block, Passage))
    assert passage.bars is None and passage.shades() is None


def talk(monkeypatch, capsys, typed):
    """What a network is given in a talk, and what is printed. It answers with the number of turns."""
    given = []

    def predictor(dialogues):
        (turns,) = dialogues
        if turns[-1] == "???":
            raise UnusableInput("nothing to read")
        given.append(list(turns))
        best = Written(str(len(turns)), (), 0.0, 0.0, True, None)
        return [ReplyPrediction((), (best,))]

    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert VIEW.talks(predictor, Namespace(chat=True))
    return given, capsys.readouterr()


@pytest.mark.parametrize("end", ["", "\n", "\nleft\n"])
def test_a_talk_goes_on_until_an_empty_line_or_the_end(monkeypatch, capsys, end):
    given, printed = talk(monkeypatch, capsys, f"hi\n???\nyes\n{end}")
    assert given == [["hi"], ["hi", "1", "yes"]]
    assert printed.out.splitlines() == ["1", "3"]
    assert printed.err == "nothing to read\n"
    assert not VIEW.talks(None, Namespace(chat=False))

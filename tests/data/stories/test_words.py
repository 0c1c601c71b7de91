"""Words of stories in any script: marks are dropped, and writing without blanks is cut into letters."""

import pytest

from tests.data.stories.tiny import prepared
from zoo.data.stories.encoding import StoryEncoder, StoryTextOptions
from zoo.data.stories.own import OwnStories
from zoo.data.stories.words import split_words
from zoo.data.text.vocabulary import Vocabulary


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("Kitchen!", "kitchen"),
        ("المكتب؟", "المكتب"),
        ("哪里？", "哪里"),
        ("गया।", "गया"),
        ("“kitchen”", "kitchen"),
        ("kitchen…", "kitchen"),
        ("¿dónde?", "dónde"),
        ("«(küche).»", "küche"),
        ("l’été", "l’été"),
        ("#5", "#5"),
        ("well-known", "well-known"),
    ],
)
def test_marks_at_both_ends_are_dropped(word, form):
    assert split_words(word).forms == [form]


def test_a_mark_alone_belongs_to_the_word_before_it():
    assert split_words("où ? … là") == (["où ? …", "là"], ["où", "là"])


def test_letters_as_words():
    found = split_words("他在花园。 哪里？", "characters")
    assert found.forms == list("他在花园哪里")
    assert found.shown == ["他", "在", "花", "园。", "哪", "里？"]
    encoder = StoryEncoder(StoryTextOptions(tokenizer="characters"), [Vocabulary(list("他在花园哪里"))])
    assert encoder("他在花园. 他在哪里?").question.tolist() == [[2, 3, 6, 7]]
    assert StoryEncoder.from_state(encoder.state()).text_options.tokenizer == "characters"


def test_stories_that_are_not_cut_are_noted(tmp_path, cache_dir):
    told = [(name, place) for name in "甲乙丙丁戊" for place in ("花园", "厨房")]
    record = '{{"story": ["{0}在{1}。"], "question": "{0}在哪里？", "answer": "{1}"}}\n'
    (tmp_path / "zh.jsonl").write_text("".join(record.format(*one) for one in told), "utf-8")

    def notes(**text):
        return " ".join(prepared(OwnStories(path=str(tmp_path / "zh.jsonl"), text=text)).describe()["notes"])

    assert "does not cut this text; text without blanks between words needs data.text.tokenizer=characters" in notes()
    assert "does not cut" not in notes(tokenizer="characters")

"""Typed questions become batches by the rules of training, also in writing without blanks; limits."""

import pytest
import torch

from tests.data.serving import prepared, written
from tests.data.stories.tiny import babi, official, questions, whole
from zoo.data.stories.babi import file_name
from zoo.data.stories.encoding import StoryEncoder, StoryTextOptions
from zoo.data.stories.own import OwnStories
from zoo.data.stories.readers import StoryQuestion
from zoo.data.stories.story import Shown, split_words
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError

WORDS = ["mary", "went", "to", "the", "garden", "where", "is"]
ENCODER = StoryEncoder(StoryTextOptions(), [Vocabulary(WORDS)])


# typed questions


def test_a_text_and_a_parsed_question_are_the_same():
    text = "Mary went to the garden. John, too! Where is Mary?"
    parsed = StoryQuestion(["Mary went to the garden.", "John, too!"], "Where is Mary?")
    for given_ in (text, parsed, [text], [parsed]):
        batch = ENCODER(given_)
        assert batch.words.tolist() == [[[2, 3, 4, 5, 6], [1, 1, 0, 0, 0]]]
        assert batch.question.tolist() == [[7, 8, 2]]
        assert batch.answer is None and batch.supporting is None
        assert batch.text == (ENCODER.display(text),) == (ENCODER.display(parsed),)
    shown = ENCODER.display(text)
    assert shown == Shown([["Mary", "went", "to", "the", "garden."], ["John,", "too!"]], ["Where", "is", "Mary?"])


def test_words_that_are_known_with_their_punctuation():
    assert ENCODER.knows("garden.") and ENCODER.knows("MARY?") and not ENCODER.knows("John,")


def test_a_parsed_question_needs_a_story():
    with pytest.raises(DataError, match="a story with a question: the story is empty"):
        ENCODER([StoryQuestion([], "Where is Mary?")])


def test_the_newest_sentences_and_the_first_words_are_kept():
    encoder = StoryEncoder(StoryTextOptions(max_sentences=2, max_words=2), [Vocabulary(WORDS)])
    asked = StoryQuestion(["Mary went.", "to the garden.", "...", "is Mary."], "Where is Mary?")
    assert encoder.display(asked) == Shown([["to", "the"], ["is", "Mary."]], ["Where", "is"])
    assert encoder(asked).words.tolist() == [[[4, 5], [8, 2]]]


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


# limits, from the disk


def test_what_is_typed_is_encoded_as_what_was_trained_on(tmp_path, cache_dir):
    data = babi(official(tmp_path / "en"))
    batch = whole(data, "test")
    asked = [StoryQuestion([" ".join(s) for s in one.sentences], " ".join(one.question)) for one in batch.text]
    typed = data.encoder(asked)
    for name in ("words", "word_mask", "question", "question_mask", "sentence_mask"):
        assert torch.equal(getattr(typed, name), getattr(batch, name)), name
    assert typed.text == batch.text


def test_limits_hold_for_prepared_stories_too(tmp_path, cache_dir):
    folder = official(tmp_path / "en")
    whole = babi(folder)
    cut = babi(folder, text={"max_sentences": 2, "max_words": 3})
    assert cut.spec.longest_sentence == 3
    for one, two in zip(questions(whole, "test"), questions(cut, "test"), strict=True):
        older = max(0, len(one["story"]) - 2)
        assert two["story"] == [sentence[:3] for sentence in one["story"][older:]]
        assert two["question"] == one["question"][:3]
        assert two["supporting"] == {at - older for at in one["supporting"] if at >= older}
    assert cut.describe()["splits"]["test"]["truncated"] == 10  # every question has a sentence of four words


def test_rare_words_are_unknown_but_no_answer_is(tmp_path, cache_dir):
    folder, lines = tmp_path / "en", "1 Zoe slept.\n2 Zoe slept.\n3 Who slept?\tUlf\t1\n"
    written(folder / file_name(1, "train"), 2 * lines), written(folder / file_name(1, "test"), lines)
    data = babi(folder, text={"minimum_frequency": 2}, split={"val": 0.5})
    words = data.encoder.vocabulary.state()  # of the one question that is left to train on
    assert sorted(words) == ["slept", "ulf", "zoe"]
    assert data.describe()["splits"]["test"]["unknown_rate"] == pytest.approx(1 / 6)


def test_lengths_are_the_words_of_the_story_so_far_and_the_question(tmp_path, cache_dir):
    data = babi(official(tmp_path / "en"))
    part = data.part("train")
    expected = [sum(map(len, one["story"])) + len(one["question"]) for one in questions(data, "train")]
    assert part.lengths.tolist() == expected

"""From a question that a user asks to a batch, by the rules of training; padding; limits."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.stories.tiny import official, prepared, questions
from zoo.data.stored import offsets
from zoo.data.stories.babi import Babi
from zoo.data.stories.encoding import StoryEncoder, batch_of
from zoo.data.stories.options import StoryTextOptions
from zoo.data.stories.readers import StoryQuestion
from zoo.data.stories.stored import Questions, covered, spread
from zoo.data.stories.story import Shown
from zoo.data.text.vocabulary import Vocabulary
from zoo.errors import DataError

WORDS = ["mary", "went", "to", "the", "garden", "where", "is"]
ENCODER = StoryEncoder(Vocabulary(WORDS), StoryTextOptions())


# padding

SENTENCE = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.lists(SENTENCE, max_size=4), SENTENCE), min_size=1, max_size=5))
def test_every_word_stands_in_its_place(asked):
    stories, queries = [story for story, _ in asked], [question for _, question in asked]
    flat = [sentence for story in stories for sentence in story] + queries
    batch = batch_of(
        np.array([word for sentence in flat for word in sentence]),
        offsets([len(sentence) for sentence in flat]),
        told=np.arange(len(flat) - len(queries)),
        count=np.array([len(story) for story in stories]),
        asked=np.arange(len(flat) - len(queries), len(flat)),
    )
    width = max([len(sentence) for story in stories for sentence in story] or [1])
    assert batch.words.shape == (len(asked), max(1, *map(len, stories), 0), width)
    for b, (story, question) in enumerate(asked):
        for s in range(batch.words.shape[1]):
            sentence = story[s] if s < len(story) else []
            assert batch.words[b, s].tolist() == sentence + [0] * (width - len(sentence))
            assert batch.word_mask[b, s].tolist() == [w < len(sentence) for w in range(width)]
        assert batch.sentence_mask[b].sum() == len(story)
        assert batch.question[b][batch.question_mask[b]].tolist() == question
    assert batch.words.dtype == torch.int64 and batch.word_mask.dtype == torch.bool


def test_runs_of_numbers():
    assert spread(np.array([5, 0, 2]), np.array([2, 0, 3])).tolist() == [5, 6, 2, 3, 4]
    assert spread(np.array([], np.int64), np.array([], np.int64)).tolist() == []
    assert covered(np.array([1, 1]), np.array([2, 3]), 5).tolist() == [False, True, True, False, False]


def test_questions_take_what_their_stories_tell_along():
    """Two stories of three statements; of the first, both questions share a beginning."""
    whole = Questions(
        told=np.array([10, 11, 12, 20, 21, 22]),
        first=np.array([0, 0, 3]),
        last=np.array([2, 3, 6]),
        asked=np.array([50, 51, 52]),
        answer=np.array([7, 8, 9]),
        task=np.array([0, 0, 1]),
        supporting=np.array([1, 2, 0, 5]),
        first_supporting=np.array([0, 1, 3, 4]),
    )
    some = whole.chosen(np.array([0, 2]))
    assert some.told.tolist() == [10, 11, 20, 21, 22]
    assert (some.first.tolist(), some.last.tolist()) == ([0, 2], [2, 5])
    assert (some.supporting.tolist(), some.first_supporting.tolist()) == ([1, 4], [0, 1, 2])
    assert (some.asked.tolist(), some.answer.tolist(), some.task.tolist()) == ([50, 52], [7, 9], [0, 1])


# what a user asks


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


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (StoryQuestion([], "Where is Mary?"), "a story with a question: the story is empty"),
        (StoryQuestion(["Mary left."], " ? "), "a story with a question: no question"),
        ("Mary left.", "'Mary left.': no question at the end"),
    ],
)
def test_what_is_missing_is_told(asked, problem):
    with pytest.raises(DataError, match=problem):
        ENCODER([asked])


def test_the_newest_sentences_and_the_first_words_are_kept():
    encoder = StoryEncoder(Vocabulary(WORDS), StoryTextOptions(max_sentences=2, max_words=2))
    asked = StoryQuestion(["Mary went.", "to the garden.", "...", "is Mary."], "Where is Mary?")
    assert encoder.display(asked) == Shown([["to", "the"], ["is", "Mary."]], ["Where", "is"])
    assert encoder(asked).words.tolist() == [[[4, 5], [8, 2]]]


def test_an_encoder_travels_as_plain_data():
    encoder = StoryEncoder(Vocabulary(WORDS), StoryTextOptions(max_sentences=3))
    again = StoryEncoder.from_state(json.loads(json.dumps(encoder.state())))
    text = "Mary went. Mary went. Mary went. Mary is. Where is she?"
    assert again.state() == encoder.state()
    assert torch.equal(again(text).words, encoder(text).words)
    assert again(text).words.shape[1] == 3


# limits, from the disk


def test_what_is_typed_is_encoded_as_what_was_trained_on(tmp_path, cache_dir):
    data = prepared(Babi(source=str(official(tmp_path / "en"))))
    part = data.part("test")
    batch = data._collate(part.__getitems__(list(range(len(part)))))
    asked = [StoryQuestion([" ".join(s) for s in one.sentences], " ".join(one.question)) for one in batch.text]
    typed = data.encoder(asked)
    for name in ("words", "word_mask", "question", "question_mask", "sentence_mask"):
        assert torch.equal(getattr(typed, name), getattr(batch, name)), name
    assert typed.text == batch.text


def test_limits_hold_for_prepared_stories_too(tmp_path, cache_dir):
    folder = official(tmp_path / "en")
    whole = prepared(Babi(source=str(folder)))
    cut = prepared(Babi(source=str(folder), text={"max_sentences": 2, "max_words": 3}))
    assert cut.spec.longest_sentence == 3
    for one, two in zip(questions(whole, "test"), questions(cut, "test"), strict=True):
        older = max(0, len(one["story"]) - 2)
        assert two["story"] == [sentence[:3] for sentence in one["story"][older:]]
        assert two["question"] == one["question"][:3]
        assert two["supporting"] == {at - older for at in one["supporting"] if at >= older}
    assert cut.describe()["splits"]["test"]["truncated"] == 10  # every question has a sentence of four words


def test_rare_words_are_unknown_but_no_answer_is(tmp_path, cache_dir):
    folder = tmp_path / "en"
    official(folder)
    for split in ("train", "test"):
        lines = "1 Zoe slept.\n2 Zoe slept.\n3 Who slept?\tUlf\t1\n" * (2 if split == "train" else 1)
        (folder / f"qa1_single-supporting-fact_{split}.txt").write_text(lines)
    data = prepared(Babi(source=str(folder), text={"minimum_frequency": 2}, split={"val": 0.5}))
    words = data.encoder.vocabulary.state()  # of the one question that is left to train on
    assert sorted(words) == ["slept", "ulf", "zoe"]
    assert data.describe()["splits"]["test"]["unknown_rate"] == pytest.approx(1 / 6)


def test_lengths_are_the_words_of_the_story_so_far_and_the_question(tmp_path, cache_dir):
    data = prepared(Babi(source=str(official(tmp_path / "en"))))
    part = data.part("train")
    expected = [sum(map(len, one["story"])) + len(one["question"]) for one in questions(data, "train")]
    assert part.lengths.tolist() == expected

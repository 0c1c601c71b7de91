"""Stories to batches: from the disk while training, from what a user asks when predicting, through the same padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.encoder import Encoder
from zoo.data.stored import offsets
from zoo.data.stories.batch import StoryBatch
from zoo.data.stories.options import StoryTextOptions
from zoo.data.stories.readers import StoryQuestion, checked, parse_line
from zoo.data.stories.stored import Asked, Numbers, runs, spread
from zoo.data.stories.story import Shown
from zoo.data.stories.words import Words, split_words
from zoo.data.text.vocabulary import Vocabulary


class Padded(NamedTuple):
    """Rows of words, padded."""

    words: Tensor
    """(R, W) word ids."""
    mask: Tensor
    """(R, W) True at words, a prefix of each row."""


class StoryEncoder(Encoder):
    """Stories and questions to batches with the vocabulary and the rules of the training data; all that a prediction
    needs of them."""

    def __init__(self, vocabulary: Vocabulary, text: StoryTextOptions) -> None:
        self.vocabulary = vocabulary
        self.text = text

    def display(self, one: StoryQuestion | str) -> Shown:
        """The words of a story and its question as they are written, in the positions that they have in the batch."""
        sentences, question = self._words(one)
        return Shown([sentence.shown for sentence in sentences], question.shown)

    def __call__(self, inputs: Sequence[StoryQuestion | str] | StoryQuestion | str) -> StoryBatch:
        """A batch without answers; a text is a story and a question in one line, as `parse_line` reads it. Raises
        DataError where there is no story or no question."""
        given = [inputs] if isinstance(inputs, StoryQuestion | str) else inputs
        asked = [self._words(one) for one in given]
        told = [sentence.forms for sentences, _ in asked for sentence in sentences]
        forms = [*told, *(question.forms for _, question in asked)]
        return batch_of(
            np.array(self.vocabulary.encode(word for words in forms for word in words), np.int64),
            offsets([len(words) for words in forms]),
            told=np.arange(len(told)),
            count=np.array([len(sentences) for sentences, _ in asked], np.int64),
            asked=np.arange(len(told), len(forms)),
            text=tuple(self.display(one) for one in given),
        )

    def knows(self, word: str) -> bool:
        """Whether a word as it is written, with its punctuation, is in the vocabulary."""
        return all(form in self.vocabulary for form in split_words(word, self.text.tokenizer).forms)

    def _words(self, one: StoryQuestion | str) -> tuple[list[Words], Words]:
        if isinstance(one, str):
            one = parse_line(one)
        checked(one, "a story with a question")
        found = [words for words in map(self._split, one.sentences) if words.forms]
        return found[-self.text.max_sentences :], self._split(one.question)

    def _split(self, sentence: str) -> Words:
        shown, forms = split_words(sentence, self.text.tokenizer)
        return Words(shown[: self.text.max_words], forms[: self.text.max_words])

    def state(self) -> dict[str, Any]:
        """Plain data for a checkpoint."""
        return {"words": self.vocabulary.state(), "text": asdict(self.text)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The encoder that `state` came from."""
        return cls(Vocabulary.from_state(state["words"]), StoryTextOptions.of(state["text"]))


def collate(rows: Asked) -> StoryBatch:
    """Questions from the disk as a batch."""
    stories, numbers = rows.stories, np.asarray(rows.numbers)
    questions = stories.questions
    first, last = questions.first[numbers].astype(np.int64), questions.last[numbers]
    count, asked = last - first, questions.asked[numbers]
    told = questions.told[spread(first, count)]
    return batch_of(
        stories.sentences.words,
        stories.sentences.first_word,
        told=told,
        count=count,
        asked=asked,
        answer=_tensor(questions.answer[numbers]),
        index=_tensor(numbers),
        task=_tensor(questions.task[numbers]),
        supporting=_supporting(rows, numbers, first, count) if stories.supported else None,
        text=None if stories.shown is None else _text(stories.shown, told, count, asked),
    )


def _text(written: pa.ChunkedArray, told: Numbers, count: Numbers, asked: Numbers) -> tuple[Shown, ...]:
    """Stories and questions as they were written."""
    sentences = written.take(pa.array(np.concatenate([told, asked]))).to_pylist()
    ends = np.cumsum(count).tolist()
    stories = (sentences[end - many : end] for end, many in zip(ends, count.tolist(), strict=True))
    return tuple(map(Shown, stories, sentences[len(told) :]))


def _supporting(rows: Asked, numbers: Numbers, first: Numbers, count: Numbers) -> Tensor:
    """(B, S) True at the statements that the answers follow from."""
    questions = rows.stories.questions
    places, many = runs(questions.first_supporting, numbers)
    grid = np.zeros((len(numbers), max(1, count.max(initial=0))), np.bool_)
    row = np.repeat(np.arange(len(numbers)), many)
    grid[row, questions.supporting[places] - first[row]] = True
    return torch.from_numpy(grid)


def batch_of(
    words: Numbers,
    first_word: Numbers,
    *,
    told: Numbers,
    count: Numbers,
    asked: Numbers,
    answer: Tensor | None = None,
    index: Tensor | None = None,
    task: Tensor | None = None,
    supporting: Tensor | None = None,
    text: tuple[Any, ...] | None = None,
) -> StoryBatch:
    """Pad B stories and their questions. Sentence u is the `words` (N,) from `first_word[u]` on; the stories are the
    sentences `told`, of which each has `count` (B,), the questions the sentences `asked` (B,)."""
    many = max(1, int(count.max(initial=0)))
    at = spread(np.arange(len(count)) * many, count)
    story = padded(words, first_word, told, at, len(count) * many)
    question = padded(words, first_word, asked, np.arange(len(asked)), len(asked))
    shape = len(count), many, story.words.shape[1]
    return StoryBatch.of(
        story.words.view(shape),
        story.mask.view(shape),
        question.words,
        question.mask,
        answer,
        index=index,
        task=task,
        supporting=supporting,
        text=text,
    )


def padded(words: Numbers, first_word: Numbers, sentences: Numbers, at: NDArray[np.int64], rows: int) -> Padded:
    """The words of some `sentences`, each `at` its one of R `rows`; the other rows stay empty."""
    places, length = runs(first_word, sentences)
    width = max(1, int(length.max(initial=0)))
    cell = spread(at * width, length)
    ids, mask = np.zeros(rows * width, np.int64), np.zeros(rows * width, np.bool_)
    ids[cell] = words[places]
    mask[cell] = True
    return Padded(torch.from_numpy(ids.reshape(rows, width)), torch.from_numpy(mask.reshape(rows, width)))


def _tensor(numbers: Numbers) -> Tensor:
    return torch.from_numpy(numbers.astype(np.int64))

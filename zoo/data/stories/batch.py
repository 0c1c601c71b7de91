"""Stories and questions: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Inputs, ids, mask
from zoo.data.stories.story import Shown
from zoo.layers.packing import Padded


@dataclass(frozen=True)
class StorySpec(Spec):
    """Stories of sentences of words, with questions that are answered by one entry of the vocabulary."""

    vocabulary_size: Count
    """Rows of the word embedding: padding, unknown words, the words of stories and questions, and the answers. A list
    with commas is one answer."""
    longest_sentence: Natural
    """Words of the longest training sentence or question, by which position encodings are scaled."""
    tasks: tuple[str, ...] = ("all",)
    """Names of the tasks, by number."""
    padding: Natural = 0
    unknown: Natural = 1

    def inputs(self) -> Inputs:
        words, question = ("batch", "sentences", "words"), ("batch", "question_words")
        return Inputs(
            StoryBatch,
            {
                "words": ids(words, self.vocabulary_size),
                "word_mask": mask(words),
                "question": ids(question, self.vocabulary_size),
                "question_mask": mask(question),
            },
        )


@dataclass(frozen=True)
class RealWords:
    """The N real words of padded rows, row by row."""

    at: Tensor  # (N,) place of each word's id in the batch's `distinct`
    row: Tensor  # (N,) the row of each word
    place: Tensor  # (N,) the position in its row, from 0


def _distinct(batch: StoryBatch) -> Tensor:
    if torch.compiler.is_exporting():  # sizes cannot depend on ids: each word has a place of its own, after the padding
        every = [batch.words * batch.word_mask, batch.question * batch.question_mask]
        return torch.cat([batch.words.new_zeros(1), *(ids.flatten() for ids in every)])
    real = (_cells(batch.words, batch.word_mask)[0], _cells(batch.question, batch.question_mask)[0])
    return torch.from_numpy(np.flatnonzero(np.bincount(np.concatenate([[0], *real])))).to(batch.words.device)


def _real_words(ids: Tensor, mask: Tensor, distinct: Tensor, first: int = 1) -> RealWords:
    if torch.compiler.is_exporting():
        every = Padded(mask)
        return RealWords(first + every.cell, every.row, every.time)
    real, row, place = _cells(ids, mask)
    at = distinct.cpu().numpy().searchsorted(real)
    return RealWords(*(torch.from_numpy(one).to(ids.device) for one in (at, row, place)))


def _cells(ids: Tensor, mask: Tensor) -> tuple[NDArray[np.int64], ...]:
    """(N,) the real ones of padded ids, their rows and their places in them. NumPy finds them three times faster than
    torch."""
    cells = np.flatnonzero(mask.cpu().numpy())
    return ids.cpu().numpy().ravel()[cells], *np.divmod(cells, mask.shape[-1])


@dataclass(frozen=True)
class StoryBatch(Batch):
    """B questions, each about a story of at most S sentences of at most W words; a question has at most Q
    words."""

    words: Tensor
    """(B, S, W) word ids, the oldest sentence first, without earlier questions."""
    word_mask: Tensor
    """(B, S, W) True at words, a prefix of each sentence."""
    question: Tensor
    """(B, Q) word ids."""
    question_mask: Tensor
    """(B, Q) True at words, a prefix."""
    answer: Tensor | None = None
    """(B,) vocabulary id of the answer; None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(batch.words.shape[0]), sliced=True)
    """(B,) number of each question in its split."""
    task: Tensor = derived(lambda batch: torch.zeros(batch.words.shape[0], dtype=torch.long), sliced=True)
    """(B,) number of the task of each question in the spec's `tasks`."""
    supporting: Tensor | None = None
    """(B, S) True at the sentences that the answer follows from; None if the data do not have them."""
    text: tuple[Shown, ...] | None = None
    """Each question and its story as they were written; only for evaluation."""
    sentence_mask: Tensor = derived(lambda batch: batch.word_mask.any(-1))
    """(B, S) True at sentences that hold a word, a prefix of each story."""
    distinct: Tensor = derived(_distinct)
    """(U,) the distinct word ids of the batch, padding always the first."""
    story_words: RealWords = derived(lambda batch: _real_words(batch.words, batch.word_mask, batch.distinct))
    """The words of the stories; rows are sentences, B * S of them."""
    question_words: RealWords = derived(
        lambda batch: _real_words(batch.question, batch.question_mask, batch.distinct, 1 + batch.words.numel())
    )
    """The words of the questions; rows are questions."""

    def __len__(self) -> int:
        return len(self.words)

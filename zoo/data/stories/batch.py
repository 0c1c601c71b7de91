"""Batches of stories and questions: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.batch import Batch


@dataclass(frozen=True)
class RealWords:
    """The N real words of padded rows, row by row."""

    at: Tensor
    """(N,) place of each word's id in the batch's `distinct`."""
    row: Tensor
    """(N,) the row of each word."""
    place: Tensor
    """(N,) the position in its row, from 0."""


@dataclass(frozen=True)
class StoryBatch(Batch):
    """B questions, each about a story of at most S sentences of at most W words; a question has at most Q words.
    `StoryBatch.of` builds it."""

    words: Tensor
    """(B, S, W) word ids, the oldest sentence first, without earlier questions."""
    word_mask: Tensor
    """(B, S, W) True at words, a prefix of each sentence."""
    sentence_mask: Tensor
    """(B, S) True at sentences, a prefix of each story."""
    question: Tensor
    """(B, Q) word ids."""
    question_mask: Tensor
    """(B, Q) True at words, a prefix."""
    index: Tensor
    """(B,) number of each question in its split."""
    task: Tensor
    """(B,) number of the task of each question in the spec's `tasks`."""
    answer: Tensor | None
    """(B,) vocabulary id of the answer; None when predicting."""
    supporting: Tensor | None
    """(B, S) True at the sentences that the answer follows from; None if the data do not have them."""
    distinct: Tensor
    """(U,) the distinct word ids of the batch, padding always the first."""
    story_words: RealWords
    """The words of the stories; rows are sentences, B * S of them."""
    question_words: RealWords
    """The words of the questions; rows are questions."""
    text: tuple[Any, ...] | None = None
    """A `zoo.data.stories.story.Shown` for each question, as it was written; only for evaluation."""

    @classmethod
    def of(
        cls,
        words: Tensor,
        word_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
        answer: Tensor | None = None,
        *,
        index: Tensor | None = None,
        task: Tensor | None = None,
        supporting: Tensor | None = None,
        text: tuple[Any, ...] | None = None,
    ) -> StoryBatch:
        """A batch from padded ids (B, S, W) and (B, Q) with their masks, from which everything else follows. A sentence
        without words does not count."""
        told, *in_stories = _real(words, word_mask)
        asked, *in_questions = _real(question, question_mask)
        found = np.bincount(np.concatenate([[0], told, asked])) > 0
        at = found.cumsum() - 1
        distinct, *places = (
            torch.from_numpy(one).to(words.device)
            for one in (np.flatnonzero(found), at[told], *in_stories, at[asked], *in_questions)
        )
        return cls(
            words=words,
            word_mask=word_mask,
            sentence_mask=word_mask.any(-1),
            question=question,
            question_mask=question_mask,
            index=torch.arange(len(words)) if index is None else index,
            task=torch.zeros(len(words), dtype=torch.long) if task is None else task,
            answer=answer,
            supporting=supporting,
            distinct=distinct,
            story_words=RealWords(*places[:3]),
            question_words=RealWords(*places[3:]),
            text=text,
        )

    def __len__(self) -> int:
        return len(self.words)


def _real(ids: Tensor, mask: Tensor) -> tuple[NDArray[np.int64], ...]:
    """(N,) the real ones of padded ids, their rows and their places in them. NumPy finds them three times faster than
    torch."""
    cells = np.flatnonzero(mask.cpu().numpy())
    return ids.cpu().numpy().ravel()[cells], *np.divmod(cells, mask.shape[-1])

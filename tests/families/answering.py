"""Stories with questions, for `answering`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, precise
from zoo.data.stories.batch import StoryBatch
from zoo.data.stories.spec import StorySpec
from zoo.models.output import Output
from zoo.tasks.answering import Answering


class Stories:
    """Stories of sentences of words, a question about each, and an answer, for `answering`."""

    spec = StorySpec(vocabulary_size=30, longest_sentence=7, tasks=("where", "who"))
    generates = False
    encoder = None

    def batch(self, seed: int, *, empty: bool = True) -> StoryBatch:
        stories = [[4, 1, 6], [2, 5], [7, 3, 2, 3], [1], [3, 4, 4], *([[]] if empty else [])]
        return self._of_lengths(stories, [3, 1, 4, 2, 3, *([0] if empty else [])], seed)

    def long_batch(self) -> StoryBatch:
        return self._of_lengths([[7], [1] * LONG], [2, 4], 1)

    def _of_lengths(self, stories: list[list[int]], questions: list[int], seed: int) -> StoryBatch:
        """A batch of random words, the numbers of words of each sentence of each story and of each question given."""
        generator = torch.Generator().manual_seed(seed)
        mask = torch.zeros(len(stories), max(map(len, stories)), max(map(max, filter(None, stories))), dtype=torch.bool)
        for story, sentences in enumerate(stories):
            for sentence, length in enumerate(sentences):
                mask[story, sentence, :length] = True
        asked = torch.arange(max(questions)) < torch.tensor(questions)[:, None]

        def draw(real: Tensor) -> Tensor:
            return torch.randint(2, self.spec.vocabulary_size, real.shape, generator=generator).masked_fill(~real, 0)

        answer = torch.randint(2, self.spec.vocabulary_size, (len(stories),), generator=generator)
        task = torch.randint(0, len(self.spec.tasks), (len(stories),), generator=generator)
        return StoryBatch.of(draw(mask), mask, draw(asked), asked, answer, task=task)

    def part(self, batch: StoryBatch, rows: Sequence[int]) -> StoryBatch:
        chosen = list(rows)
        words, mask, question, asked = (
            tensor[chosen] for tensor in (batch.words, batch.word_mask, batch.question, batch.question_mask)
        )
        sentences, width, longest = (
            max(int(n), 1) for n in (mask.any(2).sum(1).max(), mask.sum(2).max(), asked.sum(1).max())
        )
        return StoryBatch.of(
            words[:, :sentences, :width],
            mask[:, :sentences, :width],
            question[:, :longest],
            asked[:, :longest],
            None if batch.answer is None else batch.answer[chosen],
            task=batch.task[chosen],
        )

    def padded(self, batch: StoryBatch) -> StoryBatch:
        more = (0, 3, 0, 2)  # words, sentences
        return StoryBatch.of(
            F.pad(batch.words, more),
            F.pad(batch.word_mask, more),
            F.pad(batch.question, (0, 3)),
            F.pad(batch.question_mask, (0, 3)),
            batch.answer,
            task=batch.task,
        )

    def scribbled(self, batch: StoryBatch) -> StoryBatch:
        words, question = (
            batch.words.masked_fill(~batch.word_mask, 7),
            batch.question.masked_fill(~batch.question_mask, 7),
        )
        return StoryBatch.of(words, batch.word_mask, question, batch.question_mask, batch.answer, task=batch.task)

    def without_targets(self, batch: StoryBatch) -> StoryBatch:
        return replace(batch, answer=None, supporting=None)

    def rows(self, batch: StoryBatch, kind: str, mask: Tensor) -> Tensor:
        return mask

    def scores(self, output: Output, batch: StoryBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: StoryBatch) -> Tensor:
        assert batch.answer is not None
        return F.cross_entropy(precise(output.logits), batch.answer) + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Answering:
        return Answering(model=model, monitor="val/loss", mode="min")


FAMILY = Stories()

"""Documents of sentences of words, for `classification`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, precise
from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.spec import DocumentSpec
from zoo.models.output import Output
from zoo.tasks import Classification


class Documents:
    """Documents of sentences of words, for `classification`."""

    spec = DocumentSpec(vocabulary_size=30, classes=("bad", "fair", "good"))
    generates = False
    encoder = None

    def batch(self, seed: int, *, empty: bool = True) -> DocumentBatch:
        lengths = [
            [4, 1, 6],
            [2, 5],
            [7, 3, 2, 3],
            [1],
            [3, 0, 4],
            *([[]] if empty else []),
        ]  # a sentence may be empty too
        return self._of_lengths(lengths, seed)

    def long_batch(self) -> DocumentBatch:
        return self._of_lengths([[LONG], [1] * LONG], 1)

    def _of_lengths(self, lengths: list[list[int]], seed: int) -> DocumentBatch:
        """A batch of random words, the numbers of words of each sentence of each document given."""
        generator = torch.Generator().manual_seed(seed)
        mask = torch.zeros(len(lengths), max(map(len, lengths)), max(map(max, filter(None, lengths))), dtype=torch.bool)
        for document, sentences in enumerate(lengths):
            for sentence, length in enumerate(sentences):
                mask[document, sentence, :length] = True
        words = torch.randint(2, self.spec.vocabulary_size, mask.shape, generator=generator).masked_fill(~mask, 0)
        label = torch.randint(0, self.spec.num_classes, (len(lengths),), generator=generator)
        return DocumentBatch(words, mask, label)

    def part(self, batch: DocumentBatch, rows: Sequence[int]) -> DocumentBatch:
        assert batch.label is not None
        words, mask, label = (tensor[list(rows)] for tensor in (batch.words, batch.word_mask, batch.label))
        sentences = max(int(mask.any(2).long().mul(torch.arange(1, mask.shape[1] + 1)).max()), 1)
        width = max(int(mask.sum(2).max()), 1)
        return DocumentBatch(words[:, :sentences, :width], mask[:, :sentences, :width], label)

    def padded(self, batch: DocumentBatch) -> DocumentBatch:
        more = (0, 3, 0, 2)  # words, sentences
        return DocumentBatch(F.pad(batch.words, more), F.pad(batch.word_mask, more), batch.label)

    def scribbled(self, batch: DocumentBatch) -> DocumentBatch:
        words = torch.where(batch.word_mask, batch.words, torch.full_like(batch.words, 7))
        return DocumentBatch(words, batch.word_mask, batch.label)

    def without_targets(self, batch: DocumentBatch) -> DocumentBatch:
        return replace(batch, label=None, evidence=None)

    def rows(self, batch: DocumentBatch, kind: str, mask: Tensor) -> Tensor:
        return mask

    def scores(self, output: Output, batch: DocumentBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: DocumentBatch) -> Tensor:
        assert batch.label is not None
        return F.cross_entropy(precise(output.logits), batch.label) + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Classification:
        return Classification(model=model, monitor="val/loss", mode="min")


FAMILY = Documents()

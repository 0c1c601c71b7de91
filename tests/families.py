"""Random batches for the contract tests, one class per data family. A new family adds a class and an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.batch import DocumentBatch
from zoo.data.spec import DocumentSpec
from zoo.models.output import Output


class Family(Protocol):
    """What the contracts need to know of a task's data."""

    spec: Any

    def batch(self, seed: int, *, empty: bool = True) -> Any:
        """Examples of unequal size with targets; one of them holds nothing at all where `empty`."""

    def part(self, batch: Any, rows: Sequence[int]) -> Any:
        """The examples `rows` of `batch` in that order, padded no more than they need."""

    def padded(self, batch: Any) -> Any:
        """The same examples with more padding on every axis."""

    def scribbled(self, batch: Any) -> Any:
        """The same examples with other content under the padding."""

    def without_targets(self, batch: Any) -> Any:
        """The same examples as they come when predicting."""

    def masks(self, batch: Any) -> dict[str, Tensor]:
        """For each name that attention can have, where its rows are real."""

    def loss(self, output: Output, batch: Any) -> Tensor:
        """The task's loss."""


class Documents:
    """Documents of sentences of words, for `classification`."""

    spec = DocumentSpec(vocabulary_size=30, classes=("bad", "fair", "good"))

    def batch(self, seed: int, *, empty: bool = True) -> DocumentBatch:
        lengths = [
            [4, 1, 6],
            [2, 5],
            [7, 3, 2, 3],
            [1],
            [3, 0, 4],
            *([[]] if empty else []),
        ]  # a sentence may be empty too
        generator = torch.Generator().manual_seed(seed)
        mask = torch.zeros(len(lengths), max(map(len, lengths)), max(map(max, filter(None, lengths))), dtype=torch.bool)
        for document, sentences in enumerate(lengths):
            for sentence, length in enumerate(sentences):
                mask[document, sentence, :length] = True
        words = torch.randint(2, self.spec.vocabulary_size, mask.shape, generator=generator).masked_fill(~mask, 0)
        label = torch.randint(0, self.spec.num_classes, (len(lengths),), generator=generator)
        return DocumentBatch.of(words, mask, label)

    def part(self, batch: DocumentBatch, rows: Sequence[int]) -> DocumentBatch:
        assert batch.label is not None
        words, mask, label = (tensor[list(rows)] for tensor in (batch.words, batch.word_mask, batch.label))
        sentences = max(int(mask.any(2).long().mul(torch.arange(1, mask.shape[1] + 1)).max()), 1)
        width = max(int(mask.sum(2).max()), 1)
        return DocumentBatch.of(words[:, :sentences, :width], mask[:, :sentences, :width], label)

    def padded(self, batch: DocumentBatch) -> DocumentBatch:
        more = (0, 3, 0, 2)  # words, sentences
        return DocumentBatch.of(F.pad(batch.words, more), F.pad(batch.word_mask, more), batch.label)

    def scribbled(self, batch: DocumentBatch) -> DocumentBatch:
        words = torch.where(batch.word_mask, batch.words, torch.full_like(batch.words, 7))
        return DocumentBatch.of(words, batch.word_mask, batch.label)

    def without_targets(self, batch: DocumentBatch) -> DocumentBatch:
        return replace(batch, label=None, evidence=None)

    def masks(self, batch: DocumentBatch) -> dict[str, Tensor]:
        return {"word": batch.word_mask, "sentence": batch.sentence_mask}

    def loss(self, output: Output, batch: DocumentBatch) -> Tensor:
        assert batch.label is not None
        return F.cross_entropy(output.logits.float(), batch.label) + sum(output.losses.values())


FAMILIES: dict[str, Family] = {"classification": Documents()}
"""The data of each task."""

"""Random batches for the contract tests, one class per data family. A new family adds a class and an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from zoo.data.documents.batch import DocumentBatch
from zoo.data.documents.spec import DocumentSpec
from zoo.data.pairs.batch import PairBatch
from zoo.data.pairs.spec import PairSpec
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

    generates: bool
    """Its networks write a sequence, token after token: `start` and `step` beside `forward`."""

    def masks(self, batch: Any) -> dict[str, Tensor]:
        """For each name that attention can have, where its rows are real."""

    def scores(self, output: Output, batch: Any) -> Tensor:
        """The logits with an example a row, (B, ...), zero at padding."""

    def loss(self, output: Output, batch: Any) -> Tensor:
        """The task's loss."""


def precise(scores: Tensor) -> Tensor:
    """In float32 at least."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


class Documents:
    """Documents of sentences of words, for `classification`."""

    spec = DocumentSpec(vocabulary_size=30, classes=("bad", "fair", "good"))
    generates = False

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

    def scores(self, output: Output, batch: DocumentBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: DocumentBatch) -> Tensor:
        assert batch.label is not None
        return F.cross_entropy(precise(output.logits), batch.label) + sum(output.losses.values())


class Pairs:
    """Pairs of sequences, for `translation`."""

    spec = PairSpec(source_size=25, target_size=30, longest_source=12, longest_target=12)
    generates = True

    def batch(self, seed: int, *, empty: bool = True) -> PairBatch:
        """The smallest source and target hold their end alone; one source holds not even that where `empty`."""
        generator = torch.Generator().manual_seed(seed)
        sources = self._side([5, 2, 7, 1, 4, *([0] if empty else [])], self.spec.source_size, generator)
        targets = self._side([6, 1, 3, 2, 7, *([2] if empty else [])], self.spec.target_size, generator)
        return PairBatch.of(*sources, *targets, begin=self.spec.begin)

    def _side(self, lengths: list[int], size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        length = torch.tensor(lengths)[:, None]
        mask = torch.arange(max(lengths)) < length
        ids = torch.randint(4, size, mask.shape, generator=generator)
        ids = torch.where(torch.arange(max(lengths)) == length - 1, self.spec.end, ids)
        return ids.masked_fill(~mask, self.spec.padding), mask

    def part(self, batch: PairBatch, rows: Sequence[int]) -> PairBatch:
        ids, mask, target, target_mask = (side[list(rows)] for side in self._sides(batch))
        source, width = max(int(mask.sum(1).max()), 1), max(int(target_mask.sum(1).max()), 1)
        sides = ids[:, :source], mask[:, :source], target[:, :width], target_mask[:, :width]
        return PairBatch.of(*sides, begin=self.spec.begin)

    def padded(self, batch: PairBatch) -> PairBatch:
        source, source_mask, target, target_mask = self._sides(batch)
        sides = F.pad(source, (0, 2)), F.pad(source_mask, (0, 2)), F.pad(target, (0, 3)), F.pad(target_mask, (0, 3))
        return PairBatch.of(*sides, begin=self.spec.begin)

    def scribbled(self, batch: PairBatch) -> PairBatch:
        source, source_mask, target, target_mask = self._sides(batch)
        scribble = torch.where(source_mask, source, 7), source_mask, torch.where(target_mask, target, 7), target_mask
        return PairBatch.of(*scribble, begin=self.spec.begin)

    def without_targets(self, batch: PairBatch) -> PairBatch:
        return PairBatch.of(batch.source, batch.source_mask, begin=self.spec.begin)

    def masks(self, batch: PairBatch) -> dict[str, Tensor]:
        """A network that returns attention of several layers names them `source.0`, `source.1`, ..."""
        assert batch.target_mask is not None
        source, target = batch.source_mask, batch.target_mask
        cross = target[:, :, None] & source[:, None]
        steps = torch.arange(target.shape[1])
        own = {
            "encoder": source[:, :, None] & source[:, None],
            "decoder": target[:, :, None] & (steps[:, None] >= steps),
        }
        layers = {f"{name}.{layer}": mask for layer in range(8) for name, mask in {"source": cross, **own}.items()}
        return {"source": cross, **layers}

    def scores(self, output: Output, batch: PairBatch) -> Tensor:
        assert batch.target_packing is not None
        return batch.target_packing.unpack(output.logits)

    def loss(self, output: Output, batch: PairBatch) -> Tensor:
        assert batch.target is not None
        assert batch.target_packing is not None
        target = batch.target_packing.pack(batch.target)
        return F.cross_entropy(precise(output.logits), target) + sum(output.losses.values())

    @staticmethod
    def _sides(batch: PairBatch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        assert batch.target is not None
        assert batch.target_mask is not None
        return batch.source, batch.source_mask, batch.target, batch.target_mask


FAMILIES: dict[str, Family] = {"classification": Documents(), "translation": Pairs()}
"""The data of each task."""

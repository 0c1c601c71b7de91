"""The first documents of a split, kept to be predicted again when the epoch has ended."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import DocumentBatch
from zoo.tasks.classification import Classification, DocumentPrediction


@dataclass(frozen=True)
class Example:
    """A document of the split, and what the network says now."""

    index: int
    prediction: DocumentPrediction
    true_label: str | None
    evidence: list[list[bool]] | None


class Examples:
    """Keeps the first `count` documents of the batches it is shown, on the CPU: a split's order stays as it is."""

    def __init__(self, count: int) -> None:
        self.missing = count
        self._batches: list[DocumentBatch] = []

    def add(self, batch: DocumentBatch) -> None:
        """Takes as many documents of `batch` as are still missing."""
        taken = min(self.missing, len(batch))
        if taken == 0:
            return

        def part(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[:taken].cpu().clone()

        words, mask = part(batch.words), part(batch.word_mask)
        assert words is not None
        assert mask is not None
        self._batches.append(
            DocumentBatch.of(words, mask, part(batch.label), index=part(batch.index), evidence=part(batch.evidence))
        )
        self.missing -= taken

    def close(self) -> None:
        """Takes no more: the split has been seen to its end, and comes again in the next epoch."""
        self.missing = 0

    def predict(self, task: Classification) -> list[Example]:
        """What the task's network says of each document now, without gradients, dropout and collectives."""
        network = task.network
        assert network is not None
        modes = [(module, module.training) for module in network.modules()]
        network.eval()
        try:
            with torch.no_grad():
                return [example for batch in self._batches for example in self._predict(task, batch)]
        finally:
            for module, training in modes:
                module.training = training

    @staticmethod
    def _predict(task: Classification, batch: DocumentBatch) -> list[Example]:
        assert task.spec is not None
        known = task.encoder.vocabulary.words
        documents = [
            [[known[number] for number in sentence] for sentence in _real(words, mask)]
            for words, mask in zip(batch.words, batch.word_mask, strict=True)
        ]
        predictions = task.predictions(batch.to(task.device), documents)
        return [
            Example(
                index=int(batch.index[b]),
                prediction=prediction,
                true_label=None if batch.label is None else task.spec.classes[int(batch.label[b])],
                evidence=None if batch.evidence is None else _real(batch.evidence[b], batch.word_mask[b]),
            )
            for b, prediction in enumerate(predictions)
        ]


def _real(values: Tensor, mask: Tensor) -> list[list]:
    """The entries of one document (S, W) without padding: a list per sentence, up to the last that has a word."""
    lengths = mask.sum(-1).tolist()
    while lengths and lengths[-1] == 0:
        lengths.pop()
    return [row[:length] for row, length in zip(values.tolist(), lengths, strict=False)]

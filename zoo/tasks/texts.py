"""The base of tasks that write a text from a text and may copy its words: unknown words, facts, and repetition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.data.copying.batch import CopyBatch
from zoo.decoding import Hypothesis
from zoo.metrics import Mean, Share, TokenLoss
from zoo.metrics.ratios import GroupMeans
from zoo.models.output import Output
from zoo.objectives.cross_entropy import surprisals
from zoo.predicting.texts import TextPredictions
from zoo.tasks.generation import Generation

DISTANCES = 12
"""The greatest distance of a fact from its evidence that is counted by itself."""


class TextGeneration(TextPredictions, Generation):
    """Any network that writes from a `CopyBatch`. A subclass compares what was written with its references.

    - `copy_accuracy`: of the words of a reference that the vocabulary lacks and the source has, the share that the
      written text has, too. A word counts as often as it is in both.
    - `fact_accuracy`: the same for the tokens that state a fact, where the data know them, also by their distance from
      the evidence; `fact_loss` is their -log p while the true tokens are read.
    - `copy_rate`: the share of the written tokens that the source has. `repetition`: the share of the written trigrams
      that were in the text before. `length`: the written tokens without the end.
    """

    headline: tuple[str, ...] = ("perplexity", "copy_accuracy", "fact_accuracy")
    monitors: ClassVar[Mapping[str, str]] = {**Generation.monitors, "copy_accuracy": "max", "fact_accuracy": "max"}

    def metrics(self) -> dict[str, Metric]:
        return {
            **super().metrics(),
            "copy_accuracy": Share(),
            "fact_accuracy": Share(),
            "facts_by_distance": GroupMeans(DISTANCES + 1),
            "fact_loss": TokenLoss(),
            "copy_rate": Share(),
            "repetition": Share(),
            "length": Mean(),
        }

    def score_forced(self, stage: str, batch: CopyBatch, output: Output) -> None:
        super().score_forced(stage, batch, output)
        if batch.facts is not None:
            stating = batch.forced.packing.pack(batch.facts) > 0
            self.record(stage, "fact_loss", surprisals(output, batch)[stating].sum(), stating.sum())

    def score_written(self, stage: str, batch: CopyBatch, hypotheses: list[Hypothesis]) -> None:
        assert batch.copied is not None and batch.target_mask is not None
        size, end = self.spec.vocabulary_size, self.spec.end
        sources, targets = (
            _rows(*pair) for pair in ((batch.extended, batch.source_mask), (batch.copied, batch.target_mask))
        )
        facts = [[]] * len(targets) if batch.facts is None else _rows(batch.facts, batch.target_mask)
        found = defaultdict[str, list[Any]](list)
        for source, target, far, best in zip(map(set, sources), targets, facts, hypotheses, strict=True):
            written = [one for one in best.ids if one != end]
            stated = [(one, distance) for one, distance in zip(target, far, strict=False) if distance]
            found["copy_accuracy"] += _found([one for one in target if one >= size], written)
            found["fact_accuracy"] += _found([one for one, _ in stated], written)
            found["distance"] += [min(distance, DISTANCES) for _, distance in stated]
            found["copy_rate"] += [one in source for one in written]
            found["repetition"] += repeated(written)
            found["length"].append(len(written))
        for name in ("copy_accuracy", "fact_accuracy", "copy_rate", "repetition"):
            self.record(stage, name, found[name])
        self.record(stage, "length", torch.tensor(found["length"]))
        right, distances = (torch.tensor(found[name], dtype=torch.long) for name in ("fact_accuracy", "distance"))
        self.metrics_of(stage)["facts_by_distance"].update(right.to(self.device), distances.to(self.device))

    def texts(self, batch: CopyBatch, hypotheses: Sequence[Hypothesis]) -> list[str]:
        """The text of each hypothesis; an unknown word is written as the source has it."""
        assert batch.unknown_words is not None
        pairs = zip(hypotheses, batch.unknown_words, strict=True)
        return [self.encoder.text(self.encoder.decode(one.ids, unknown)) for one, unknown in pairs]

    def on_validation_epoch_end(self) -> None:
        super().on_validation_epoch_end()
        self.metrics_of("val")["facts_by_distance"].reset()

    def on_test_epoch_end(self) -> None:
        super().on_test_epoch_end()
        if not self.metrics_of("test")["facts_by_distance"].update_called:
            return
        means = self.group_means("test", ["facts_by_distance"])["facts_by_distance"]
        by_distance = {f"test/fact_accuracy_{far}": value for far, value in enumerate(means) if not value.isnan()}
        self.log_defined(by_distance if len(by_distance) > 1 else {})


def _rows(ids: Tensor, mask: Tensor) -> list[list[int]]:
    """The values of each row at the True places of a mask, a prefix of the row."""
    return [row[:length] for row, length in zip(ids.tolist(), mask.sum(1).tolist(), strict=True)]


def _found(wanted: Sequence[int], written: Sequence[int]) -> list[bool]:
    """Whether each wanted token was written; one that is wanted more often than written is missing for the rest."""
    left, found = Counter(written), []
    for one in wanted:
        found.append(left[one] > 0)
        left[one] -= 1
    return found


def repeated(tokens: Sequence[Any], size: int = 3) -> list[bool]:
    """Whether each n-gram of `size` tokens was in the text before."""
    ngrams = [tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)]
    before: set[tuple[Any, ...]] = set()
    found = []
    for one in ngrams:
        found.append(one in before)
        before.add(one)
    return found

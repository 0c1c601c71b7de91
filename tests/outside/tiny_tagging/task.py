"""One tag a symbol: cross-entropy, accuracy, and whether attention found the same symbol."""

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import torch.nn.functional as F
from hydra.utils import instantiate
from torch import Tensor
from torchmetrics import MeanMetric, Metric
from torchmetrics.classification import MulticlassAccuracy

from tiny_tagging.batch import TaggingBatch
from tiny_tagging.spec import TaggingSpec
from zoo.metrics import AttentionRecall
from zoo.models.output import Output
from zoo.tasks.task import Examined, Prediction, Task, TaskArguments


@dataclass(frozen=True)
class TaggedSequence(Prediction):
    """The symbols of a sequence, their tags, and what was looked at for each."""

    symbols: tuple[str, ...]
    tags: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    """A row for each symbol, on those of the sequence."""


class Tagging(Task):
    """Any network that serves `tagging`."""

    name = "tagging"
    headline = ("accuracy", "attention_recall")
    monitors: ClassVar[dict[str, str]] = {"loss": "min", "accuracy": "max", "attention_recall": "max"}
    groups = ("curriculum",)
    view = "tiny_tagging.view.TaggingView"
    spec: TaggingSpec | None

    def __init__(self, *, curriculum: dict[str, Any], **rest: Unpack[TaskArguments]) -> None:
        super().__init__(**rest)

    def prepare_training(self) -> None:
        self.curriculum = instantiate(self.hparams["curriculum"])

    def metrics(self) -> dict[str, Metric]:
        assert self.spec is not None
        accuracy = MulticlassAccuracy(len(self.spec.tags), average="micro")
        return {"loss": MeanMetric(), "accuracy": accuracy, "attention_recall": AttentionRecall()}

    def training_step(self, batch: TaggingBatch, batch_idx: int) -> Tensor:
        assert self.network is not None and batch.tags is not None
        output: Output = self.network(batch)
        counted = self.curriculum.counted(batch.symbol_mask, self.global_step)
        total = F.cross_entropy(output.logits[counted].float(), batch.tags[counted], reduction="sum")
        count = counted.sum()
        options = {"prog_bar": True, "on_step": False, "on_epoch": True, "sync_dist": True}
        self.log("train/loss", total.detach() / count, batch_size=int(count), **options)
        return self.global_mean(total, count)

    def evaluate(self, batch: TaggingBatch, stage: str) -> None:
        assert self.network is not None and batch.tags is not None
        output: Output = self.network(batch)
        logits, tags = output.logits[batch.symbol_mask].float(), batch.tags[batch.symbol_mask]
        same = (batch.symbols[:, :, None] == batch.symbols[:, None]).tril(-1) & batch.symbol_mask[:, None]
        values = {
            "loss": (F.cross_entropy(logits, tags), len(tags)),
            "accuracy": (logits, tags),
            "attention_recall": (output.attention["before"].flatten(0, 1), same.flatten(0, 1)),
        }
        for name, parts in values.items():
            self.record(stage, name, *parts)

    def predictions(self, batch: TaggingBatch, words: list[Any]) -> list[TaggedSequence]:
        assert self.network is not None and self.spec is not None
        output: Output = self.network(batch)
        best, weights = output.logits.argmax(-1).tolist(), output.attention["before"].tolist()
        return [
            TaggedSequence(
                tuple(symbols),
                tuple(self.spec.tags[tag] for tag in best[b][: len(symbols)]),
                tuple(tuple(row[: len(symbols)]) for row in weights[b][: len(symbols)]),
            )
            for b, symbols in enumerate(words)
        ]

    def examine(self, batch: TaggingBatch) -> list[Examined]:
        assert self.spec is not None
        rows = zip(batch.symbols, batch.symbol_mask, strict=True)
        words = [self.encoder.vocabulary.decode(row[mask].tolist()) for row, mask in rows]
        truths: list[str | None] = [None] * len(batch)
        if batch.tags is not None:
            tagged = zip(batch.tags, batch.symbol_mask, strict=True)
            truths = [" ".join(self.spec.tags[tag] for tag in row[mask].tolist()) for row, mask in tagged]
        found = zip(batch.index.tolist(), self.predictions(batch, words), truths, strict=True)
        return [Examined(*one) for one in found]

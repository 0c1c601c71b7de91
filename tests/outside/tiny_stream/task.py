"""The next character: cross-entropy over a stream, in bits per character."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torchmetrics import MeanMetric, Metric

from tiny_stream.batch import WindowBatch
from tiny_stream.data import CHARACTERS, ids
from tiny_stream.network import continued
from zoo.tasks.task import Examined, Prediction, Task

LENGTH = 20
"""Characters that are written after a beginning."""


@dataclass(frozen=True)
class Writing(Prediction):
    """A beginning and what follows, or a window and how well it was predicted."""

    text: str
    written: str
    bits: float | None = None
    """Bits per character of a window."""


class LanguageModelling(Task):
    """Any network that serves `language_modelling`."""

    name = "language_modelling"
    headline = ("bits_per_character",)
    monitors: ClassVar[dict[str, str]] = {"bits_per_character": "min"}
    view = "tiny_stream.view.WritingView"

    def metrics(self) -> dict[str, Metric]:
        return {"bits_per_character": MeanMetric()}

    def training_step(self, batch: WindowBatch, batch_idx: int) -> Tensor:
        total = self.surprisal(batch).sum()
        return self.global_mean(total, batch.mask.sum())

    def evaluate(self, batch: WindowBatch, stage: str) -> None:
        count = batch.mask.sum()
        bits = self.surprisal(batch).sum() / count / math.log(2)
        self.record(stage, "bits_per_character", bits, count)

    def surprisal(self, batch: WindowBatch) -> Tensor:
        """(B, T) negative log-probability of each character in nats, 0 at padding."""
        assert batch.target is not None
        logits = self.read(batch).logits.float()
        nats = F.cross_entropy(logits.flatten(0, 1), batch.target.flatten(), reduction="none")
        return nats.view_as(batch.target).masked_fill(~batch.mask, 0.0)

    def predictions(self, batch: WindowBatch, words: list[Any]) -> list[Writing]:
        """Each beginning and the likeliest characters after it, one by one."""
        found = []
        for text in words:
            log_probs, carried = continued(self.network, ids(text), None)  # type: ignore[arg-type]
            written = ""
            for _ in range(LENGTH):
                token = int(log_probs[1:].argmax()) + 1
                written += CHARACTERS[token - 1]
                log_probs, carried = continued(self.network, torch.tensor([token]), carried)  # type: ignore[arg-type]
            found.append(Writing(text, written))
        return found

    def examine(self, batch: WindowBatch) -> list[Examined]:
        assert batch.target is not None
        bits = self.surprisal(batch).sum(1) / batch.mask.sum(1).clamp(min=1) / math.log(2)
        texts = ["".join(CHARACTERS[one - 1] for one in row if one) for row in batch.target.tolist()]
        rows = zip(batch.index.tolist(), texts, bits.tolist(), strict=True)
        return [Examined(number, Writing(text, "", value), text) for number, text, value in rows]

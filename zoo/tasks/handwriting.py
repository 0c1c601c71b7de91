"""Handwriting: the likelihood of lines, how well the window finds the letter of each point, and what is written."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import torch
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Natural, NonNegative, Positive
from zoo.data.strokes.batch import StrokeBatch
from zoo.decoding.strokes import surprisals
from zoo.layers.mixture import Mixture
from zoo.metrics.ratios import Mean, Share
from zoo.predicting.handwriting import HandwritingPredictions
from zoo.tasks.stroke_baselines import independent_points, straight_line
from zoo.tasks.task import Task, TaskArguments

log = logging.getLogger(__name__)


class Handwriting(HandwritingPredictions, Task):
    """Trains on the surprisal of a line, a sum over its points and a mean over lines.

    `nats` are those of a line, and `sse` the squared distance of a point from the mean of its distribution: both of
    offsets with standard deviation 1, as in the paper. Offsets in other units add a constant per point. A test of a
    network that reads the text also gives `nats_shuffled`, with the letters of each line in another order.

    Some scores compare the largest weight of the window, when a point was predicted, with the letter of this point.
    `letter_accuracy` is the share of points where both agree, and `within_one` allows one letter more or less. `lag` is
    the mean distance in letters, negative where the window comes too late. `monotone` is the share of steps at which
    the largest weight does not go back. A test writes `written` lines, and `stop_error` is how far their numbers of
    points are from those of the true lines, as a share of these.
    """

    headline = ("nats", "sse", "letter_accuracy", "within_one", "monotone", "stop_error")
    monitors: ClassVar[Mapping[str, str]] = {"nats": "min", "sse": "min", "letter_accuracy": "max"}
    on_bar = ("nats", "letter_accuracy")

    def __init__(
        self,
        *,
        bias: NonNegative = 1.0,
        samples: Natural = 6,
        every_n_minutes: Positive = 2.0,
        written: Natural = 200,
        baselines: bool = True,
        **rest: Unpack[TaskArguments],
    ) -> None:
        """
        Args:
            bias: of what is written: above 0 it is more regular.
            samples: the lines that are written for `written.png`.
            every_n_minutes: time between two pictures after a validation.
            written: the test lines that are written for `stop_error`.
            baselines: a test also gives the scores of simpler methods.
            rest: the arguments of every task.
        """
        super().__init__(**rest)
        self.samples, self.every_n_minutes, self.written = samples, every_n_minutes, written
        self._drawn_at = float("-inf")
        self._first: StrokeBatch | None = None

    def build(self, spec: Any, encoder: Any) -> None:
        super().build(spec, encoder)
        if self.network.attends:
            found: dict[str, Metric] = {"nats_shuffled": Mean()}
            self.test_metrics.update(found | ({"stop_error": Mean()} if self.written else {}))

    def metrics(self) -> dict[str, Metric]:
        found: dict[str, Metric] = {"nats": Mean(), "sse": Mean()}
        if self.network.attends:
            shares = {name: Share() for name in ("letter_accuracy", "within_one", "monotone")}
            found |= {**shares, "lag": Mean()}
        return found

    def training_step(self, batch: StrokeBatch, batch_idx: int) -> Tensor:
        output = self.network(batch)
        total = surprisals(output.logits, batch.points).where(batch.point_mask, 0).sum()
        own = self.own_losses(output, len(batch))
        loss = (total / len(batch)).detach() + own.detach()
        self.log("train/loss", loss, prog_bar=True, on_step=False, on_epoch=True, sync_dist=True, batch_size=len(batch))
        return self.global_mean(total, len(batch)) + self.shared(own, len(batch))

    def evaluate(self, batch: StrokeBatch, stage: str) -> None:
        output = self.network(batch)
        self.record(stage, "nats", self.surprisal(output.logits, batch))
        away = Mixture.of(output.logits).expected() - batch.points[..., :2]
        self.record(stage, "sse", away.square().sum(-1)[batch.point_mask])
        if (window := output.attention.get("window")) is not None:
            self._score_window(stage, batch, window)
        if "nats_shuffled" in self.metrics_of(stage):
            other = shuffled(batch)
            self.record(stage, "nats_shuffled", self.surprisal(self.network(other).logits, other))
        if "stop_error" in self.metrics_of(stage):
            self._write(stage, batch)
        if self._first is None:
            self._first = batch.first(max(1, self.samples))

    def _score_window(self, stage: str, batch: StrokeBatch, window: Tensor) -> None:
        """Compare the largest weight (B, T, U) for each point with the letter of that point."""
        place = window.argmax(-1)
        both = batch.point_mask[:, 1:]
        self.record(stage, "monotone", (place[:, 1:] >= place[:, :-1])[both])
        if batch.letters is not None:
            distance = (place - batch.letters)[batch.point_mask]
            self.record(stage, "letter_accuracy", distance == 0)
            self.record(stage, "within_one", distance.abs() <= 1)
            self.record(stage, "lag", distance.double())

    def _write(self, stage: str, batch: StrokeBatch) -> None:
        """Write the texts of a batch, as far as these are among the first. Each rank records, even without any."""
        rows = torch.nonzero(batch.index < self.written).flatten()
        errors = torch.zeros(0, device=self.device)
        if len(rows):
            assert batch.text is not None and batch.text_mask is not None
            some = StrokeBatch(
                batch.points[rows, :0],
                batch.point_mask[rows, :0],
                text=batch.text[rows],
                text_mask=batch.text_mask[rows],
                index=batch.index[rows],
            )
            sizes = torch.tensor([len(line.points) for line in self.write(some, [self.usual_bias] * len(rows))])
            true = batch.point_mask[rows].sum(1).cpu()
            errors = ((sizes - true).abs() / true).to(self.device)
        self.record(stage, "stop_error", errors)

    def first(self) -> StrokeBatch | None:
        """The first lines of the split that was evaluated last. The next split has others."""
        first, self._first = self._first, None
        return first

    def due(self) -> bool:
        """Whether it is time to write samples again."""
        if time.monotonic() - self._drawn_at < 60 * self.every_n_minutes:
            return False
        self._drawn_at = time.monotonic()
        return True

    # The test

    def facts(self) -> dict[str, Any]:
        """The offsets that the likelihood is of."""
        return super().facts() | {"offsets": self.encoder.extra_state()}

    def remarks(self, metrics: Mapping[str, float]) -> dict[str, str]:
        scale = ", ".join(f"{one:.4g}" for one in self.encoder.scale)
        return super().remarks(metrics) | {"test/nats": f"of a line, offsets (x, y) divided by ({scale})"}

    def baselines(self, data: Any) -> dict[str, dict[str, float]]:
        if not self.hparams["baselines"]:
            return {}
        found = {"independent points": independent_points(data)}
        if self.network.attends and (scores := straight_line(data)):
            found["straight line through the text"] = scores
        return found


def shuffled(batch: StrokeBatch) -> StrokeBatch:
    """The batch with the letters of each text in another order, which depends on the number of the line alone."""
    assert batch.text is not None and batch.text_mask is not None
    place = torch.arange(batch.text.shape[1], device=batch.text.device)
    keys = ((batch.index[:, None] + 1) * 7919 + (place + 1) * 104729) * 2654435761 % 2**32
    order = keys.where(batch.text_mask, 2**33 + place).argsort(1)
    return replace(batch, text=batch.text.gather(1, order))

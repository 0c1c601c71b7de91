"""Input bits to output bits: algorithms such as copying and sorting, learned from examples."""

import math
from typing import Any, ClassVar, Unpack

import torch.distributed as dist
import torch.nn.functional as F
from lightning.pytorch.trainer.states import TrainerFn
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Positive
from zoo.data.bits.batch import BitBatch
from zoo.metrics.ratios import GroupMeans
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.algorithmic import AlgorithmicPredictions
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import TaskArguments

MEASURES = ("bits_per_sequence", "error_bits", "exact")
OPTIMAL, ABOVE = "optimal_bits", "bits_above_optimum"


class Algorithmic(AlgorithmicPredictions, Scoring):
    """Any network that serves `algorithmic`: `logits` (B, T, O) of the bits at each step. Only the steps at which the
    batch asks for bits count.

    The loss is the cross-entropy of a sequence, the sum over its bits, in nats. The network has converged at the first
    validation below `converged` bits per sequence, or below that many bits above the best possible predictor where the
    data know it. The test reports how many training sequences that took.
    """

    headline: tuple[str, ...] = (*MEASURES, "sequences_to_converge")
    counts = ("sequences_to_converge",)
    monitors: ClassVar = {
        "loss": "min", "bits_per_sequence": "min", "error_bits": "min", "exact": "max", ABOVE: "min"
    }  # fmt: skip
    on_bar: tuple[str, ...] = ("bits_per_sequence", "exact")
    converged_at: int | None = None
    """Training sequences before the first validation that converged; None as long as there was none."""

    def __init__(self, *, converged: Positive = 0.1, **rest: Unpack[TaskArguments]) -> None:
        super().__init__(**rest)
        self.save_hyperparameters()
        self.converged = converged
        self._newest: Tensor | None = None

    def metrics(self) -> dict[str, Metric]:
        return {name: GroupMeans(len(self.spec.groups)) for name in (*MEASURES, OPTIMAL)}

    # training

    def training_step(self, batch: BitBatch, batch_idx: int) -> Tensor:
        self._newest = batch.index
        return super().training_step(batch, batch_idx)

    def total_loss(self, output: Output, batch: BitBatch) -> Tensor:
        return cross_entropy(output.logits, batch).sum()

    # evaluation

    def evaluate(self, batch: BitBatch, stage: str) -> Output:
        output = self(batch)
        self.score(stage, batch, output)
        return output

    def score(self, stage: str, batch: BitBatch, output: Output) -> None:
        assert batch.targets is not None
        logits = output.logits
        wrong = ((logits > 0) != (batch.targets > 0)) & batch.scored[..., None]
        errors = wrong.sum((1, 2))
        measured = {
            "bits_per_sequence": cross_entropy(logits, batch) / math.log(2),
            "error_bits": errors,
            "exact": errors == 0,
        }
        if batch.optimal_bits is not None:
            measured[OPTIMAL] = batch.optimal_bits
        for name, values in measured.items():
            self.metrics_of(stage)[name].update(values, batch.group)

    def on_validation_epoch_end(self) -> None:
        means = self._means("val")
        if self._newest is not None and self.trainer.state.fn == TrainerFn.FITTING:
            self._count(self._newest, means.get(ABOVE, means["bits_per_sequence"]).nanmean())
        self._log("val", means)

    def on_test_epoch_end(self) -> None:
        means = self._means("test")
        self._log("test", means)
        self.log_groups(means, self.spec.groups)
        if self.converged_at is not None:
            self.log("test/sequences_to_converge", float(self.converged_at))

    def _means(self, stage: str) -> dict[str, Tensor]:
        """(G,) the mean of each measure over the sequences of each group."""
        known = self.metrics_of(stage)[OPTIMAL].update_count
        means = self.group_means(stage, [*MEASURES, *[OPTIMAL] * bool(known)])
        if known:
            means[ABOVE] = means["bits_per_sequence"] - means[OPTIMAL]
        return means

    def _log(self, stage: str, means: dict[str, Tensor]) -> None:
        self.log_means(stage, means)
        self.log(f"{stage}/loss", (means["bits_per_sequence"].nanmean() * math.log(2)).float())

    def _count(self, newest: Tensor, bits: Tensor) -> None:
        """Log the number of training sequences before this validation, and store the number of the first validation at
        which `bits` are below `converged`.

        The numbers of a stream continue from epoch to epoch. The `newest` batch (B,) gives their count, with any number
        of ranks and in a resumed run.
        """
        sequences = newest.max() + 1
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(sequences, dist.ReduceOp.MAX)
        self.log("val/sequences", sequences.float())
        if self.converged_at is None and bits < self.converged:
            self.converged_at = int(sequences)

    # checkpoints

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        super().on_save_checkpoint(checkpoint)
        checkpoint["zoo"]["converged_at"] = self.converged_at

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        super().on_load_checkpoint(checkpoint)
        if self.converged_at is None:  # a run that has converged tests its best checkpoint, which may be older
            self.converged_at = checkpoint["zoo"].get("converged_at")


def cross_entropy(logits: Tensor, batch: BitBatch) -> Tensor:
    """(B,) the cross-entropy of the bits to be written to each sequence, summed, in nats; `logits` (B, T, O)."""
    assert batch.targets is not None
    scores, scored = precise(logits), batch.scored[..., None]
    each = F.binary_cross_entropy_with_logits(scores, batch.targets.to(scores.dtype), reduction="none")
    return (each * scored).sum((1, 2))

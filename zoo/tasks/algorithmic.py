"""Input bits to output bits: algorithms such as copying and sorting, learned from examples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack

import torch
import torch.distributed as dist
import torch.nn.functional as F
from lightning.pytorch.trainer.states import TrainerFn
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics import Metric

from zoo.arguments import Positive
from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.data.bits.goal import BitSequence
from zoo.metrics.ratios import GroupMeans
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import Examined, Prediction, TaskArguments

MEASURES = ("bits_per_sequence", "error_bits", "exact")
OPTIMAL, ABOVE = "optimal_bits", "bits_above_optimum"

WEIGHTINGS = ("read", "write")

Numbers = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BitPrediction(Prediction):
    """The bits that a network wrote for one sequence of T steps, and its use of the memory."""

    given: str  # The sequence as it is typed
    written: tuple[str, ...]  # The bits that were likelier than not, a word for each of the S scored steps
    truth: tuple[str, ...] | None  # The true bits in the same form, where they are known
    separator: str  # The text between the words of a line
    inputs: Numbers  # (T, I)
    scored: Numbers  # (T,) True at the steps at which bits are to be written
    probabilities: Numbers  # (S, O) the probability of a 1
    targets: Numbers | None  # (S, O) the true bits
    memory: dict[str, Numbers] = field(default_factory=dict)
    """The parts that the network has: `read` and `write` (H, T, N), the weightings of each head over N rows of memory;
    `erase` and `add` (H, T, W), the vectors that each head erased and added; `memory` (N, W) after the last step."""

    def line(self, words: Sequence[str]) -> str:
        """`written` or `truth` as a line."""
        return self.separator.join(words)

    @property
    def bits(self) -> Numbers:
        """(S, O) True where a 1 was written."""
        return self.probabilities > 0.5

    @property
    def wrong(self) -> Numbers | None:
        """(S, O) True at bits that are not those of the truth."""
        return None if self.targets is None else self.bits != (self.targets > 0)

    @property
    def error_bits(self) -> int | None:
        """How many bits are wrong."""
        return None if self.wrong is None else int(self.wrong.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, with only the weightings of the memory."""
        return {
            "given": self.given,
            "written": self.line(self.written),
            "truth": None if self.truth is None else self.line(self.truth),
            "error_bits": self.error_bits,
            "probabilities": self.probabilities.tolist(),
            **{name: self.memory[name].tolist() for name in WEIGHTINGS if name in self.memory},
        }


@dataclass(frozen=True)
class ExaminedBits(Examined):
    """A sequence of a split, with the written and the true bits."""

    prediction: BitPrediction


class Algorithmic(Scoring):
    """Any network that serves `algorithmic`: `logits` (B, T, O) of the bits at each step. Only the steps at which the
    batch asks for bits count.

    The loss is the cross-entropy of a sequence, the sum over its bits, in nats. The network has converged at the first
    validation below `converged` bits per sequence, or below that many bits above the best possible predictor where the
    data know it. The test reports how many training sequences that took.
    """

    name = "algorithmic"
    headline: tuple[str, ...] = (*MEASURES, "sequences_to_converge")
    counts = ("sequences_to_converge",)
    view: ClassVar[str] = "zoo.visualize.algorithmic.AlgorithmicView"
    monitors: ClassVar = {
        "loss": "min", "bits_per_sequence": "min", "error_bits": "min", "exact": "max", ABOVE: "min"
    }  # fmt: skip
    on_bar: tuple[str, ...] = ("bits_per_sequence", "exact")
    spec: BitSpec
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

    # predicting

    def predictions(self, batch: BitBatch, words: list[BitSequence]) -> list[BitPrediction]:
        """The written bits, and the use of the memory; `words` are the sequences as typed, with their true bits."""
        output = self.predict_step(batch)
        parts = {name: output.attention[name] for name in WEIGHTINGS if name in output.attention}
        if (trace := getattr(self.network, "memory_trace", None)) is not None:
            parts |= trace(batch)
        probabilities = numbers(precise(output.logits).sigmoid())
        memory = {name: numbers(part) for name, part in parts.items()}
        goal = self.encoder.goal
        return [
            _prediction(goal, sequence, probabilities[b], {name: part[b] for name, part in memory.items()})
            for b, sequence in enumerate(words)
        ]

    def examine(self, batch: BitBatch) -> list[ExaminedBits]:
        rows = []
        for b, steps in enumerate(batch.step_mask.sum(1).tolist()):
            targets = torch.zeros(0) if batch.targets is None else batch.targets[b, :steps]
            scored = batch.scored[b, :steps].cpu().numpy()
            rows.append(BitSequence(numbers(batch.inputs[b, :steps]), numbers(targets), scored))
        return [
            ExaminedBits(index, prediction, None if prediction.truth is None else prediction.line(prediction.truth))
            for index, prediction in zip(batch.index.tolist(), self.predictions(batch, rows), strict=True)
        ]


def _prediction(goal: Any, sequence: BitSequence, probabilities: Numbers, memory: dict[str, Numbers]) -> BitPrediction:
    steps, scored = len(sequence.inputs), sequence.scored
    written = probabilities[:steps][scored]
    targets = sequence.targets[scored] if len(sequence.targets) else None
    return BitPrediction(
        given=goal.typed(sequence),
        written=tuple(map(goal.vector, written > 0.5)),
        truth=None if targets is None else tuple(map(goal.vector, targets)),
        separator=goal.separator,
        inputs=sequence.inputs,
        scored=scored,
        probabilities=written,
        targets=targets,
        memory={name: part if name == "memory" else part[:, :steps] for name, part in memory.items()},
    )


def numbers(tensor: Tensor) -> Numbers:
    """A tensor as an array in float32."""
    return tensor.detach().float().cpu().numpy()


def cross_entropy(logits: Tensor, batch: BitBatch) -> Tensor:
    """(B,) the cross-entropy of the bits to be written to each sequence, summed, in nats; `logits` (B, T, O)."""
    assert batch.targets is not None
    scores, scored = precise(logits), batch.scored[..., None]
    each = F.binary_cross_entropy_with_logits(scores, batch.targets.to(scores.dtype), reduction="none")
    return (each * scored).sum((1, 2))

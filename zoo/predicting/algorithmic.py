"""The bits that a network wrote, and its use of the memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.bits.batch import BitBatch, BitSpec
from zoo.data.bits.goal import BitSequence
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction

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


class AlgorithmicPredictions(Predicting):
    """The bits that any network for `algorithmic` writes."""

    name = "algorithmic"
    view: ClassVar[str] = "zoo.visualize.algorithmic.AlgorithmicView"
    spec: BitSpec

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

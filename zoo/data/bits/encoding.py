"""Encodes typed lines as batches of bit sequences; checkpoints contain this encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import torch

from zoo.data.batch import Encoder
from zoo.data.bits.batch import BitBatch
from zoo.data.bits.goal import BitSequence, Goal
from zoo.data.parts import gridded
from zoo.dotted import class_at, name_of
from zoo.errors import DataError


class BitLine(NamedTuple):
    """A typed line."""

    text: str
    where: str  # Position of the line, for messages


class BitEncoder(Encoder):
    """Reads lines in the form of the data's goal."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal
        self.takes = goal.form.format(**vars(goal))

    def __call__(self, inputs: Sequence[str | BitLine]) -> BitBatch:
        if not inputs:
            steps = torch.zeros(0, 0, dtype=torch.bool)
            return BitBatch(torch.zeros(0, 0, self.goal.in_width), steps, steps)
        return batch_of([self.display(line) for line in inputs], targets=False)

    def display(self, one: str | BitLine) -> BitSequence:
        """The typed sequence with its targets. Raises DataError, with the position of the line."""
        line = one if isinstance(one, BitLine) else BitLine(one, "")
        try:
            if not line.text.strip():
                raise DataError("the line is empty")
            return self.goal.parse(line.text)
        except DataError as error:
            place = f"{line.where}, {line.text!r}" if line.where else repr(line.text)
            raise DataError(f"{place}: {error}; a sequence is typed as {self.takes}") from error

    def state(self) -> dict[str, Any]:
        return {"goal": name_of(type(self.goal)), **asdict(self.goal)}  # type: ignore[call-overload]

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> BitEncoder:
        fields = dict(state)
        return cls(class_at(fields.pop("goal"), Goal)(**fields))


def batch_of(
    sequences: Sequence[BitSequence], numbers: Sequence[int] | None = None, *, targets: bool = True
) -> BitBatch:
    """Sequences padded to the longest, with their numbers in the split."""
    lengths = np.array([len(sequence.inputs) for sequence in sequences])
    mask = np.arange(lengths.max()) < lengths[:, None]
    inputs, bits, scored = (
        gridded(np.concatenate(parts), mask) for parts in zip(*(sequence[:3] for sequence in sequences), strict=True)
    )
    optimal = [sequence.optimal_bits for sequence in sequences]
    return BitBatch(
        inputs,
        torch.from_numpy(mask),
        scored,
        bits if targets else None,
        index=torch.tensor(range(len(sequences)) if numbers is None else numbers),
        group=torch.tensor([sequence.group for sequence in sequences]),
        optimal_bits=None if not targets or None in optimal else torch.tensor(optimal),
    )

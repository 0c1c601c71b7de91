"""Batches of bit sequences: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.batch import Batch


@dataclass(frozen=True)
class BitBatch(Batch):
    """B sequences of at most T steps; shorter ones are padded at the end."""

    kept: ClassVar[tuple[str, ...]] = ("optimal_bits",)
    inputs: Tensor
    """(B, T, I) inputs of each step; 0 at padding."""
    step_mask: Tensor
    """(B, T) True at steps; a prefix of each row."""
    index: Tensor
    """(B,) number of each sequence in its split."""
    group: Tensor
    """(B,) the part of the test that a sequence belongs to, by its number in the spec's `groups`."""
    targets: Tensor | None
    """(B, T, O) the bits to be written, 0 and 1; 0 at steps that are not scored. None when predicting."""
    scored: Tensor
    """(B, T) True at the steps whose bits are scored; the loss counts only these."""
    optimal_bits: Tensor | None = None
    """(B,) cost of the targets for the optimal predictor, in bits; None if it is 0."""

    @classmethod
    def of(
        cls,
        inputs: Tensor,
        step_mask: Tensor,
        scored: Tensor,
        targets: Tensor | None = None,
        *,
        index: Tensor | None = None,
        group: Tensor | None = None,
        optimal_bits: Tensor | None = None,
    ) -> BitBatch:
        """A batch from padded steps (B, T, I), (B, T), (B, T) and (B, T, O)."""
        return cls(
            inputs=inputs,
            step_mask=step_mask,
            index=torch.arange(len(inputs)) if index is None else index,
            group=torch.zeros(len(inputs), dtype=torch.long) if group is None else group,
            targets=targets,
            scored=scored,
            optimal_bits=optimal_bits,
        )

    def __len__(self) -> int:
        return len(self.inputs)

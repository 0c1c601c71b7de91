"""Sequences of bits: the facts that a network is built from, and batches with boolean masks, True = real."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Inputs, mask, numbers


@dataclass(frozen=True)
class BitSpec(Spec):
    """Sequences that are read step by step, with outputs at some of the steps."""

    limits = ("groups",)

    in_width: Count
    """Input channels of each step: bits, delimiters, and numbers such as a count or a priority."""
    out_width: Count
    """Output bits of a step."""
    groups: tuple[str, ...] = ("all",)
    """Names of the parts of the test, such as `length20`."""

    def inputs(self) -> Inputs:
        steps = ("batch", "steps")
        return Inputs(BitBatch, {"inputs": numbers((*steps, self.in_width)), "step_mask": mask(steps)})


@dataclass(frozen=True)
class BitBatch(Batch):
    """B sequences of at most T steps; shorter ones are padded at the end."""

    kept: ClassVar[tuple[str, ...]] = ("optimal_bits",)
    inputs: Tensor
    """(B, T, I) inputs of each step; 0 at padding."""
    step_mask: Tensor
    """(B, T) True at steps; a prefix of each row."""
    scored: Tensor = derived(lambda batch: batch.step_mask, sliced=True)
    """(B, T) True at the steps whose bits are scored, by default all; the loss counts only these."""
    targets: Tensor | None = None
    """(B, T, O) the bits to be written, 0 and 1; 0 at steps that are not scored. None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(batch.inputs.shape[0]), sliced=True)
    """(B,) number of each sequence in its split."""
    group: Tensor = derived(lambda batch: torch.zeros(batch.inputs.shape[0], dtype=torch.long), sliced=True)
    """(B,) the part of the test that a sequence belongs to, by its number in the spec's `groups`."""
    optimal_bits: Tensor | None = None
    """(B,) cost of the targets for the optimal predictor, in bits; None if it is 0."""

    def __len__(self) -> int:
        return len(self.inputs)

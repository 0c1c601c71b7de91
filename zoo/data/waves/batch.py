"""Sounds as samples: the facts that a network is built from, and batches of sounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Given, Inputs, ids, mask, numbers
from zoo.data.waves.mu_law import LEVELS


@dataclass(frozen=True)
class WaveSpec(Spec):
    """Sounds of one channel. Each sample is one of L levels of the mu-law."""

    rate: Count
    """Samples per second."""
    levels: Count = LEVELS
    """L: a sample is a number from 0 to L - 1."""
    classes: tuple[str, ...] = ()
    """The names of the classes, such as speakers; empty where sounds have none."""
    features: Natural = 0
    """F, the mel bands of the frames that describe a sound; 0 where there are none."""
    hop: Natural = 0
    """Samples from one frame to the next; 0 where there are none."""

    def inputs(self) -> Inputs:
        tensors = {"samples": Given(("batch", "samples"), torch.uint8, below=self.levels)}
        tensors["sample_mask"] = mask(("batch", "samples"))
        if self.classes:
            tensors["label"] = ids(("batch",), len(self.classes))
        if self.features:
            tensors["frames"] = numbers(("batch", "frames", self.features))
            tensors["frame_mask"] = mask(("batch", "frames"))
        return Inputs(WaveBatch, tensors)


@dataclass(frozen=True)
class WaveBatch(Batch):
    """B sounds of at most N samples."""

    unit: ClassVar[str] = "samples"

    samples: Tensor
    """(B, N) uint8 levels, 0 at padding."""
    sample_mask: Tensor
    """(B, N) True at samples; a prefix of each row."""
    label: Tensor | None = None
    """(B,) the number of each class; None where sounds have none."""
    frames: Tensor | None = None
    """(B, S, F) float32, a log-mel spectrogram of each sound; None where there is none. Frame i is centred at the
    sample i * hop."""
    frame_mask: Tensor | None = None
    """(B, S) True at frames; a prefix of each row."""
    wanted: Tensor | None = None
    """(B,) how many samples are to be made after those of each sound; None in training."""
    context: Tensor = derived(
        lambda batch: batch.samples.new_zeros(batch.samples.shape[0], dtype=torch.long), sliced=True
    )
    """(B,) the first samples of each row that are read and not scored, because the row begins within a sound."""
    index: Tensor = derived(
        lambda batch: torch.arange(batch.samples.shape[0], device=batch.samples.device), sliced=True
    )
    """(B,) number of each sound in its split."""

    @property
    def scored_mask(self) -> Tensor:
        """(B, N) True at the samples that are scored."""
        place = torch.arange(self.samples.shape[1], device=self.samples.device)
        return self.sample_mask & (place >= self.context[:, None])

    @property
    def units(self) -> Tensor:
        """() the scored samples of all sounds."""
        return self.scored_mask.sum()

    def __len__(self) -> int:
        return len(self.samples)

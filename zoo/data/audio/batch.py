"""Sounds with transcripts: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural, Positive
from zoo.data.batch import Batch, Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, mask, numbers
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class AudioSpec(Spec):
    """Sounds as frames of a log-mel spectrogram, and the transcripts to write."""

    limits = ("longest_target",)

    features: Count
    """F, the mel bands of a frame."""
    target_size: Count
    """Rows of the token embedding and scores per target position, with the special tokens."""
    longest_target: Natural
    """Tokens of the longest transcript, with its end."""
    hop: Positive
    """Seconds from the centre of a frame to the centre of the next."""
    padding: Natural = 0
    unknown: Natural = 1
    begin: Natural = 2
    """The input of a decoder before the first token; never predicted."""
    end: Natural = 3
    """The last token of every transcript."""

    def inputs(self) -> Inputs:
        given = {"frames": numbers(("batch", "frames", self.features)), "frame_mask": mask(("batch", "frames"))}
        return Inputs(AudioBatch, given, {"begin": self.begin})


@dataclass(frozen=True, eq=False)
class Sound:
    """A sound of one channel, as it is shown and played beside a prediction."""

    name: str
    """The file, or the number of a generated sound."""
    rate: int
    """Samples per second."""
    samples: Tensor
    """(N,) int16."""

    @property
    def seconds(self) -> float:
        """The duration."""
        return len(self.samples) / self.rate


@dataclass(frozen=True)
class SoundDescription:
    """The facts about a sound of a batch besides its frames, for metrics, tables and pictures."""

    sound: Sound
    text: str = ""
    """The transcript as in its file; empty if it is unknown."""
    spans: tuple[tuple[float, float] | None, ...] | None = None
    """The begin and the end of each token of the transcript, without the end token, in seconds. A token that is not
    heard, such as a blank, has None. The whole is None for a sound whose borders are unknown."""


@dataclass(frozen=True)
class AudioBatch(WritingBatch):
    """B sounds of at most S frames and their transcripts of at most T tokens, each with the end token and without
    begin."""

    without_targets: ClassVar[str] = "let a search of zoo.decoding write the transcript"
    unit: ClassVar[str] = "frames"

    frames: Tensor
    """(B, S, F) float32, the normalised log-mel spectrogram, 0 at padding."""
    frame_mask: Tensor
    """(B, S) True at frames; a prefix of each row."""
    _: KW_ONLY
    index: Tensor = derived(lambda batch: torch.arange(batch.frames.shape[0], device=batch.frames.device), sliced=True)
    """(B,) number of each sound in its split."""
    alignment: Tensor | None = None
    """(B, T, S) True at the frames in which a token is heard; only for evaluation, where the borders are known. The end
    token has none."""
    about: tuple[SoundDescription, ...] | None = None
    """The description of each sound, on the CPU; only for evaluation and prediction."""
    frame_packing: Packing = derived(lambda batch: Packing.of(batch.frame_mask))
    """Packs (B, S)."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions that can be attended: the frames."""
        return self.frame_mask

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions that hold content: the frames."""
        return self.frame_mask

    @property
    def memory_length(self) -> Tensor:
        """(B,) frames, by which a network without positions of its own measures the length of a transcript."""
        return self.frame_mask.sum(1)

    @property
    def units(self) -> Tensor:
        """() the frames of all sounds."""
        return self.frame_mask.sum()

    def __len__(self) -> int:
        return len(self.frames)

    def _changed(self, change: Callable[[Any], Any]) -> AudioBatch:
        """Changes the tensors that a network reads. The sounds of `about` stay as they are."""
        return replace(Batch._changed(replace(self, about=None), change), about=self.about)

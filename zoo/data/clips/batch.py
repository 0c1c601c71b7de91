"""Clips with captions: the facts that a network is built from, and batches with boolean masks, True = real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from torch import Tensor

from zoo.arguments import Count
from zoo.data.batch import derived
from zoo.data.captions.batch import CaptionBatch, CaptionSpec, Description
from zoo.data.clips.truth import is_true, spans_named
from zoo.data.inputs import Inputs, mask, numbers, pixels
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class ClipSpec(CaptionSpec):
    """Clips, or the features of their frames, and the captions to write. C, H and W are those of a frame."""

    frames: Count = 28
    """The most frames of a clip in a batch."""

    def inputs(self) -> Inputs:
        axes = ("batch", "frames", self.channels, self.height, self.width)
        frames = numbers(axes) if self.encoded else pixels(axes)
        tensors = {"frames": frames, "frame_mask": mask(("batch", "frames"))}
        return Inputs(ClipBatch, tensors, {"begin": self.begin})


class ClipDescription(Description):
    """The facts about a clip of a batch besides its frames: the events of a generated clip."""

    def judged(self, caption: str) -> bool:
        return is_true(caption, self.facts)

    def places(self, words: Sequence[str]) -> list[tuple[float, ...] | None]:
        """The first and the last frame of the event that each word is about."""
        return spans_named(words, self.facts)


@dataclass(frozen=True)
class ClipBatch(CaptionBatch):
    """B captions of at most T tokens to write about I clips, with attention to the F frames of a clip."""

    without_targets: ClassVar[str] = (
        "give captions as encoder(clips, captions), or let a search of zoo.decoding write them"
    )
    given: ClassVar[tuple[str, ...]] = ("frames", "frame_mask")

    frames: Tensor
    """(I, F, C, H, W) pixels, uint8 of RGB, or features of an encoder, whose H by W are the cells of the grid."""
    frame_mask: Tensor
    """(I, F) True at the frames of a clip; a prefix of each row."""
    _: KW_ONLY
    frame_packing: Packing = derived(lambda batch: Packing.of(batch.frame_mask))
    """Packs (I, F): the frames that exist are (N, C, H, W)."""

    @property
    def pixels(self) -> Tensor:
        return self.frames

    @property
    def memory_mask(self) -> Tensor:
        """(B, F) True: every frame of a clip can be attended."""
        return self.frame_mask.index_select(0, self.picture)

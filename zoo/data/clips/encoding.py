"""Converts clips with captions to batches, and ids back to captions."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.captions.encoding import CaptionEncoder, caption_parts
from zoo.data.clips.batch import ClipBatch, ClipDescription
from zoo.data.clips.frames import Frames
from zoo.data.clips.truth import alignment, named_words
from zoo.data.clips.video import frames_of
from zoo.data.parts import Ragged


class ClipCaptionEncoder(CaptionEncoder):
    """Converts clips, with or without captions, to batches, and ids to captions."""

    takes = "a clip: a path of a film or of a folder of frames, a list of images, or an array of bytes (F, H, W, 3)"
    parts = caption_parts("spans")
    places, description, plural = "spans", ClipDescription, "clips"

    def __init__(self, *args: Any, frames: int, **rest: Any) -> None:
        """`frames` is the most frames of a clip; the rest is as in `CaptionEncoder`."""
        super().__init__(*args, **rest)
        self.frames = frames

    def extra_state(self) -> dict[str, Any]:
        return super().extra_state() | {"frames": self.frames}

    def pixels(self, one: Any) -> Tensor:
        """uint8 (F, 3, H, W) of equally spaced frames, as a network sees them. Raises DataError for anything that is
        not a clip."""
        return frames_of(one, self.frames, self.picture)

    def joined(self, pixels: Sequence[Tensor]) -> Frames:
        return Frames.of([clip if self.features is None else self.features(clip) for clip in pixels])

    def named_words(self, caption: str, facts: Any) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        return named_words(caption, facts)

    def alignment(self, shape: tuple[int, int], named: Ragged, places: NDArray[Any], images: Any) -> NDArray[np.bool_]:
        """The frames of the event of each word that is about one."""
        row = np.repeat(np.arange(len(named.lengths)), named.lengths)
        return alignment(shape, row, named.values, places, images.mask.shape[1])

    def made(self, images: Frames, **captions: Any) -> ClipBatch:
        return ClipBatch(*images, **captions)

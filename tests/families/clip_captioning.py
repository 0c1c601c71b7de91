"""Clips of unequal numbers of frames, and captions of them, for `clip_captioning`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from tests.families import LONG, MORE, Writing, mask_of
from zoo.data.clips.batch import ClipBatch, ClipSpec

SIDE = 8


class Clips(Writing):
    """Clips of random frames and captions of them, for `clip_captioning`.

    A clip is padded for itself: its frames are a prefix of those of the batch.
    """

    task_class = "zoo.tasks.clip_captioning.ClipCaptioning"
    penalty: ClassVar[dict[str, Any]] = {
        "doubly_stochastic": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.1, "tau": 1.0}
    }
    spec = ClipSpec(
        channels=3, height=SIDE, width=SIDE + 8, target_size=30, longest_target=12, grid=(1, 2), frames=LONG
    )
    encoder = SimpleNamespace()
    grids: ClassVar[dict[str, str]] = {"target": "target_mask"}
    singles = ("picture",)

    def batch(self, seed: int, *, empty: bool = True) -> ClipBatch:
        """Two captions are equal and of one clip, another is the end alone.

        With `empty` a further caption describes the first clip in other words, and the last is the end alone, of a clip
        without frames.
        """
        generator = torch.Generator().manual_seed(seed)
        lengths = [5, 1, 7, 3]
        clips = [self._clip(length, generator) for length in lengths]
        captions = [self._caption(length, generator) for length in (6, 4, 1, 7)]
        picture, captions = [1, 0, 3, 2, 0], [*captions, captions[1]]  # the number of a row is not that of its clip
        if empty:
            lengths, clips = [*lengths, 0], [*clips, clips[0][:0]]
            picture, captions = [*picture, 1, 4], [*captions, self._caption(3, generator), [self.spec.end]]
        return self._of(clips, lengths, picture, captions)

    def long_batch(self) -> ClipBatch:
        generator = torch.Generator().manual_seed(1)
        lengths = [LONG, LONG - 7]
        clips = [self._clip(length, generator) for length in lengths]
        captions = [self._caption(length, generator) for length in (5, 3)]
        return self._of(clips, lengths, [0, 1], captions)

    def _clip(self, length: int, generator: torch.Generator) -> Tensor:
        """(F, 3, H, W) frames with a tint of their clip, each of another lightness."""
        tint = 90 * torch.rand(1, 3, 1, 1, generator=generator)
        drawn = 60 * torch.rand(length, 3, self.spec.height, self.spec.width, generator=generator)
        return (tint + drawn + 90 * torch.rand(length, 3, 1, 1, generator=generator)).byte()

    def _caption(self, length: int, generator: torch.Generator) -> list[int]:
        words = torch.randint(self.spec.end + 1, self.spec.target_size, (length - 1,), generator=generator)
        return [*words.tolist(), self.spec.end]

    def _of(
        self, clips: Sequence[Tensor], lengths: Sequence[int], picture: Sequence[int], captions: Sequence[Sequence[int]]
    ) -> ClipBatch:
        mask = mask_of([len(caption) for caption in captions])
        target = torch.full(mask.shape, self.spec.padding)
        target[mask] = torch.tensor([token for caption in captions for token in caption])
        frames = pad_sequence(list(clips), True)
        return ClipBatch(frames, mask_of(lengths), target=target, target_mask=mask, picture=torch.tensor(picture))

    def made(self, tensors: dict[str, Tensor], like: ClipBatch) -> ClipBatch:
        """A batch of the clips that have captions, with as many frames as the longest one has."""
        kept, tensors["picture"] = tensors["picture"].unique(return_inverse=True)
        mask = like.frame_mask[kept]
        longest = max(1, int(mask.sum(1).max()))
        return ClipBatch(like.frames[kept, :longest], mask[:, :longest], **tensors, begin=self.spec.begin)

    def padded(self, batch: ClipBatch) -> ClipBatch:
        """The examples of `batch` with more padding of the captions and of the clips."""
        more = super().padded(batch)
        frames = torch.cat([more.frames, torch.zeros_like(more.frames[:, :1]).expand(-1, MORE, -1, -1, -1)], 1)
        mask = torch.cat([more.frame_mask, torch.zeros_like(more.frame_mask[:, :1]).expand(-1, MORE)], 1)
        return self._with(more, frames, mask)

    def scribbled(self, batch: ClipBatch) -> ClipBatch:
        """The examples of `batch` with other content under the padding of the captions and of the clips."""
        other = super().scribbled(batch)
        frames = other.frames.masked_fill(~other.frame_mask[:, :, None, None, None], 7)
        return self._with(other, frames, other.frame_mask)

    def _with(self, batch: ClipBatch, frames: Tensor, mask: Tensor) -> ClipBatch:
        tensors = self._tensors(batch)
        return ClipBatch(frames, mask, **tensors, begin=self.spec.begin)

    def without_targets(self, batch: ClipBatch) -> ClipBatch:
        return ClipBatch(batch.frames, batch.frame_mask, picture=batch.picture)


FAMILY = Clips()

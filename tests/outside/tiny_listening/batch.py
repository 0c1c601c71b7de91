"""The tensors of sounds that a network reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import WritingBatch, derived


def _alignment(batch: SoundBatch) -> Tensor | None:
    if batch.target is None or batch.target_mask is None:
        return None
    said = batch.target[:, :, None] == 4 + batch.frames.argmax(2)[:, None]
    return said & batch.frame_mask[:, None]


@dataclass(frozen=True)
class SoundBatch(WritingBatch):
    """B sounds of at most S frames."""

    frames: Tensor
    """(B, S, F) the strength of each tone."""
    frame_mask: Tensor
    """(B, S) True at frames."""
    index: Tensor = derived(lambda batch: torch.arange(len(batch)), sliced=True)
    alignment: Tensor | None = derived(_alignment, sliced=True)
    """(B, T, S) True at the frames of each token's tone; None when predicting."""

    @classmethod
    def padded(
        cls,
        frames: Sequence[Tensor],
        targets: Sequence[Sequence[int]] | None = None,
        index: Sequence[int] | None = None,
        width: int = 0,
    ) -> SoundBatch:
        """A batch of sounds (S_i, F) and the tokens to write for them, ends included; at least `width` frames wide."""
        lengths = torch.tensor([len(sound) for sound in frames])
        width = max(width, int(lengths.max()))
        padded = torch.stack([torch.cat([one, one.new_zeros(width - len(one), one.shape[1])]) for one in frames])
        mask = torch.arange(width) < lengths[:, None]
        numbers = None if index is None else torch.tensor(index)
        target = real = None
        if targets is not None:
            longest = max(map(len, targets))
            target = torch.tensor([[*row, *[0] * (longest - len(row))] for row in targets])
            real = torch.arange(longest) < torch.tensor([len(row) for row in targets])[:, None]
        return cls(padded, mask, numbers, target=target, target_mask=real)  # type: ignore[arg-type]

    @property
    def memory_mask(self) -> Tensor:
        return self.frame_mask

    @property
    def content_mask(self) -> Tensor:
        return self.frame_mask

    @property
    def memory_length(self) -> Tensor:
        return self.frame_mask.sum(1)

    def __len__(self) -> int:
        return len(self.frames)

    def parts(self, rows: Sequence[int]) -> tuple[list[Tensor], list[list[int]] | None]:
        """The frames of some of the sounds without padding, and their tokens."""
        frames = [self.frames[row][self.frame_mask[row]].cpu().clone() for row in rows]
        if self.target is None or self.target_mask is None:
            return frames, None
        return frames, [self.target[row][self.target_mask[row]].tolist() for row in rows]

"""The tensors of sounds that a network reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zoo.data.batch import WritingBatch


@dataclass(frozen=True)
class SoundBatch(WritingBatch):
    """B sounds of at most S frames."""

    frames: Tensor
    """(B, S, F) the strength of each tone."""
    frame_mask: Tensor
    """(B, S) True at frames."""
    index: Tensor
    alignment: Tensor | None
    """(B, T, S) True at the frames of each token's tone; None when predicting."""

    @classmethod
    def of(
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
        numbers = torch.arange(len(frames)) if index is None else torch.tensor(index)
        target = real = alignment = None
        if targets is not None:
            longest = max(map(len, targets))
            target = torch.tensor([[*row, *[0] * (longest - len(row))] for row in targets])
            real = torch.arange(longest) < torch.tensor([len(row) for row in targets])[:, None]
            alignment = (target[:, :, None] == 4 + padded.argmax(2)[:, None]) & mask[:, None]
        return cls(
            **cls.writing(target, real, begin=2), frames=padded, frame_mask=mask, index=numbers, alignment=alignment
        )

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

    def first(self, count: int) -> Any:
        rows = range(min(count, len(self)))
        return SoundBatch.of(*self.parts(rows), self.index[list(rows)].tolist())

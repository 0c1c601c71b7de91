"""Windows of a text: row b of a batch continues row b of the batch before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.batch import Batch


@dataclass(frozen=True)
class WindowBatch(Batch):
    """B windows of at most T characters."""

    unit: ClassVar[str] = "characters"

    read: Tensor
    """(B, T) ids of the characters before the targets; 0 at the beginning of the text, and at padding."""
    target: Tensor | None
    """(B, T) ids of the characters to be predicted, 0 at padding; None when predicting."""
    mask: Tensor
    """(B, T) True at characters."""
    index: Tensor
    """(B,) number of each window in its split."""

    @classmethod
    def padded(cls, windows: Sequence[Tensor], index: Tensor | None = None) -> WindowBatch:
        """A padded batch of windows; the first id of each is the character before it."""
        padded = torch.nn.utils.rnn.pad_sequence(list(windows), batch_first=True)
        index = torch.arange(len(windows)) if index is None else index
        return cls(padded[:, :-1], padded[:, 1:], padded[:, 1:] > 0, index)

    def __len__(self) -> int:
        return len(self.read)

    @property
    def units(self) -> Tensor:
        return self.mask.sum()

"""Batches of tagged sequences."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import Batch


@dataclass(frozen=True)
class TaggingBatch(Batch):
    """B sequences of at most T symbols."""

    symbols: Tensor
    """(B, T) ids, 0 at padding."""
    symbol_mask: Tensor
    """(B, T) True at symbols."""
    index: Tensor
    """(B,) number of each sequence in its split."""
    tags: Tensor | None
    """(B, T) the tag of each symbol; None when predicting."""

    @classmethod
    def of(cls, symbols: Tensor, tags: Tensor | None = None, index: Tensor | None = None) -> TaggingBatch:
        """A batch from padded ids (B, T)."""
        index = torch.arange(len(symbols)) if index is None else index
        return cls(symbols=symbols, symbol_mask=symbols > 0, index=index, tags=tags)

    def __len__(self) -> int:
        return len(self.symbols)

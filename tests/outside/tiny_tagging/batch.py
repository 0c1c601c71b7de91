"""Batches of tagged sequences."""

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import Batch, derived


@dataclass(frozen=True)
class TaggingBatch(Batch):
    """B sequences of at most T symbols."""

    symbols: Tensor
    """(B, T) ids, 0 at padding."""
    tags: Tensor | None = None
    """(B, T) the tag of each symbol; None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(len(batch)), sliced=True)
    """(B,) number of each sequence in its split."""
    symbol_mask: Tensor = derived(lambda batch: batch.symbols > 0)
    """(B, T) True at symbols."""

    def __len__(self) -> int:
        return len(self.symbols)

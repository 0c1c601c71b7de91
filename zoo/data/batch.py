"""What a model reads: named tensors with boolean masks, True = real. Data and models meet here and in `spec.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from zoo.layers.packing import Packing


@dataclass(frozen=True)
class DocumentBatch:
    """B documents of at most S sentences of at most W words. `DocumentBatch.of` builds it with its packings."""

    words: Tensor
    """(B, S, W) word ids."""
    word_mask: Tensor
    """(B, S, W) True at words."""
    sentence_mask: Tensor
    """(B, S) True at sentences that hold a word."""
    index: Tensor
    """(B,) number of each document in its split."""
    label: Tensor | None
    """(B,) class of each document; None when predicting."""
    evidence: Tensor | None
    """(B, S, W) True at the words that decided the label; only where the data knows them (the samples)."""
    word_packing: Packing
    """Rows are sentences: packs (B, S, W)."""
    sentence_packing: Packing
    """Rows are documents: packs (B, S)."""
    distinct: Tensor
    """(U,) the distinct word ids of the batch."""
    word_at: Tensor
    """(N,) for each packed word its row in `distinct`."""

    @classmethod
    def of(
        cls,
        words: Tensor,
        word_mask: Tensor,
        label: Tensor | None = None,
        *,
        index: Tensor | None = None,
        evidence: Tensor | None = None,
    ) -> DocumentBatch:
        """A batch from padded ids (B, S, W) and their mask; everything else follows from these."""
        sentence_mask = word_mask.any(-1)
        packing = Packing.of(word_mask)
        distinct, word_at = packing.pack(words).unique(return_inverse=True)
        return cls(
            words=words,
            word_mask=word_mask,
            sentence_mask=sentence_mask,
            index=torch.arange(len(words)) if index is None else index,
            label=label,
            evidence=evidence,
            word_packing=packing,
            sentence_packing=Packing.of(sentence_mask),
            distinct=distinct,
            word_at=word_at,
        )

    def __len__(self) -> int:
        return len(self.words)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> DocumentBatch:
        """The batch on `device`."""
        return self._with(lambda part: part.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> DocumentBatch:
        """The batch in page-locked memory."""
        return self._with(lambda part: part.pin_memory())

    def _with(self, change: Callable[[Any], Any]) -> DocumentBatch:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: change(part) for name, part in parts.items() if part is not None})

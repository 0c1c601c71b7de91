"""Batches of documents: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import Batch
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class DocumentBatch(Batch):
    """B documents of at most S sentences of at most W words."""

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
    """(B, S, W) True at the words that decided the label; only for samples, which know them."""
    word_packing: Packing
    """Rows are sentences: packs (B, S, W)."""
    sentence_packing: Packing
    """Rows are documents: packs (B, S)."""
    distinct: Tensor
    """(U,) the distinct word ids of the batch."""
    word_at: Tensor
    """(N,) the row in `distinct` of each packed word."""
    text: tuple[list[list[str]], ...] | None = None
    """The written words of the B documents, by sentences, in the positions of their ids; only for evaluation."""

    @classmethod
    def of(
        cls,
        words: Tensor,
        word_mask: Tensor,
        label: Tensor | None = None,
        *,
        index: Tensor | None = None,
        evidence: Tensor | None = None,
        text: tuple[list[list[str]], ...] | None = None,
    ) -> DocumentBatch:
        """Build a batch with its packings from padded ids (B, S, W) and their mask."""
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
            text=text,
        )

    def __len__(self) -> int:
        return len(self.words)

"""Batches of cloze questions: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from zoo.data.batch import Batch
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class ClozeBatch(Batch):
    """B questions: a document of at most D words, a query of at most Q words with a blank in it, and at most C
    candidates for the blank."""

    document: Tensor
    """(B, D) word ids."""
    document_mask: Tensor
    """(B, D) True at words, a prefix."""
    query: Tensor
    """(B, Q) word ids, one of them the blank."""
    query_mask: Tensor
    """(B, Q) True at words, a prefix."""
    candidate_mask: Tensor
    """(B, C) True at candidates, a prefix. A network picks a position, and `occurrence` gives its candidate."""
    occurrence: Tensor
    """(B, D) the number of the candidate at each position of the document, -1 without one. Candidates are found by
    their spelling: two that are not in the vocabulary are not confused."""
    index: Tensor
    """(B,) number of each question in its split."""
    document_packing: Packing
    """Packs (B, D)."""
    query_packing: Packing
    """Packs (B, Q)."""
    distinct: Tensor
    """(U,) the distinct word ids of the batch, documents and queries together."""
    document_at: Tensor
    """(N,) the row in `distinct` of each packed word of the documents."""
    query_at: Tensor
    """The row in `distinct` of each packed word of the queries."""
    answer: Tensor | None
    """(B,) number of the right candidate; None when predicting."""
    evidence: Tensor | None
    """(B, D) True at the words of the sentences from which the answer follows; only for samples."""
    text: tuple[Any, ...] | None = None
    """The `zoo.data.cloze.question.Shown` of each question, as it was written; only for evaluation."""

    @classmethod
    def of(
        cls,
        document: Tensor,
        document_mask: Tensor,
        query: Tensor,
        query_mask: Tensor,
        candidate_mask: Tensor,
        occurrence: Tensor,
        answer: Tensor | None = None,
        *,
        index: Tensor | None = None,
        evidence: Tensor | None = None,
        text: tuple[Any, ...] | None = None,
    ) -> ClozeBatch:
        """Build a batch with its packings from padded ids and masks."""
        document_packing, query_packing = Packing.of(document_mask), Packing.of(query_mask)
        words = torch.cat([document_packing.pack(document), query_packing.pack(query)])
        distinct, at = words.unique(return_inverse=True)
        document_at, query_at = at.split([len(document_packing.cell), len(query_packing.cell)])
        return cls(
            document=document,
            document_mask=document_mask,
            query=query,
            query_mask=query_mask,
            candidate_mask=candidate_mask,
            occurrence=occurrence,
            index=torch.arange(len(document)) if index is None else index,
            document_packing=document_packing,
            query_packing=query_packing,
            distinct=distinct,
            document_at=document_at,
            query_at=query_at,
            answer=answer,
            evidence=evidence,
            text=text,
        )

    def __len__(self) -> int:
        return len(self.document)

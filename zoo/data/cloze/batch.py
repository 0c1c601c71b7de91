"""What a network reads of cloze questions: named tensors with boolean masks, True = real."""

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
    candidates for the blank. `ClozeBatch.of` builds it with its packings."""

    document: Tensor
    """(B, D) word ids."""
    document_mask: Tensor
    """(B, D) True at words, a prefix."""
    query: Tensor
    """(B, Q) word ids, that of the blank among them."""
    query_mask: Tensor
    """(B, Q) True at words, a prefix."""
    candidate_mask: Tensor
    """(B, C) True at candidates, a prefix. What they are follows from `occurrence`: a network picks positions."""
    occurrence: Tensor
    """(B, D) the number of the candidate that stands at each position of the document, -1 where none does. It is of the
    words as they are written: two candidates outside the vocabulary are not taken for each other."""
    index: Tensor
    """(B,) number of each question in its split."""
    document_packing: Packing
    """Packs (B, D)."""
    query_packing: Packing
    """Packs (B, Q)."""
    distinct: Tensor
    """(U,) the distinct word ids of the batch, documents and queries together."""
    document_at: Tensor
    """(N,) for each packed word of the documents its row in `distinct`."""
    query_at: Tensor
    """The same for the packed words of the queries."""
    answer: Tensor | None
    """(B,) number of the candidate that is right; None when predicting."""
    evidence: Tensor | None
    """(B, D) True at the words of the sentences from which the answer follows; only where the data knows them."""
    text: tuple[Any, ...] | None = None
    """For each question its `zoo.data.cloze.question.Shown`, as it was written; only for evaluation."""

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
        """A batch from padded ids and masks; everything else follows from these."""
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

    def first(self, count: int) -> ClozeBatch:
        """The first `count` questions, in memory of their own on the CPU."""

        def part(tensor: Any) -> Any:
            return None if tensor is None else tensor[:count].cpu().clone()

        return ClozeBatch.of(
            part(self.document),
            part(self.document_mask),
            part(self.query),
            part(self.query_mask),
            part(self.candidate_mask),
            part(self.occurrence),
            part(self.answer),
            index=part(self.index),
            evidence=part(self.evidence),
            text=self.text and self.text[:count],
        )

"""Cloze questions as words, the facts that a network is built from, and batches with boolean masks, True = real."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Batch, Spec, derived
from zoo.data.inputs import Inputs, ids, mask
from zoo.layers.packing import Packing, distinct, places

BLANK = "XXXXX"  # The word that replaces the removed one; readers of all formats use it


@dataclass(frozen=True)
class ClozeQuestion:
    """A document, a sentence about it with one word removed, and candidates for that word."""

    sentences: list[list[str]]
    """Sentences of the document, as words."""
    query: list[str]
    """Words of the sentence, with `BLANK` instead of the removed word."""
    candidates: list[str]
    """Candidate answers, which are words of the document."""
    answer: str | None
    """One of the candidates; None for a question that a user asks."""
    evidence: tuple[int, ...] = ()
    """Numbers, from 0, of the sentences that imply the answer, if they are known."""


class Shown(NamedTuple):
    """A question as it was written, with words instead of ids and candidates in the order of their numbers."""

    document: list[str]
    query: list[str]
    candidates: list[str]
    sentence_ends: list[int]  # End of each sentence of the document, counted in words


@dataclass(frozen=True)
class ClozeSpec(Spec):
    """Documents of words, a sentence with a blank, and candidates for the blank that are in the document."""

    vocabulary_size: Count
    """Rows of the word embedding: padding, unknown words, the blank, and the words of training."""
    blank: Natural
    """The id of the blank in a query."""
    padding: Natural = 0
    unknown: Natural = 1

    def inputs(self) -> Inputs:
        document, query = ("batch", "document"), ("batch", "query")
        return Inputs(
            ClozeBatch,
            {
                "document": ids(document, self.vocabulary_size),
                "document_mask": mask(document),
                "query": ids(query, self.vocabulary_size),
                "query_mask": mask(query),
                "candidate_mask": mask(("batch", "candidates")),
                "occurrence": ids(document, "candidates", lowest=-1),
            },
        )


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
    answer: Tensor | None = None
    """(B,) number of the right candidate; None when predicting."""
    index: Tensor = derived(lambda batch: torch.arange(batch.document.shape[0]), sliced=True)
    """(B,) number of each question in its split."""
    evidence: Tensor | None = None
    """(B, D) True at the words of the sentences from which the answer follows; only for samples."""
    text: tuple[Shown, ...] | None = None
    """Each question as it was written; only for evaluation."""
    document_packing: Packing = derived(lambda batch: Packing.of(batch.document_mask))
    """Packs (B, D)."""
    query_packing: Packing = derived(lambda batch: Packing.of(batch.query_mask))
    """Packs (B, Q)."""
    distinct: Tensor = derived(lambda batch: distinct(torch.cat(batch._packed())))
    """(U,) the distinct word ids of the batch, documents and queries together, in ascending order."""
    document_at: Tensor = derived(lambda batch: places(batch.distinct, batch._packed()[0]))
    """(N,) the row in `distinct` of each packed word of the documents."""
    query_at: Tensor = derived(lambda batch: places(batch.distinct, batch._packed()[1], batch.document_at.shape[0]))
    """The row in `distinct` of each packed word of the queries."""

    def _packed(self) -> tuple[Tensor, Tensor]:
        return self.document_packing.pack(self.document), self.query_packing.pack(self.query)

    def __len__(self) -> int:
        return len(self.document)

"""Texts to be written from a source whose words may be copied: the facts that a network is built from, and batches.

A source may have words that the vocabulary lacks. Each example numbers its own, in the order in which they first occur:
its k-th different one, from 0, is the column V + k of its extended vocabulary. Two examples of a batch share no column
beyond V.

Notation: B examples, S source and T target tokens, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, ids, mask
from zoo.layers.packing import Packing


@dataclass(frozen=True)
class CopySpec(Spec):
    """Sources and the texts to write from them, with one vocabulary. A network of pairs can be built from it, too."""

    limits = ("longest_source", "longest_target")

    vocabulary_size: Count
    """V, the words of both sides, the special ones included."""
    longest_source: Natural
    """Tokens of the longest source."""
    longest_target: Natural
    """Tokens of the longest target, its end included."""
    padding: Natural = 0
    unknown: Natural = 1
    begin: Natural = 2
    """The input of a decoder before the first word; never predicted."""
    end: Natural = 3
    """The last token of every target."""

    @property
    def source_size(self) -> int:
        """V, as of a family with a vocabulary for each side."""
        return self.vocabulary_size

    @property
    def target_size(self) -> int:
        """V, as of a family with a vocabulary for each side."""
        return self.vocabulary_size

    @property
    def shared(self) -> bool:
        """True: both sides have one vocabulary."""
        return True

    def inputs(self) -> Inputs:
        source = ("batch", "source")
        given = {"source": ids(source, self.vocabulary_size), "source_mask": mask(source)}
        return Inputs(CopyBatch, given, {"begin": self.begin})


@dataclass(frozen=True, kw_only=True)
class CopyBatch(WritingBatch):
    """B sources of at most S tokens, and their targets of at most T, each with the end token and without begin."""

    without_targets: ClassVar[str] = "let a search of zoo.decoding write the text"

    source: Tensor
    """(B, S) token ids, `unknown` for words that the vocabulary lacks."""
    source_mask: Tensor
    """(B, S) True at tokens; a prefix of each row. A source may be empty."""
    extended: Tensor = derived(lambda batch: batch.source, sliced=True)
    """(B, S) token ids, in which each unknown word has its own column from V on."""
    copied: Tensor | None = None
    """(B, T) `target`, in which unknown words that the source has are their columns from V on."""
    index: Tensor = derived(lambda batch: torch.arange(batch.source.shape[0]), sliced=True)
    """(B,) number of each example in its split."""
    sentence: Tensor | None = None
    """(B, S) the number of the text that each source token is from, such as a sentence, a turn or a paragraph; only for
    evaluation."""
    facts: Tensor | None = None
    """(B, T) the distance, 1 or more, between a target token that states a fact and its evidence; 0 at other tokens.
    Only for samples, which know it."""
    alignment: Tensor | None = None
    """(B, T, S) True where a target token repeats a source token; only for samples, which know it."""
    unknown_words: tuple[tuple[str, ...], ...] | None = None
    """The words of the columns from V on, for each of the B sources, as the source has them; only for evaluation."""
    source_texts: tuple[tuple[str, ...], ...] | None = None
    """The texts that each of the B sources consists of, as they are in their file; only for evaluation."""
    target_texts: tuple[tuple[str, ...], ...] | None = None
    """One or more references for each of the B sources, as they are in their file; only for evaluation."""
    source_packing: Packing = derived(lambda batch: Packing.of(batch.source_mask))
    """Packs (B, S)."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions that can be attended: the tokens of the source."""
        return self.source_mask

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions that hold content, which are all tokens of the source."""
        return self.source_mask

    @property
    def memory_length(self) -> Tensor:
        """(B,) tokens of the source, by which lengths of a target are measured."""
        return self.source_mask.sum(1)

    def __len__(self) -> int:
        return len(self.source)

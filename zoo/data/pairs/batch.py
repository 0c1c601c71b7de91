"""Pairs: the facts that a network is built from, and batches with boolean masks, True = real."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.arguments import Count, Natural
from zoo.data.batch import Spec, WritingBatch, derived
from zoo.data.inputs import Inputs, ids, mask
from zoo.layers.packing import Packing, without_end


@dataclass(frozen=True)
class PairSpec(Spec):
    """Pairs of a source and a target sequence of tokens."""

    limits = ("longest_source", "longest_target")

    source_size: Count
    """Rows of the source embedding, the special tokens included."""
    target_size: Count
    """Rows of the target embedding and scores of a target position, the special tokens included."""
    longest_source: Natural
    """Tokens of the longest source, its end included."""
    longest_target: Natural
    """Tokens of the longest target, its end included."""
    shared: bool = False
    """Whether both sides have one vocabulary, so that they may share an embedding."""
    padding: Natural = 0
    unknown: Natural = 1
    begin: Natural = 2
    """The input of a decoder before the first target token; it is never predicted."""
    end: Natural = 3
    """The last token of every source and every target."""

    def inputs(self) -> Inputs:
        source = ("batch", "source")
        given = {"source": ids(source, self.source_size), "source_mask": mask(source)}
        return Inputs(PairBatch, given, {"begin": self.begin})


@dataclass(frozen=True)
class PairBatch(WritingBatch):
    """B sources of at most S tokens and their targets of at most T, each with the end token and without begin."""

    without_targets: ClassVar[str] = (
        "give references as encoder(texts, references), or let a search of zoo.decoding write the translation"
    )

    source: Tensor
    """(B, S) token ids."""
    source_mask: Tensor
    """(B, S) True at tokens, the end included; a prefix of each row."""
    _: KW_ONLY
    index: Tensor = derived(lambda batch: torch.arange(batch.source.shape[0]), sliced=True)
    """(B,) number of each pair in its split."""
    alignment: Tensor | None = None
    """(B, T, S) True where a target token comes from a source token; only for samples, which know it."""
    references: Tensor | None = None
    """(B, S, S) True where a source token refers to another one, as a pronoun to its noun; only for samples, which know
    it."""
    source_text: tuple[str, ...] | None = None
    """B sources as they are in their file; only for evaluation."""
    target_text: tuple[str, ...] | None = None
    """B references as they are in their file; only for evaluation."""
    source_packing: Packing = derived(lambda batch: Packing.of(batch.source_mask))
    """Packs (B, S)."""

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions that can be attended: the tokens of the source."""
        return self.source_mask

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at the positions that hold content: the tokens of the source without its end."""
        return without_end(self.source_mask)

    @property
    def memory_length(self) -> Tensor:
        """(B,) tokens of the source, the end included, by which lengths of a target are measured."""
        return self.source_mask.sum(1)

    def __len__(self) -> int:
        return len(self.source)

"""What a network reads of pairs: named tensors with boolean masks, True = real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from zoo.data.batch import WritingBatch
from zoo.layers.packing import Packing, without_end


@dataclass(frozen=True)
class PairBatch(WritingBatch):
    """B sources of at most S tokens and their targets of at most T. `PairBatch.of` builds it with its packings.

    Every source and target ends in the end token and has no begin token.
    """

    without_targets: ClassVar[str] = (
        "give references as encoder(texts, references), or let a search of zoo.decoding write the translation"
    )

    source: Tensor
    """(B, S) token ids."""
    source_mask: Tensor
    """(B, S) True at tokens, the end included; a prefix of each row."""
    index: Tensor
    """(B,) number of each pair in its split."""
    source_packing: Packing
    """Packs (B, S)."""
    alignment: Tensor | None
    """(B, T, S) True where a target token comes from a source token; only where the data knows it (the samples)."""
    source_text: tuple[str, ...] | None
    """B sources as they stood in their file; only for evaluation."""
    target_text: tuple[str, ...] | None
    """B references as they stood in their file; only for evaluation."""

    @classmethod
    def of(
        cls,
        source: Tensor,
        source_mask: Tensor,
        target: Tensor | None = None,
        target_mask: Tensor | None = None,
        *,
        begin: int = 2,
        index: Tensor | None = None,
        alignment: Tensor | None = None,
        source_text: tuple[str, ...] | None = None,
        target_text: tuple[str, ...] | None = None,
    ) -> PairBatch:
        """A batch from padded ids (B, S), (B, T) and their masks; everything else follows from these."""
        return cls(
            source=source,
            source_mask=source_mask,
            index=torch.arange(len(source)) if index is None else index,
            source_packing=Packing.of(source_mask),
            **cls.writing(target, target_mask, begin),
            alignment=alignment,
            source_text=source_text,
            target_text=target_text,
        )

    @property
    def memory_mask(self) -> Tensor:
        """(B, S) True at the positions that can be attended: the tokens of the source."""
        return self.source_mask

    @property
    def content_mask(self) -> Tensor:
        """(B, S) True at those of them that hold content: the tokens of the source but its end."""
        return without_end(self.source_mask)

    @property
    def memory_length(self) -> Tensor:
        """(B,) what lengths of a target are measured by: the tokens of the source, the end included."""
        return self.source_mask.sum(1)

    def __len__(self) -> int:
        return len(self.source)

    def first(self, count: int) -> PairBatch:
        """The first `count` pairs, in memory of their own on the CPU."""

        def part(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor[:count].cpu().clone()

        index, source, mask = (tensor[:count].cpu().clone() for tensor in (self.index, self.source, self.source_mask))
        begin = 2 if self.target_input is None else int(self.target_input[0, 0])
        return PairBatch.of(
            source,
            mask,
            part(self.target),
            part(self.target_mask),
            begin=begin,
            index=index,
            alignment=part(self.alignment),
            source_text=self.source_text and self.source_text[:count],
            target_text=self.target_text and self.target_text[:count],
        )

"""Tagged sequences, for the contract's clauses."""

from dataclasses import replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from tiny_tagging.batch import TaggingBatch
from tiny_tagging.spec import TaggingSpec
from torch import Tensor

from tests.families import LONG, Family, mask_of, precise
from zoo.models.output import Output


class Sequences(Family):
    """Sequences of symbols with a tag each, for `tagging`."""

    spec = TaggingSpec(symbols=9, tags=("new", "again"))
    grids: ClassVar[dict[str, str]] = {"symbols": "symbol_mask", "tags": "symbol_mask"}
    singles = ("index",)

    def batch(self, seed: int, *, empty: bool = True) -> TaggingBatch:
        return self._of_lengths([4, 7, 2, 5, 3, *([0] if empty else [])], seed)

    def long_batch(self) -> TaggingBatch:
        return self._of_lengths([LONG, 3], 1)

    def _of_lengths(self, lengths: list[int], seed: int) -> TaggingBatch:
        generator = torch.Generator().manual_seed(seed)
        mask = mask_of(lengths)
        symbols = torch.randint(1, self.spec.symbols, mask.shape, generator=generator).masked_fill(~mask, 0)
        again = (symbols[:, :, None] == symbols[:, None]).tril(-1).any(-1) & mask
        return TaggingBatch(symbols, again.long())

    def made(self, tensors: dict[str, Tensor], like: TaggingBatch) -> TaggingBatch:
        return replace(like, **tensors)

    def without_targets(self, batch: TaggingBatch) -> TaggingBatch:
        return replace(batch, tags=None)

    def rows(self, batch: TaggingBatch, kind: str, mask: Tensor) -> Tensor:
        return (batch.symbol_mask[:, :, None] & mask[:, None]).tril(-1)

    def scores(self, output: Output, batch: TaggingBatch) -> Tensor:
        return output.logits.masked_fill(~batch.symbol_mask[..., None], 0.0)

    def loss(self, output: Output, batch: TaggingBatch) -> Tensor:
        assert batch.tags is not None
        return F.cross_entropy(precise(output.logits[batch.symbol_mask]), batch.tags[batch.symbol_mask])


FAMILY = Sequences()

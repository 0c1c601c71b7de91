"""The vectors that a decoder attends to, one for each position of a source of any kind. They are the annotations of
Bahdanau et al. 2015 and the annotation vectors of Xu et al. 2015.

Notation: B examples, S positions of the source of each, M real ones of all, I images, D width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from zoo.layers.packing import Packing


class Annotations(NamedTuple):
    """The vectors, each stored once, so that projections of a vector are computed once: for real tokens and not for
    padding, for an image and not for each of its captions."""

    vectors: Tensor
    """(M, D) of tokens, packed, or (I, S, D) of the cells of images."""
    mask: Tensor
    """(B, S) True at real positions."""
    laid_out: Callable[[Tensor], Tensor]
    """Lays out values computed from the vectors, (M, ...) or (I, S, ...) -> (B, S, ...), zero at padding."""

    @classmethod
    def of_tokens(cls, vectors: Tensor, packing: Packing, mask: Tensor) -> Annotations:
        """The annotations of B sources: vectors (M, D) in the order of `packing`, which packs the `mask` (B, S)."""
        return cls(vectors, mask, packing.unpack)

    @classmethod
    def of_cells(cls, vectors: Tensor, picture: Tensor) -> Annotations:
        """The annotations of I images: vectors (I, S, D) of the cells, and for each of the B examples the row of its
        image, `picture` (B,)."""
        mask = vectors.new_ones(len(picture), vectors.shape[1]).bool()
        return cls(vectors, mask, lambda made: made.index_select(0, picture))

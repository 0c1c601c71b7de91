"""The largest of each group of neighbours (Goodfellow et al. 2013)."""

from __future__ import annotations

from torch import Tensor


def maxout(x: Tensor, pieces: int = 2) -> Tensor:
    """(..., pieces * L) -> (..., L): entry l is the maximum of entries pieces * l, ..., pieces * l + pieces - 1."""
    return x.unflatten(-1, (-1, pieces)).amax(-1)

"""Rows of words that serve many phrases at once: a recurrent network that reads on from a word passes the end of every
phrase that begins there.

Notation: W words, N phrases (ranges of words), P positions that are read.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from zoo.layers.packing import Packing


class Readings(NamedTuple):
    """All phrases from their first word to their last."""

    packing: Packing
    """One row per word; the row of a word is empty if no phrase begins there."""
    word: Tensor
    """(P,) the word that each packed position reads."""
    at: Tensor
    """(N,) the packed position where each phrase ends."""

    @classmethod
    def of(cls, first: Tensor, last: Tensor, words: int, *, backward: bool = False) -> Readings:
        """The readings of phrases from the word `first` (N,) to the word `last` (N,), inclusive, among `words` words.
        With `backward` they are read from their last word to their first. On other devices than the CPU this waits."""
        begin, end = (last, first) if backward else (first, last)
        length = (end - begin).abs() + 1
        longest = torch.zeros(words, dtype=torch.long, device=first.device).scatter_reduce(0, begin, length, "amax")
        steps = torch.arange(int(longest.max()) if words else 0, device=first.device)
        packing = Packing.of(steps < longest[:, None])
        word = packing.row - packing.time if backward else packing.row + packing.time
        position = packing.unpack(torch.arange(len(packing.cell), device=first.device))  # (W, steps)
        return cls(packing, word, position[begin, length - 1])

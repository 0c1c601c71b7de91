"""Rows of words that serve many phrases at once: a recurrent net that reads on from a word has read, on the way, every
phrase that begins there.

Notation: W words, N phrases, each a stretch of them; P positions that are read, R rows, the words at which a phrase
begins.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from zoo.layers.packing import Packing


class Readings(NamedTuple):
    """All phrases from their first word to their last."""

    packing: Packing
    """Its rows are the W words, each of which begins one, empty where no phrase begins."""
    word: Tensor
    """(P,) the word that each packed position reads."""
    at: Tensor
    """(N,) the packed position where each phrase ends."""

    @classmethod
    def of(cls, first: Tensor, last: Tensor, words: int, *, backward: bool = False) -> Readings:
        """Of phrases from the word `first` (N,) to the word `last` (N,), both among them, of `words` in all; with
        `backward` they are read from their last word to their first. A device other than the CPU is waited for."""
        begin, end = (last, first) if backward else (first, last)
        length = (end - begin).abs() + 1
        longest = torch.zeros(words, dtype=torch.long, device=first.device).scatter_reduce(0, begin, length, "amax")
        steps = torch.arange(int(longest.max()) if words else 0, device=first.device)
        packing = Packing.of(steps < longest[:, None])
        word = packing.row - packing.time if backward else packing.row + packing.time
        position = packing.unpack(torch.arange(len(packing.cell), device=first.device))  # (W, steps)
        return cls(packing, word, position[begin, length - 1])

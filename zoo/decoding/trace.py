"""The record of a beam search, step by step, and the way back through it from a hypothesis to its tokens.

A hypothesis is not stored as a whole while searching. After each step it is in one slot of the beam. The step records
three things: the slot that the hypothesis was in before, its new token, and the weights with which that was chosen.

Notation: B examples, B' of them still in the batch at a step, K slots of the beam, N hypotheses to follow back,
T steps, S positions of a memory.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Entry(NamedTuple):
    """The record of one step."""

    rows: Tensor
    """(B',) numbers of the examples."""
    parents: Tensor
    """(B', K) by the slot after the step: the slot before it."""
    tokens: Tensor
    """(B', K) by the slot after the step: the token that was added."""
    attention: dict[str, Tensor]
    """(B', K, S) by the slot before the step: the weights with which the token was chosen, by name."""


class Trace(list[Entry]):
    """The steps in their order: entry t - 1 is the step that wrote token t, the first token being number 1."""

    def back(
        self, position: Tensor, slot: Tensor, finished: Tensor, *, padding: int, end: int | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Tokens (B, N, T) of hypotheses and their attention (B, N, T, S) by name.

        A hypothesis is given by the place where it stopped: before step `position` (B, N) it was in `slot` (B, N). If
        it is `finished` (B, N) it wrote its end in that step, and otherwise nothing.
        """
        shape = (*slot.shape, len(self))
        ids = torch.full(shape, padding, device=slot.device)
        attention = {name: one.new_zeros(*shape, one.shape[-1]) for name, one in self[0].attention.items()}
        slot = slot.clone()
        for number in reversed(range(len(self))):
            rows, parents, tokens, weights = self[number]
            before, last = slot[rows], position[rows] == number + 1
            inside = position[rows] > number + 1
            ends = last & finished[rows]
            written = tokens.gather(1, before).where(inside, padding)
            ids[rows, :, number] = written if end is None else written.masked_fill(ends, end)
            slot[rows] = before = parents.gather(1, before).where(inside, before)
            for name, values in weights.items():
                read = values.gather(1, before[:, :, None].expand(-1, -1, values.shape[-1]))
                attention[name][rows, :, number] = read * (inside | ends)[:, :, None]
        return ids, attention

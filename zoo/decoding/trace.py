"""What each step of a beam search leaves behind, and the way back through it from a hypothesis to its tokens.

A hypothesis is not kept as a whole while searching. It stands in one slot of the beam after each step, and the step
leaves three things of it: the slot that it stood in before, the token that it got, and the weights with which the token
was chosen.

Notation: B examples, B' of them still in the batch at a step, K slots of the beam, N hypotheses to follow back,
T steps, S positions of the memory.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Entry(NamedTuple):
    """What one step leaves."""

    rows: Tensor
    """(B',) numbers of the examples."""
    parents: Tensor
    """(B', K) by the slot after the step: the slot before it."""
    tokens: Tensor
    """(B', K) by the slot after the step: the token that was added."""
    attention: dict[str, Tensor]
    """(B', K, S) by the slot before the step: the weights with which it chose what to add."""


class Trace(list[Entry]):
    """The steps in their order: entry t - 1 is the step that wrote token t, the first token being number 1."""

    def back(
        self, position: Tensor, slot: Tensor, finished: Tensor, *, padding: int, end: int, width: int
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Tokens (B, N, T) of hypotheses and their attention (B, N, T, S = `width`) by name.

        A hypothesis is named by where it stopped: before step `position` (B, N) it stood in `slot` (B, N). In that step
        it wrote its end if the hypotheses of its example are `finished` (B, 1), and otherwise nothing.
        """
        shape = (*slot.shape, len(self))
        ids = torch.full(shape, padding, device=slot.device)
        attention = {name: values.new_zeros(*shape, width) for name, values in self[0].attention.items()}
        slot = slot.clone()
        for number in reversed(range(len(self))):
            rows, parents, tokens, weights = self[number]
            before, last = slot[rows], position[rows] == number + 1
            inside = position[rows] > number + 1
            ends = last & finished[rows]
            ids[rows, :, number] = tokens.gather(1, before).where(inside, padding).masked_fill(ends, end)
            slot[rows] = before = parents.gather(1, before).where(inside, before)
            for name, values in weights.items():
                read = values.gather(1, before[:, :, None].expand(-1, -1, width))
                attention[name][rows, :, number] = read * (inside | ends)[:, :, None]
        return ids, attention

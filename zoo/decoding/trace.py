"""The steps of a beam search, and the way back from a finished hypothesis to its tokens and their attention.

Nothing is copied while searching: a step leaves its tokens, the slot of the beam that each continues, and its weights.

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
    """(B', K) for each live hypothesis after the step the slot, before it, that it continues."""
    tokens: Tensor
    """(B', K) and its last token."""
    attention: dict[str, Tensor]
    """(B', K before the step, S) weights of the hypotheses that were read."""


class Trace(list[Entry]):
    """The steps in their order: that of position t, counted from 1, is entry t - 1."""

    def back(
        self, position: Tensor, slot: Tensor, finished: Tensor, *, padding: int, end: int, width: int
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Tokens (B, N, T) of hypotheses and their attention (B, N, T, `width` = S) by name.

        Each was in `slot` (B, N) before the step of `position` (B, N), where it wrote its end; or, where `finished`
        (B, 1) is False, nothing.
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

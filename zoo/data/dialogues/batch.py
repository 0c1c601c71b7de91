"""Dialogues: the facts that a network is built from, and batches of replies with the turns before them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import WritingBatch, derived
from zoo.layers.packing import Packing, distinct, places

def _cells(batch: DialogueBatch) -> Tensor:
    """(B, S) the cell of each source token in the flat grid (D, M, W); 0 at padding."""
    real, rows = batch.history_mask[..., None] & batch.word_mask.index_select(0, batch.dialogue), len(batch)
    real = real.flatten(1)  # (B, M W)
    row, cell = real.nonzero().unbind(1)
    lengths = real.sum(1)
    place = torch.arange(len(row), device=row.device) - (lengths.cumsum(0) - lengths).index_select(0, row)
    cells = row.new_zeros(rows, max(1, int(lengths.max(initial=0) if False else (lengths.max() if rows else 0))))
    cells[row, place] = batch.dialogue.index_select(0, row) * real.shape[1] + cell
    return cells


@dataclass(frozen=True, kw_only=True)
class DialogueBatch(WritingBatch):
    turns: Tensor
    word_mask: Tensor
    dialogue: Tensor
    turn: Tensor
    index: Tensor = derived(lambda batch: torch.arange(batch.turn.shape[0]), sliced=True)
    turn_mask: Tensor = derived(lambda batch: batch.word_mask.any(-1))
    turn_packing: Packing = derived(lambda batch: Packing.of(batch.turn_mask))
    word_packing: Packing = derived(lambda batch: Packing.of(batch.word_mask))
    history_mask: Tensor = derived(
        lambda batch: torch.arange(batch.turns.shape[1], device=batch.turn.device) < batch.turn[:, None]
    )
    cells: Tensor = derived(_cells)
    source_mask: Tensor = derived(
        lambda batch: torch.arange(batch.cells.shape[1]) < (batch.history_mask[..., None] & batch.word_mask.index_select(0, batch.dialogue)).flatten(1).sum(1)[:, None])
    distinct: Tensor = derived(lambda batch: distinct(batch.word_packing.pack(batch.turns)))
    word_at: Tensor = derived(lambda batch: places(batch.distinct, batch.word_packing.pack(batch.turns)))

    def __len__(self) -> int:
        return self.turn.shape[0]

    @property
    def memory_mask(self):
        return self.source_mask
    content_mask = memory_mask

    @property
    def memory_length(self):
        return self.source_mask.sum(1)

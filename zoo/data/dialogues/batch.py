"""Dialogues: the facts that a network is built from, and batches of replies with the turns before them.

Notation: D dialogues of at most M turns of at most W words, B replies in them, S words before a reply, T words of a
reply.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zoo.data.batch import derived
from zoo.data.copying.batch import CopyBatch, CopySpec
from zoo.data.inputs import Inputs, ids, mask
from zoo.layers.packing import Packing, distinct, places

LARGE = 2**40
"""More than the words of a dialogue."""


@dataclass(frozen=True)
class DialogueSpec(CopySpec):
    """Dialogues whose turns are replies. The words of all turns have one vocabulary."""

    def inputs(self) -> Inputs:
        words = ("batch", "turns", "words")
        given = {"turns": ids(words, self.vocabulary_size), "word_mask": mask(words)}
        return Inputs(DialogueBatch, given, {"begin": self.begin})


@dataclass(frozen=True, kw_only=True)
class DialogueBatch(CopyBatch):
    """B replies to the turns of D dialogues. Each turn is stored once. The source of a reply is all words before it.
    By default there is one reply for each dialogue, after its last turn."""

    turns: Tensor
    """(D, M, W) word ids of the turns that have a reply after them, `unknown` for words that the vocabulary lacks. A
    turn begins with its speaker, if the data know him, and ends with the end token."""
    word_mask: Tensor
    """(D, M, W) True at words; the words of a turn and the turns of a dialogue are prefixes."""
    extended_turns: Tensor = derived(lambda batch: batch.turns, sliced=True)
    """(D, M, W) word ids, in which each unknown word of a dialogue has its own column from V on."""
    dialogue: Tensor = derived(lambda batch: torch.arange(batch.turns.shape[0], device=batch.turns.device), sliced=True)
    """(B,) the row of each reply's dialogue, in ascending order."""
    turn: Tensor = derived(lambda batch: batch.word_mask.any(-1).sum(-1).index_select(0, batch.dialogue), sliced=True)
    """(B,) the number of turns before each reply."""
    source: Tensor = derived(lambda batch: batch.laid_out(batch.turns))
    source_mask: Tensor = derived(lambda batch: batch.laid_out(batch.word_mask))
    extended: Tensor = derived(lambda batch: batch.laid_out(batch.extended_turns))
    sentence: Tensor = derived(lambda batch: batch.laid_out(batch.turn_numbers))
    """(B, S) the number of the turn that each source token is from."""
    turn_mask: Tensor = derived(lambda batch: batch.word_mask.any(-1))
    """(D, M) True at turns."""
    history_mask: Tensor = derived(lambda batch: batch.before)
    """(B, M) True at the turns before each reply."""
    word_packing: Packing = derived(lambda batch: Packing.of(batch.word_mask))
    """Rows are turns: packs (D, M, W)."""
    turn_packing: Packing = derived(lambda batch: Packing.of(batch.turn_mask))
    """Rows are dialogues: packs (D, M)."""
    distinct: Tensor = derived(lambda batch: distinct(batch.word_packing.pack(batch.turns)))
    """(U,) the distinct word ids of the turns, in ascending order."""
    word_at: Tensor = derived(lambda batch: places(batch.distinct, batch.word_packing.pack(batch.turns)))
    """(N,) the row in `distinct` of each packed word."""

    def __post_init__(self) -> None:
        for name in ("extended_turns", "dialogue", "turn"):  # the sources follow from them
            if getattr(self, name) is None:
                object.__setattr__(self, name, type(self).__dataclass_fields__[name].metadata["formula"](self))
        super().__post_init__()

    @property
    def turn_numbers(self) -> Tensor:
        """(D, M, W) the number of the turn of each word."""
        number = torch.arange(self.turns.shape[1], device=self.turns.device)
        return number[:, None].expand(self.turns.shape)

    @property
    def before(self) -> Tensor:
        """(B, M) True at the turns before each reply."""
        return torch.arange(self.turns.shape[1], device=self.turn.device) < self.turn[:, None]

    def laid_out(self, grid: Tensor) -> Tensor:
        """Values (D, M, W, ...) of words -> (B, S, ...) of the words before each reply in sequence, 0 at padding."""
        words = self.word_mask.flatten(1)
        cells = torch.arange(words.shape[1], device=words.device)
        order = (cells - LARGE * words.long()).argsort(dim=1)  # (D, M W) the cells of real words first
        count = (self.word_mask.sum(-1).index_select(0, self.dialogue) * self.before).sum(1)  # (B,)
        most = words.shape[1] if torch.compiler.is_exporting() else max(1, int(count.max())) if len(count) else 1
        first = torch.arange(words.shape[0], device=words.device) * words.shape[1]
        cells = (order[:, :most] + first[:, None]).index_select(0, self.dialogue)  # (B, S)
        real = torch.arange(cells.shape[1], device=cells.device) < count[:, None]
        values = grid.flatten(0, 2).index_select(0, cells.flatten()).view(*cells.shape, *grid.shape[3:])
        kept = real.view(*real.shape, *[1] * (values.dim() - 2))
        return values & kept if values.dtype == torch.bool else values.masked_fill(~kept, 0)  # ONNX fills no booleans

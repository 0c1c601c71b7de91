"""Dialogues and their replies, for `dialogue`."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.families import LONG, MORE, nested_mask
from tests.families.copying import Copies
from zoo.data.dialogues.batch import DialogueBatch, DialogueSpec

TURNS = ("turns", "extended_turns", "word_mask")


class Dialogues(Copies):
    """The sources of `Copies`, cut into turns. The first dialogue has two replies: after its first turn, and its
    last."""

    task_class = "zoo.tasks.dialogue.Dialogue"
    spec = DialogueSpec(vocabulary_size=25, longest_source=LONG, longest_target=12)
    grids: ClassVar[dict[str, str]] = {"target": "target_mask", "copied": "target_mask"}
    singles = ("dialogue", "turn")

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> DialogueBatch:
        base = super().of_sizes([(sizes[0][0], 3), *sizes], seed)
        lengths = [_turns(source) for source, _ in sizes]
        word_mask = nested_mask([[*turns, 0] for turns in lengths])[:, : max(map(len, lengths))]
        grids = {"turns": base.source, "extended_turns": base.extended}
        real = base.source_mask.clone()
        real[0] = False  # the source of the extra reply is the first dialogue
        found: dict[str, Any] = {
            name: torch.zeros(word_mask.shape, dtype=torch.long).masked_scatter(word_mask, grid[real])
            for name, grid in grids.items()
        }
        turn = torch.tensor([1, *map(len, lengths)])
        most = found["extended_turns"][0, 0].amax() + 1  # the extra reply knows only the words of the first turn
        copied = base.copied.clone()
        copied[0] = copied[0].where(copied[0] < most.clamp(min=self.spec.vocabulary_size), self.spec.unknown)
        return DialogueBatch(
            **found,
            word_mask=word_mask,
            dialogue=torch.tensor([0, *range(len(sizes))]),
            turn=turn,
            target=base.target,
            target_mask=base.target_mask,
            copied=copied,
            begin=self.spec.begin,
        )

    def made(self, tensors: dict[str, Tensor], like: Any) -> Any:
        if like is None:
            return super().made(tensors, like)
        kept, tensors["dialogue"] = tensors["dialogue"].unique(return_inverse=True)
        turns = {name: getattr(like, name)[kept] for name in TURNS}
        return DialogueBatch(**turns, **tensors, begin=self.spec.begin)

    def exported(self, batch: DialogueBatch) -> DialogueBatch:
        """A dialogue for each reply, which comes after its last turn."""
        turns = {name: getattr(batch, name)[batch.dialogue] for name in TURNS}
        turns["word_mask"] = turns["word_mask"] & batch.history_mask[..., None]
        return DialogueBatch(**turns, begin=self.spec.begin)

    def padded(self, batch: DialogueBatch) -> DialogueBatch:
        found = super().padded(batch)
        more = {name: F.pad(getattr(batch, name), (0, MORE, 0, MORE)) for name in TURNS}
        return DialogueBatch(**more, **self._tensors(found), begin=self.spec.begin)

    def scribbled(self, batch: DialogueBatch) -> DialogueBatch:
        found = super().scribbled(batch)
        other = {name: getattr(batch, name).masked_fill(~batch.word_mask, 7) for name in TURNS[:2]}
        return DialogueBatch(**other, word_mask=batch.word_mask, **self._tensors(found), begin=self.spec.begin)


def _turns(words: int) -> list[int]:
    """The lengths of the turns of a dialogue of so many words."""
    found = list[int]()
    while words > 0:
        found.append(min(words, max((2, 1, 3)[len(found) % 3], words // 2)))
        words -= found[-1]
    return found


FAMILY = Dialogues()

"""Windows of a stream of tokens, for `language_modeling`."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import log
from typing import Any, ClassVar

import torch
from torch import Tensor

from tests.families import LONG, Writing, mask_of
from zoo.data.language.batch import LanguageSpec, StreamBatch


class Streams(Writing):
    task_class = "zoo.tasks.language_modeling.LanguageModeling"
    spec = LanguageSpec(vocabulary_size=11)
    grids: ClassVar[dict[str, str]] = {"target": "target_mask"}
    singles = ("index",)

    sizes = (5, 1, 6, 3, 4)
    nothing, long = (0,), (LONG, 3)

    def of_sizes(self, lengths: Sequence[int], seed: int) -> StreamBatch:
        """Random tokens, the numbers of tokens of each window given; the first one follows the unknown token."""
        mask, generator = mask_of(lengths), torch.Generator().manual_seed(seed)
        target = torch.randint(1, self.spec.vocabulary_size, mask.shape, generator=generator).masked_fill(~mask, 0)
        return StreamBatch(index=torch.arange(len(lengths)), target=target, target_mask=mask)

    def exported(self, batch: StreamBatch) -> StreamBatch:
        """Each window as a prompt, after the unknown token."""
        first = torch.ones(len(batch), 1, dtype=torch.bool)
        prompt, mask = torch.cat([first.long() - 1, batch.target], 1), torch.cat([first, batch.target_mask], 1)
        return StreamBatch(prompt=prompt, prompt_mask=mask)

    def terms(self, attends: bool) -> dict[str, Any]:
        return {"decoding": {"_target_": "zoo.decoding.Greedy"}}

    def windows(self, batch: StreamBatch, at: int) -> tuple[StreamBatch, StreamBatch]:
        """The first `at` tokens of each row, and the rest of it."""
        names = ("target", "target_mask", "target_input")

        def part(columns: slice) -> StreamBatch:
            return replace(batch, target_packing=None, **{name: getattr(batch, name)[:, columns] for name in names})

        return part(slice(at)), part(slice(at, None))

    def floor(self, batch: StreamBatch) -> float:
        """The least loss of a network that knows each row by heart: several tokens may follow equal beginnings."""
        rows = zip(batch.target.tolist(), batch.target_mask.sum(1).tolist(), strict=True)
        after: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row, length in rows:
            for place in range(length):
                after[tuple(row[:place])][row[place]] += 1
        counts = [(count, sum(found.values())) for found in after.values() for count in found.values()]
        return -sum(count * log(count / total) for count, total in counts) / sum(count for count, _ in counts)

    def readable(self, batch: StreamBatch) -> Tensor:
        return (torch.arange(self.spec.target_size) > 0).expand(len(batch), -1)

    def rows(self, batch: StreamBatch, kind: str, mask: Tensor) -> Tensor:
        return (batch.forced.mask[:, :, None] & mask[:, None]).tril()


FAMILY = Streams()

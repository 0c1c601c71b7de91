"""Pairs of sequences, for `translation`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from torch import Tensor

from tests.families import LONG, Writing, mask_of
from zoo.data.pairs.batch import PairBatch, PairSpec
from zoo.data.pairs.options import PairTextOptions


class Pairs(Writing):
    task_class = "zoo.tasks.Translation"
    objective: ClassVar[dict[str, Any]] = {"_target_": "zoo.objectives.CrossEntropy", "label_smoothing": 0.1}
    penalty: ClassVar[dict[str, Any]] = {
        "coverage": {"_target_": "zoo.objectives.CoverageLoss", "weight": 0.5, "tau": 1.0}
    }
    spec = PairSpec(source_size=25, target_size=30, longest_source=12, longest_target=12)
    grids: ClassVar[dict[str, str]] = {"source": "source_mask", "target": "target_mask"}
    encoder = SimpleNamespace(text_options=PairTextOptions(), languages=("en", "en"))

    sizes, nothing, long = ((5, 6), (2, 1), (7, 3), (1, 2), (4, 7)), ((0, 2),), ((LONG, 4), (3, 2))

    def of_sizes(self, sizes: Sequence[tuple[int, int]], seed: int) -> PairBatch:
        """The smallest source and target hold their end alone, and an empty source not even that."""
        sources, targets = zip(*sizes, strict=True)
        generator = torch.Generator().manual_seed(seed)
        source, source_mask = self._side(sources, self.spec.source_size, generator)
        target, target_mask = self._side(targets, self.spec.target_size, generator)
        return PairBatch(source, source_mask, target=target, target_mask=target_mask, begin=self.spec.begin)

    def _side(self, lengths: Sequence[int], size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        mask = mask_of(lengths)
        ids = torch.randint(4, size, mask.shape, generator=generator)
        ids = torch.where(torch.arange(max(lengths)) == torch.tensor(lengths)[:, None] - 1, self.spec.end, ids)
        return ids.masked_fill(~mask, self.spec.padding), mask


FAMILY = Pairs()

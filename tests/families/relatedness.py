"""Pairs of trees with a score, for `relatedness`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.families.trees import WORDS, TreeFamily, random_trees
from zoo.data.trees.batch import TreePairBatch
from zoo.data.trees.spec import TreePairSpec
from zoo.models.output import Output
from zoo.tasks.relatedness import Relatedness, divergences


class TreePairs(TreeFamily):
    """Pairs of trees with a score, for `relatedness`."""

    spec = TreePairSpec(WORDS, arity=2, binary=True, words_inside=False)

    def batch(self, seed: int, *, empty: bool = True) -> TreePairBatch:
        return self.of_lengths([5, 1, 9, 2, 4, 4, *([0, 3] if empty else [])], seed)

    def of_lengths(self, lengths: Sequence[int], seed: int) -> TreePairBatch:
        score = torch.from_numpy(np.random.default_rng(seed).integers(10, 51, len(lengths) // 2) / 10).float()
        return TreePairBatch(random_trees(lengths, seed), torch.arange(len(score)), score)

    def without_targets(self, batch: TreePairBatch) -> TreePairBatch:
        return replace(batch, score=None)

    def scores(self, output: Output, batch: TreePairBatch) -> Tensor:
        return output.logits

    def loss(self, output: Output, batch: TreePairBatch) -> Tensor:
        assert batch.score is not None
        return divergences(output.logits, batch.score - self.spec.lowest).mean() + sum(output.losses.values())

    def task(self, model: dict[str, Any], *, attends: bool) -> Relatedness:
        return Relatedness(model=model, monitor="val/loss", mode="min")


FAMILY = TreePairs()

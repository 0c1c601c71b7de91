"""Pairs of trees with a score, for `relatedness`."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from tests.families.trees import WORDS, TreeFamily, random_trees
from zoo.data.trees.batch import TreePairBatch, TreePairSpec
from zoo.models.output import Output
from zoo.tasks.relatedness import divergences


class TreePairs(TreeFamily):
    """Pairs of trees with a score, for `relatedness`."""

    task_class = "zoo.tasks.relatedness.Relatedness"
    spec = TreePairSpec(WORDS, arity=2, binary=True, words_inside=False)
    sizes, nothing, targets = (5, 1, 9, 2, 4, 4), (0, 3), ("score",)

    def of_sizes(self, lengths: Sequence[int], seed: int) -> TreePairBatch:
        score = torch.from_numpy(np.random.default_rng(seed).integers(10, 51, len(lengths) // 2) / 10).float()
        return TreePairBatch(random_trees(lengths, seed), torch.arange(len(score)), score)

    def loss(self, output: Output, batch: TreePairBatch) -> Tensor:
        assert batch.score is not None
        return divergences(output.logits, batch.score - self.spec.lowest).mean() + sum(output.losses.values())


FAMILY = TreePairs()

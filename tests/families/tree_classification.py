"""Trees with a class at every node, for `tree_classification`."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from tests.families.trees import WORDS, TreeFamily, random_trees
from zoo.data.trees.batch import NO_LABEL, LabelledTreeSpec, TreeBatch
from zoo.models.output import Output
from zoo.tasks.tree_classification import total_loss


class LabelledTrees(TreeFamily):
    """Trees with a class at every node, for `tree_classification`."""

    task_class = "zoo.tasks.tree_classification.TreeClassification"
    spec = LabelledTreeSpec(
        WORDS, arity=2, binary=True, words_inside=False, classes=("bad", "fair", "good"), polarity=(-1, 0, 1)
    )

    sizes, nothing, targets = (5, 1, 9, 2, 4), (0,), ("label", "evidence")

    def of_sizes(self, lengths: Sequence[int], seed: int) -> TreeBatch:
        """Label leaves by their words and roots at random.

        Other labels could not be memorised, because a word that occurs twice has one vector.
        """
        trees = random_trees(lengths, seed)
        label = torch.full((len(trees.forest),), NO_LABEL)
        root = trees.forest.root
        label[root] = torch.from_numpy(np.random.default_rng(seed).integers(0, self.spec.num_classes, len(root)))
        label[trees.node] = trees.distinct[trees.word_at[trees.word_of]] % self.spec.num_classes
        return TreeBatch(trees, torch.arange(len(lengths)), label, None)

    def scores(self, output: Output, batch: TreeBatch) -> Tensor:
        return batch.trees.forest.cells.unpack(output.logits)

    def loss(self, output: Output, batch: TreeBatch) -> Tensor:
        return total_loss(output.logits, batch) / len(batch) + sum(output.losses.values())


FAMILY = LabelledTrees()

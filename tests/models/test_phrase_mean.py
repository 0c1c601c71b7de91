"""The mean of the words below each node."""

import numpy as np
import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.data.trees.batch import TreeBatch, Trees
from zoo.models import PhraseMean

VARIANTS = [{"pooling": "attention"}]


def test_is_the_mean_of_the_words():
    model = shaken(PhraseMean(FAMILY.spec, hidden_dim=4))

    def state(word, children):
        return [model.embedding.weight[word]] if word is not None else [one for child in children for one in child]

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda words: torch.stack(words).mean(0))


def test_a_gap_counts_as_read():
    # the second word hangs on the third, and the first and the last on the second: "a _ c" of the last is "a b c"
    trees = Trees.of([1, 2, -1, 0], [4], [0, 2, 3, 1], [5, 6, 7, 8], [4])
    model = shaken(PhraseMean(FAMILY.spec, hidden_dim=4))
    logits = model(TreeBatch(trees, torch.arange(1), None, None)).logits
    x = model.embedding.weight[[5, 6, 7, 8]]
    expected = [x[:2].mean(0), x[:3].mean(0), x.mean(0), x[1]]
    found = np.array(trees.by_tree(logits.detach())[0])
    np.testing.assert_allclose(found, model.head.classifier(torch.stack(expected)).detach().numpy(), atol=1e-12)

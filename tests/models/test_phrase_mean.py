"""The mean of the words below each node."""

import numpy as np
import pytest
import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.data.trees.batch import TreeBatch, Trees
from zoo.models import PhraseMean


def test_is_the_mean_of_the_words():
    model = shaken(PhraseMean(FAMILY.spec, hidden_dim=4))

    def state(word, children):
        return [model.embedding.weight[word]] if word is not None else [one for child in children for one in child]

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda words: torch.stack(words).mean(0))


def test_long_sums_keep_the_digits_of_short_phrases():
    """The mean of the last two of ten thousand words, as a difference of sums that are near 10^7."""
    words = 10_000
    # node 0 has all words but two, and a node above the last two
    parent = [-1, *[0] * (words - 2), 0, words - 1, words - 1]
    word = [-1, *range(words - 2), -1, words - 2, words - 1]
    trees = Trees.of(parent, [len(parent)], word, np.full(words, 5), [words])
    model = PhraseMean(FAMILY.spec, hidden_dim=2, dropout=0.0)
    model.embedding.weight.data[5] = torch.tensor([1000.1, 0.1])
    with torch.no_grad():
        model.head.classifier.weight.copy_(torch.eye(3, 2))
        model.head.classifier.bias.zero_()
        found = trees.by_tree(model(TreeBatch(trees, torch.arange(1), None, None)).logits)[0][words - 1]
    assert found[:2] == pytest.approx([1000.1, 0.1], rel=1e-6)


def test_a_gap_counts_as_read():
    # the second word hangs on the third, and the first and the last on the second: "a _ c" of the last is "a b c"
    trees = Trees.of([1, 2, -1, 0], [4], [0, 2, 3, 1], [5, 6, 7, 8], [4])
    model = shaken(PhraseMean(FAMILY.spec, hidden_dim=4))
    logits = model(TreeBatch(trees, torch.arange(1), None, None)).logits
    x = model.embedding.weight[[5, 6, 7, 8]]
    expected = [x[:2].mean(0), x[:3].mean(0), x.mean(0), x[1]]
    found = np.array(trees.by_tree(logits.detach())[0])
    np.testing.assert_allclose(found, model.head.classifier(torch.stack(expected)).detach().numpy(), atol=1e-12)

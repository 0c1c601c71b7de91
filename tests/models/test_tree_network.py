"""The heads of the networks over trees: the score of two trees by hand, classes, and dropout."""

import pytest
import torch

from tests.families.tree_classification import FAMILY
from tests.families.trees import random_trees
from zoo.data.trees.batch import LabelledTreeSpec, TreePairSpec
from zoo.layers.trees.head import NodeClassifier, Similarity
from zoo.models import PhraseMean
from zoo.models.tree_network import tree_head

PAIRS = TreePairSpec(30, arity=2, binary=True, words_inside=False)
LABELLED = LabelledTreeSpec(30, arity=2, binary=True, words_inside=False, classes=("a", "b"))


def head(spec, dropout=0.0):
    torch.manual_seed(0)
    return tree_head(spec, dropout, None, 2, 3).double()


@pytest.mark.parametrize(("pooling", "names"), [("root", set()), ("attention", {"node"})])
def test_pooling_by_attention_returns_its_weights(pooling, names):
    network = PhraseMean(FAMILY.spec, hidden_dim=3, pooling=pooling)
    assert set(network(FAMILY.batch(1)).attention) == names


def test_the_score_of_two_trees_by_hand():
    """Equation 15 of Tai et al. for roots (1, -2, 0.5) and (2, 1, 0.5): products 2, -2, 0.25, distances 1, 3, 0."""
    forest, similarity = random_trees([1, 1], 0).forest, head(PAIRS)
    assert isinstance(similarity, Similarity)
    with torch.no_grad():
        for parameter in similarity.parameters():
            parameter.zero_()
        similarity.product.weight.copy_(torch.tensor([[1.0, 0, 4], [0, 0, 0]]))  # 2 + 1 = 3
        similarity.product.bias.copy_(torch.tensor([-1.0, 0.5]))
        similarity.distance.weight.copy_(torch.tensor([[0, 1.0, 9], [-0.5, 0, 0]]))  # 3 + 0, and -0.5
        similarity.grade.weight[4].copy_(torch.tensor([1.0, 2]))
        similarity.grade.bias[4] = 0.25
    states = torch.tensor([[1.0, -2, 0.5], [2, 1, 0.5]], dtype=torch.double)
    scores, attention = similarity(states, forest)
    h = torch.tensor([3.0 - 1 + 3, 0.5 - 0.5]).double().sigmoid()
    assert attention == {} and scores.shape == (1, 5) and not scores[0, :4].any()
    assert scores[0, 4].item() == pytest.approx((h[0] + 2 * h[1] + 0.25).item())


def test_the_score_is_the_same_in_either_order():
    similarity, forest = head(PAIRS), random_trees([1, 1], 0).forest
    states = torch.randn(2, 3, dtype=torch.double)
    assert torch.equal(similarity(states, forest)[0], similarity(states.flip(0), forest)[0])


@pytest.mark.parametrize("spec", [PAIRS, LABELLED])
def test_states_are_dropped_before_they_are_classified_or_compared(spec):
    forest, model = random_trees([1, 1], 0).forest, head(spec, dropout=1.0).train()
    states = torch.randn(2, 3, dtype=torch.double)
    dropped, nothing = model(states, forest)[0], model(torch.zeros_like(states), forest)[0]
    assert torch.equal(dropped, nothing)
    assert not torch.equal(model.eval()(states, forest)[0], nothing)


def test_a_class_is_a_linear_form_of_a_state():
    model, forest = head(LABELLED), random_trees([2, 1], 0).forest
    assert isinstance(model, NodeClassifier)
    states = torch.randn(len(forest), 3, dtype=torch.double)
    expected = states @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(states, forest)[0], expected)

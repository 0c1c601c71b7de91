"""The recursive network against its equation, a node at a time."""

import pytest
import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.data.trees.batch import LabelledTreeSpec
from zoo.errors import ConfigError
from zoo.models import MVRNN, RNTN, Recursive


@pytest.mark.parametrize("activation", ["tanh", "identity"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_equals_the_equation(activation, quadratic):
    model = shaken(Recursive(FAMILY.spec, hidden_dim=4, activation=activation, quadratic=quadratic))
    weight, bias = model.composition.weight, model.composition.bias

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word]
        v = torch.cat(children)
        total = weight @ v + bias
        if quadratic:
            q, r = model.forms.weight.split(4)
            total = total + (q @ v) * (r @ v)
        return total.tanh() if activation == "tanh" else total

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda h: h)


@pytest.mark.parametrize(("network", "name"), [(Recursive, "recursive"), (MVRNN, "mv_rnn"), (RNTN, "rntn")])
def test_trees_that_are_not_binary_are_refused(network, name):
    wide = LabelledTreeSpec(30, arity=3, binary=False, words_inside=False, classes=("a", "b"))
    with pytest.raises(ConfigError, match=rf"model={name} .* up to 3 children.*data.trees=binarised"):
        network(wide)
    inside = LabelledTreeSpec(30, arity=2, binary=False, words_inside=True, classes=("a", "b"))
    with pytest.raises(ConfigError, match=r"words at nodes that have children: use data\.parse=constituency with"):
        network(inside)
    unary = LabelledTreeSpec(30, arity=2, binary=False, words_inside=False, classes=("a", "b"))
    with pytest.raises(ConfigError, match=r"nodes with one child: use data\.trees=binarised, or"):
        network(unary)

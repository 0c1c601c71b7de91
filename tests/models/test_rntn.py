"""The tensor network against its equation, a node at a time, and against the numbers of its paper."""

import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.models import RNTN


def test_equals_the_equation():
    model = shaken(RNTN(FAMILY.spec, hidden_dim=3))

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word].tanh()
        v = torch.cat(children)
        forms = torch.stack([v @ model.tensor[i] @ v for i in range(3)])
        return (forms + model.composition.weight @ v + model.composition.bias).tanh()

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda h: h)

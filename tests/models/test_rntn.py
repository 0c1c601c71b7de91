"""The tensor network against its equation, a node at a time, and against the numbers of its paper."""

import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.models import RNTN

VARIANTS = [{"pooling": "attention"}]


def test_equals_the_equation():
    model = shaken(RNTN(FAMILY.spec, hidden_dim=3))

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word].tanh()
        v = torch.cat(children)
        forms = torch.stack([v @ model.tensor[i] @ v for i in range(3)])
        return (forms + model.composition.weight @ v + model.composition.bias).tanh()

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda h: h)


def test_parameters_at_the_papers_size():
    model = RNTN(FAMILY.spec, hidden_dim=25)
    assert model.tensor.numel() == 62_500
    assert model.composition.weight.numel() == 1_250


def test_starts_as_the_released_code():
    torch.manual_seed(0)
    model = RNTN(FAMILY.spec, hidden_dim=25)
    for block in model.composition.weight.split(25, 1):
        assert 0.08 < (block - torch.eye(25)).abs().max() <= 0.1
    assert 0.0099 < model.tensor.abs().max() <= 0.01
    assert 0.0009 < model.embedding.weight.abs().max() <= 0.001
    assert 0.18 < model.head.classifier.weight.abs().max() <= 0.2
    assert not model.head.classifier.bias.any() and not model.composition.bias.any()

"""The matrix-vector network against its equations, a node at a time."""

import pytest
import torch

from tests.families.tree_classification import FAMILY
from tests.models.tree_equations import assert_equals_the_definition, shaken
from zoo.models import MVRNN


def word_matrix(model, word):
    row = 0 if word > model.last else word - 1
    if model.rank is None:
        return model.matrix.weight[row].view(model.hidden_dim, -1)
    u, v = model.factors.weight[row].view(2, model.hidden_dim, model.rank)
    return u @ v.T + torch.diag(model.diagonal.weight[row])


@pytest.mark.parametrize("rank", [2, None])
def test_equals_the_equations(rank):
    model = shaken(MVRNN(FAMILY.spec, hidden_dim=3, rank=rank, matrices=12))

    def state(word, children):
        if word is not None:
            return model.embedding.weight[word], word_matrix(model, word)
        (a, A), (b, B) = children
        p = (model.composition.weight @ torch.cat([B @ a, A @ b]) + model.composition.bias).tanh()
        return p, model.of_matrices.weight @ torch.cat([A, B])

    assert_equals_the_definition(model, FAMILY.batch(1), state, lambda h: h[0])


def test_rare_words_share_the_matrix_of_the_unknown_word():
    model = MVRNN(FAMILY.spec, hidden_dim=3, matrices=4)
    rows = model._matrices(torch.tensor([1, 2, 5, 6, 29]))
    assert len(model.diagonal.weight) == 5  # of the ids 1 to 5
    assert torch.equal(rows[0], rows[3]) and torch.equal(rows[0], rows[4])
    assert len({tuple(row.flatten().tolist()) for row in rows[:3]}) == 3

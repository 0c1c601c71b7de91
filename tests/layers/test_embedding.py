"""The embedding of tokens and of distributions over tokens."""

import torch

from zoo.layers.embedding import TokenEmbedding


def test_a_distribution_gives_the_mean_embedding_under_it():
    torch.manual_seed(0)
    embedding = TokenEmbedding(3, 2)
    with torch.no_grad():
        embedding.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
    found = embedding(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]))
    torch.testing.assert_close(found, torch.tensor([[2.5, 3.75], [3.0, 4.0]]))
    assert torch.equal(embedding(torch.tensor([[1], [2]])), embedding.weight[[1, 2], None])


def test_the_padding_row_counts_as_zero_and_gets_no_gradient():
    embedding = TokenEmbedding(4, 2, padding_idx=2)
    probabilities = torch.full((3, 4), 0.25, requires_grad=True)
    ids = torch.tensor([0, 2, 3])
    torch.testing.assert_close(embedding(probabilities)[0], embedding.weight[[0, 1, 3]].mean(0) * 0.75)
    (embedding(probabilities).sum() + embedding(ids).sum()).backward()
    assert (embedding.weight.grad[2] == 0).all()
    assert (embedding.weight.grad[[0, 1, 3]] > 0).all()

"""Scores that a user might write, for `model.score=tests.models.own_scores.NAME`."""

import torch
from torch import nn

from zoo.attention import DotScore, Score


class HiddenDot(DotScore):
    """The product, in a form that the time loops do not support."""

    def form(self, prepared):
        return None


class DoubledDot(DotScore):
    """Inherits the declaration that it is the product, but is not."""

    def many(self, queries, prepared):
        return 2 * super().many(queries, prepared)


class Bilinear(Score):
    """tanh(q)^T W k + b: takes two of the arguments that a score is offered."""

    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(query_dim, key_dim))
        self.bias = nn.Parameter(torch.zeros(()))

    def many(self, queries, prepared):
        return queries.tanh() @ self.weight @ prepared.transpose(-2, -1) + self.bias


class WantsMore(Score):
    """It cannot be built: nobody knows what `flavour` is."""

    def __init__(self, query_dim, flavour):
        super().__init__()

    def many(self, queries, prepared):
        return queries @ prepared.transpose(-2, -1)

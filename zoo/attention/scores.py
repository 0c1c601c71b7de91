"""How well a query fits a key: one class and one equation each.

Notation: D width of a key, A width of the attention layer.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ContextScore(nn.Module):
    """Additive score against one learned query, the context vector: u = tanh(W h + b), score = u . u_w.

    Yang et al. 2016, equations 5-6 and 8-9. The query is a parameter, so a key alone decides its score.
    """

    def __init__(self, key_dim: int, attention_dim: int) -> None:
        super().__init__()
        self.projection = nn.Linear(key_dim, attention_dim)
        self.context = nn.Parameter(torch.empty(attention_dim).uniform_(-1, 1) / attention_dim**0.5)

    def forward(self, keys: Tensor) -> Tensor:
        """(..., D) -> (...)."""
        return self.projection(keys).tanh() @ self.context

"""Cross-entropy per token and perplexity, exact over a corpus: sums over all batches and ranks, divided once."""

from __future__ import annotations

import torch
from torch import Tensor
from torchmetrics import Metric


class TokenLoss(Metric):
    """The mean negative log-likelihood of a token over a corpus, in nats. A mean of batch means is another number."""

    full_state_update = False
    higher_is_better = False
    total: Tensor
    tokens: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.add_state("total", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("tokens", torch.tensor(0.0, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, total: Tensor, tokens: float | Tensor) -> None:
        """`total` () the sum of -log p over `tokens` tokens, without label smoothing, the ends of targets counted."""
        self.total += total.detach()
        self.tokens += tokens

    def compute(self) -> Tensor:
        """The mean; NaN without tokens."""
        return self.total / self.tokens


class Perplexity(TokenLoss):
    """exp of the mean negative log-likelihood per token over a corpus."""

    def compute(self) -> Tensor:
        """The perplexity; NaN without tokens."""
        return super().compute().exp()

"""Which symbols came before? One head of self-attention over what was read.

The authors of attention-zoo. 2026. https://example.org/tiny-tagging

Equations: none of a paper; a_t = softmax_{s < t} of e_t . W e_s, tag_t = C [e_t; sum_s a_ts e_s].

What differs from the paper: there is none.

Notation: B sequences, T symbols, E embedding, C tags.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from tiny_tagging.batch import TaggingBatch
from tiny_tagging.spec import TaggingSpec
from zoo.arguments import Count
from zoo.attention import GeneralScore, masked_softmax
from zoo.models.output import Output


class LooksBack(nn.Module):
    """Tags each symbol by what attention finds among those before it."""

    tasks = ("tagging",)
    attends: ClassVar[dict[str, str]] = {"before": "symbol_mask"}

    def __init__(self, spec: TaggingSpec, *, embedding_dim: Count = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.symbols, embedding_dim, padding_idx=0)
        self.score = GeneralScore(embedding_dim, embedding_dim)
        self.tags = nn.Linear(2 * embedding_dim, len(spec.tags))

    def forward(self, batch: TaggingBatch) -> Output:
        """Scores (B, T, C), attention `before` (B, T, T)."""
        x = self.embedding(batch.symbols)  # (B, T, E)
        weights = masked_softmax(self.score(x, self.score.prepare(x)), earlier(batch))  # (B, T, T)
        context = weights.to(x.dtype) @ x  # (B, T, E)
        return Output(self.tags(torch.cat([x, context], -1)), {"before": weights})


def earlier(batch: TaggingBatch) -> Tensor:
    """(B, T, T) True where a real symbol (row) may look: at those before it (column)."""
    both = batch.symbol_mask[:, :, None] & batch.symbol_mask[:, None]
    return both.tril(-1)

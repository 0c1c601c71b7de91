"""Attention-over-Attention Neural Networks for Reading Comprehension.

Yiming Cui, Zhipeng Chen, Si Wei, Shijin Wang, Ting Liu, Guoping Hu. ACL 2017. https://arxiv.org/abs/1607.04423

Equations: embedding and bidirectional GRUs (1)-(4), pairwise matching (5), attention to the document by each query
word (6)-(7), attention to the query by each document word and its mean (8)-(9), attended attention (10), sum over the
places of a word (11). The N-best re-ranking is in `zoo/reranking`.

What differs from the paper:
- The softmaxes and sums are taken in log space, so that a small P(word) does not become 0. `logits` are
  log P(candidate), without normalising over the candidates: the loss -log P(answer) is `-logits[answer]`.
- `dropout` drops the entries of a word's embedding in all its places of the batch at once.
- The GRU is torch's: bias also inside the reset gate's product.

Notation: B questions, D words of a document, Q of a query, U distinct words of the batch, N real words of documents or
queries, C candidates, E embedding, H units per direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.log_space import masked_log_softmax, masked_logsumexp, pointer_sum
from zoo.data.cloze.batch import ClozeBatch
from zoo.data.cloze.spec import ClozeSpec
from zoo.layers.init import orthogonal_
from zoo.layers.recurrent import GRU
from zoo.models.output import Output
from zoo.precision import precise_dtype

START = 0.05
"""Embeddings start uniformly in [-START, START], as in the paper."""


class AoAReader(nn.Module):
    """Each query word attends to the document, and attention to the query says how much each of them counts."""

    tasks = ("cloze",)
    attends: ClassVar[Mapping[str, str]] = {"document": "document_mask", "query": "query_mask"}

    def __init__(
        self,
        spec: ClozeSpec,
        *,
        embedding_dim: Count = 384,
        hidden_dim: Count = 384,
        dropout: Share = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)
        self.document_encoder = GRU(embedding_dim, hidden_dim, bidirectional=True)
        self.query_encoder = GRU(embedding_dim, hidden_dim, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        nn.init.uniform_(self.embedding.weight, -START, START)
        nn.init.zeros_(self.embedding.weight[spec.padding])
        orthogonal_(self.document_encoder, inputs=True)
        orthogonal_(self.query_encoder, inputs=True)

    def forward(self, batch: ClozeBatch) -> Output:
        """log P(candidate) (B, C); attention `document` (B, D), which P sums up, and `query` (B, Q)."""
        x = self.dropout(self.embedding(batch.distinct))  # (U, E)    (1)
        h, _ = self.document_encoder(x, batch.document_packing, at=batch.document_at)  # (N, 2H)    (2)-(4)
        h_document = batch.document_packing.unpack(h)  # (B, D, 2H)
        h, _ = self.query_encoder(x, batch.query_packing, at=batch.query_at)
        h_query = batch.query_packing.unpack(h)  # (B, Q, 2H)

        matching = h_document @ h_query.transpose(1, 2)  # (B, D, Q)    (5)
        log_query, log_document = attention_over_attention(matching, batch.document_mask, batch.query_mask)
        logits = pointer_sum(log_document, batch.occurrence, batch.candidate_mask.shape[1])  # (B, C)    (11)
        return Output(logits, attention={"document": log_document.exp(), "query": log_query.exp()})


def attention_over_attention(matching: Tensor, document_mask: Tensor, query_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Matching scores (B, D, Q) -> log of the attention to the query (B, Q) and of the attended attention to the
    document (B, D). The weights are 0 at padding, and everywhere where document or query is empty."""
    pairs = document_mask[:, :, None] & query_mask[:, None]  # (B, D, Q)
    words = document_mask.sum(1).clamp(min=1).to(precise_dtype(matching.dtype))  # (B,)
    log_alpha = masked_log_softmax(matching, pairs, 1)  # (B, D, Q), over the document    (6)-(7)
    log_beta = masked_log_softmax(matching, pairs, 2)  # (B, D, Q), over the query    (8)
    log_beta = masked_logsumexp(log_beta - words.log()[:, None, None], pairs, 1)  # (B, Q)    (9)
    log_s = masked_logsumexp(log_alpha + log_beta[:, None], pairs, 2)  # (B, D)    (10)
    return log_beta, log_s

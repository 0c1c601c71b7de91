"""Attention-over-Attention Neural Networks for Reading Comprehension.

Yiming Cui, Zhipeng Chen, Si Wei, Shijin Wang, Ting Liu, Guoping Hu. ACL 2017. https://arxiv.org/abs/1607.04423

Equations: embedding and bidirectional GRUs (1)-(4), pairwise matching (5), attention to the document by each query
word (6)-(7), attention to the query by each document word and its mean (8)-(9), attended attention (10), sum over the
places of a word (11). The N-best re-ranking is in `zoo/reranking`.

What differs from the paper:
- The softmaxes and sums are computed in log space, so that a small P(word) does not become 0. `logits` are
  log P(candidate), not normalised over the candidates: the loss -log P(answer) is `-logits[answer]`.
- `dropout` drops the same entries of a word's embedding wherever the word occurs in the batch.
- The GRU is torch's: it has a bias inside the reset gate's product too.

Notation: B questions, D words of a document, Q of a query, U distinct words of the batch, N real words of documents or
queries, C candidates, E embedding, H units per direction.
"""

from torch import Tensor

from zoo.arguments import Count, Share
from zoo.attention.softmax import masked_log_softmax, masked_logsumexp, pointer_sum
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec
from zoo.models.as_reader import ASReader
from zoo.models.output import Output
from zoo.precision import precise_dtype


class AoAReader(ASReader):
    """Each query word attends to the document; attention to the query weights these attentions."""

    tasks = ("cloze",)
    attends = {"document": "document_mask", "query": "query_mask"}
    init_range = 0.05

    def __init__(
        self, spec: ClozeSpec, *, embedding_dim: Count = 384, hidden_dim: Count = 384, dropout: Share = 0.1
    ) -> None:
        super().__init__(spec, embedding_dim=embedding_dim, hidden_dim=hidden_dim, dropout=dropout)

    def forward(self, batch: ClozeBatch) -> Output:
        """log P(candidate) (B, C); attention `document` (B, D), whose sums are P, and `query` (B, Q)."""
        matching = self.matching(batch)
        log_query, log_document = attention_over_attention(matching, batch.document_mask, batch.query_mask)
        logits = pointer_sum(log_document, batch.occurrence, batch.candidate_mask.shape[1])  # (B, C)    (11)
        return Output(logits, attention={"document": log_document.exp(), "query": log_query.exp()})

    def matching(self, batch: ClozeBatch) -> Tensor:
        """The matching scores (B, D, Q) of the words of the document and of the query."""
        h_document, h, _ = self.encode(batch)  # (B, D, 2H)    (1)-(4)
        h_query = batch.query_packing.unpack(h)  # (B, Q, 2H)
        return h_document @ h_query.transpose(1, 2)  # (B, D, Q)    (5)

    def query_attention(self, batch: ClozeBatch) -> Tensor:
        """(B, Q, D) the attention of each word of the query to the document, before it is weighed; for a picture."""
        pairs = batch.document_mask[:, :, None] & batch.query_mask[:, None]
        return masked_log_softmax(self.matching(batch), pairs, 1).exp().transpose(1, 2)  # (6)-(7)


def attention_over_attention(matching: Tensor, document_mask: Tensor, query_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Matching scores (B, D, Q) -> logs of the attention to the query (B, Q) and of the attended attention (B, D).
    The weights are 0 at padding, and 0 everywhere if the document or the query is empty.
    """
    pairs = document_mask[:, :, None] & query_mask[:, None]  # (B, D, Q)
    words = document_mask.sum(1).clamp(min=1).to(precise_dtype(matching.dtype))  # (B,)
    log_alpha = masked_log_softmax(matching, pairs, 1)  # (B, D, Q), over the document    (6)-(7)
    log_beta = masked_log_softmax(matching, pairs, 2)  # (B, D, Q), over the query    (8)
    log_beta = masked_logsumexp(log_beta - words.log()[:, None, None], pairs, 1)  # (B, Q)    (9)
    log_s = masked_logsumexp(log_alpha + log_beta[:, None], pairs, 2)  # (B, D)    (10)
    return log_beta, log_s

"""Text Understanding with the Attention Sum Reader Network.

Rudolf Kadlec, Martin Schmid, Ondrej Bajgar, Jan Kleindienst. ACL 2016. https://arxiv.org/abs/1603.01547

Equations: attention to the document (1), pointer sum attention (2).

What differs from the paper:
- Softmax and sum are computed in log space, so that a small P(word) does not become 0. `logits` are log P(candidate),
  not normalised over the candidates: the loss -log P(answer) is `-logits[answer]`.
- `dropout` (0 by default, the paper has none) drops the same entries of a word's embedding wherever the word occurs in
  the batch.
- The GRU is torch's: it has a bias inside the reset gate's product too.

Notation: B questions, D words of a document, Q of a query, U distinct words of the batch, N real words of documents, C
candidates, E embedding, H units per direction.
"""

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.attention.softmax import masked_log_softmax, pointer_sum
from zoo.data.cloze.batch import ClozeBatch, ClozeSpec
from zoo.layers.init import orthogonal_, start_uniform_
from zoo.layers.recurrent import GRU
from zoo.models.network import Network
from zoo.models.output import Output


class ASReader(Network):
    """The query, as one vector, attends to the document; the probability of a word sums over all its occurrences.

    The GRUs start with orthogonal matrices.
    """

    tasks = ("cloze",)
    attends = {"document": "document_mask"}
    init_range = 0.1  # Embeddings start uniformly in [-init_range, init_range], as in the paper

    def __init__(
        self, spec: ClozeSpec, *, embedding_dim: Count = 384, hidden_dim: Count = 384, dropout: Share = 0.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)
        self.document_encoder = GRU(embedding_dim, hidden_dim, bidirectional=True)
        self.query_encoder = GRU(embedding_dim, hidden_dim, bidirectional=True)
        self.dropout = nn.Dropout(dropout)
        start_uniform_(self.embedding, self.init_range)
        orthogonal_(self.document_encoder, inputs=True)
        orthogonal_(self.query_encoder, inputs=True)

    def encode(self, batch: ClozeBatch) -> tuple[Tensor, Tensor, Tensor]:
        """States of the document (B, D, 2H), packed states of the query (words, 2H) and its last states (2, B, H)."""
        x = self.dropout(self.embedding(batch.distinct))  # (U, E)
        h, _ = self.document_encoder(x, batch.document_packing, at=batch.document_at)  # (N, 2H)
        h_query, last = self.query_encoder(x, batch.query_packing, at=batch.query_at)
        return batch.document_packing.unpack(h), h_query, last

    def forward(self, batch: ClozeBatch) -> Output:
        """log P(candidate) (B, C); attention `document` (B, D), whose sums are P."""
        h_document, _, ends = self.encode(batch)  # (B, D, 2H), (2, B, H)
        h_query = ends.transpose(0, 1).flatten(1)  # (B, 2H): forward at the last word, backward at the first

        scores = (h_document @ h_query[:, :, None]).squeeze(2)  # (B, D)
        asked = batch.document_mask & batch.query_mask.any(1, keepdim=True)
        log_document = masked_log_softmax(scores, asked)  # (B, D)    (1)
        logits = pointer_sum(log_document, batch.occurrence, batch.candidate_mask.shape[1])  # (B, C)    (2)
        return Output(logits, attention={"document": log_document.exp()})

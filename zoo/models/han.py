"""Hierarchical Attention Networks for Document Classification.

Zichao Yang, Diyi Yang, Chris Dyer, Xiaodong He, Alex Smola, Eduard Hovy. NAACL 2016. https://aclanthology.org/N16-1174

Equations: word encoder and attention (5)-(7), sentence encoder and attention (8)-(10), classifier (11).

What differs from the paper:
- Embeddings start from a normal distribution unless pretrained vectors are given (`data.vectors=`); the
  paper's come from word2vec trained on its own training and validation documents.
- `dropout` (0 by default, the paper names none) drops the same entries of a word's embedding wherever the word occurs,
  and entries of sentence and document vectors.
- The GRU is torch's: it has a bias inside the reset gate's product too. The paper writes r * (U h), without a bias.

Notation: B documents, S sentences, W words, N real words of the batch, E embedding, H units per direction, C
classes.
"""

from torch import nn

from zoo.arguments import Count, Share
from zoo.data.documents.batch import DocumentBatch, DocumentSpec
from zoo.layers.pooling import Pooling, pooling
from zoo.layers.recurrent import GRU
from zoo.models.network import Network
from zoo.models.output import Output


class HAN(Network):
    """Words -> sentence vectors -> document vector, each step by a bidirectional GRU and attention.

    `word_pooling` and `sentence_pooling` = attention | mean | max: the paper's HN-ATT, HN-AVE and HN-MAX.
    """

    tasks = ("classification",)
    attends = {"word": "word_mask", "sentence": "sentence_mask"}

    def __init__(
        self,
        spec: DocumentSpec,
        *,
        embedding_dim: Count = 200,
        word_hidden_dim: Count = 50,
        word_attention_dim: Count = 100,
        word_pooling: Pooling = "attention",
        sentence_hidden_dim: Count = 50,
        sentence_attention_dim: Count = 100,
        sentence_pooling: Pooling = "attention",
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)
        self.word_encoder = GRU(embedding_dim, word_hidden_dim, bidirectional=True)
        self.word_attention = pooling(word_pooling, 2 * word_hidden_dim, word_attention_dim)
        self.sentence_encoder = GRU(2 * word_hidden_dim, sentence_hidden_dim, bidirectional=True)
        self.sentence_attention = pooling(sentence_pooling, 2 * sentence_hidden_dim, sentence_attention_dim)
        self.classifier = nn.Linear(2 * sentence_hidden_dim, spec.num_classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: DocumentBatch) -> Output:
        """Class scores (B, C); attention `word` (B, S, W) within each sentence and `sentence` (B, S)."""
        words, sentences = batch.word_packing, batch.sentence_packing

        x = self.dropout(self.embedding(batch.distinct))  # (distinct words, E)
        h, _ = self.word_encoder(x, words, at=batch.word_at)  # (N, 2H)
        s, word_weights = self.word_attention(h, words)  # (B, S, 2H), (B, S, W)    (5)-(7)

        h, _ = self.sentence_encoder(sentences.pack(self.dropout(s)), sentences)  # (sentences, 2H)
        v, sentence_weights = self.sentence_attention(h, sentences)  # (B, 2H), (B, S)    (8)-(10)

        logits = self.classifier(self.dropout(v))  # (B, C)    (11)
        weights = {"word": word_weights, "sentence": sentence_weights}
        return Output(logits, attention={name: a for name, a in weights.items() if a is not None})

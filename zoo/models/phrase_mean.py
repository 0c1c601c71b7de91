"""The mean of a phrase's word vectors: the simplest baseline of the recursive networks' papers.

Richard Socher, Alex Perelygin, Jean Wu, Jason Chuang, Christopher D. Manning, Andrew Ng, Christopher Potts. EMNLP 2013.
https://aclanthology.org/D13-1170, section 5, where it is called VecAvg.

Equations: h_j is the mean of x_w over the words w that node j covers, and is classified by softmax(W h_j + b), or
compared with that of another tree as the states of a Tree-LSTM are (Tai et al. 2015, equation 15).

What differs from the paper:
- The mean is taken of vectors that start from N(0, 1) and are learned with the classifier; the paper does not say
  whether its are.
- Where a node of a dependency tree covers words with a gap, those in the gap count too.
- `dropout` acts on what is classified.

Notation: N nodes, W words, U distinct ones, D width of a vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch.nn.functional as F
from torch import nn

from zoo.arguments import Count, Share
from zoo.data.trees.batch import TreeBatch, TreePairBatch
from zoo.data.trees.spec import TreeSpec
from zoo.layers.tree_head import TreePooling, tree_head
from zoo.models.output import Output


class PhraseMean(nn.Module):
    """A bag of the words below each node."""

    tasks = ("tree_classification", "relatedness")
    attends: ClassVar[Mapping[str, str]] = {"node": "node_mask"}

    def __init__(
        self,
        spec: TreeSpec,
        *,
        hidden_dim: Count = 300,
        dropout: Share = 0.5,
        pooling: TreePooling = "root",
        attention_dim: Count = 100,
        similarity_dim: Count = 50,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(spec.vocabulary_size, hidden_dim, padding_idx=spec.padding)
        self.head = tree_head(
            spec,
            hidden_dim,
            dropout=dropout,
            pooling=pooling,
            attention_dim=attention_dim,
            similarity_dim=similarity_dim,
        )

    def forward(self, batch: TreeBatch | TreePairBatch) -> Output:
        """Scores of the classes of each node (N, C), or of the grades of each pair (B, G); with pooling=attention the
        weights `node`, (B, M) or (B, 2, M)."""
        trees = batch.trees
        x = self.embedding(trees.distinct)  # (U, D)
        exact = x.float() if x.device.type == "mps" else x.double()  # differences of long sums want the digits
        words = exact.index_select(0, trees.word_at)
        before = F.pad(words.cumsum(0), (0, 0, 1, 0))  # (W + 1, D) the sum of all words before each
        total = before.index_select(0, trees.past) - before.index_select(0, trees.first)  # (N, D)
        h = total / (trees.past - trees.first)[:, None]
        return Output(*self.head(h.to(x.dtype), trees.forest))

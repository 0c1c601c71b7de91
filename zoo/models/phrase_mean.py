"""The mean of a phrase's word vectors: the simplest baseline of the recursive networks' papers.

Richard Socher, Alex Perelygin, Jean Wu, Jason Chuang, Christopher D. Manning, Andrew Ng, Christopher Potts. EMNLP 2013.
https://aclanthology.org/D13-1170, section 5, where it is called VecAvg.

Equations: h_j is the mean of x_w over the words w that node j covers. It is classified by softmax(W h_j + b), or
compared with that of another tree as in a Tree-LSTM (Tai et al. 2015, equation 15).

What differs from the paper:
- The word vectors start from N(0, 1) and are learned with the classifier; the paper does not say whether its are.
- If a node of a dependency tree covers words with a gap, the words in the gap count too.

Notation: N nodes, W words, U distinct ones, D width of a vector.
"""

from typing import Unpack

import torch.nn.functional as F
from torch import Tensor

from zoo.arguments import Count, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.models.tree_network import HeadArguments, TreeNetwork


class PhraseMean(TreeNetwork):
    """Classifies the mean of the word vectors below each node."""

    tasks = ("tree_classification", "relatedness")

    def __init__(
        self, spec: TreeSpec, *, hidden_dim: Count = 300, dropout: Share = 0.5, **head: Unpack[HeadArguments]
    ) -> None:
        super().__init__(spec, hidden_dim, dropout=dropout, **head)
        self.add_head(hidden_dim)

    def states(self, trees: Trees) -> Tensor:
        x = self.embedding(trees.distinct)  # (U, D)
        exact = x.float() if x.device.type == "mps" else x.double()  # differences of long sums need the digits
        words = exact.index_select(0, trees.word_at)
        before = F.pad(words.cumsum(0), (0, 0, 1, 0))  # (W + 1, D) sum of all words before each position
        total = before.index_select(0, trees.past) - before.index_select(0, trees.first)  # (N, D)
        return total / (trees.past - trees.first)[:, None]

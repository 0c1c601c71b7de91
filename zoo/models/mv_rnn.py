"""Semantic Compositionality through Recursive Matrix-Vector Spaces.

Richard Socher, Brody Huval, Christopher D. Manning, Andrew Y. Ng. EMNLP 2012. https://aclanthology.org/D12-1110

Equations: every node has a vector and a matrix. Of children (a, A) and (b, B), each matrix acts on the other's vector,
    p = g(W [B a; A b] + b0),  P = W_M [A; B],
and softmax(W_l p + b_l) at every node (section 2.3). The matrix of a word is a low rank plus a diagonal, A = U V +
diag(a) (section 2.2).

What differs from the paper:
- The `matrices` most frequent words have their own matrix; all others share one.
- `rank=null` gives each of them a full matrix, which starts as the identity plus N(0, 0.01). With a rank, U and V start
  from N(0, 0.1), which gives their product about the same size, and the diagonal starts at 1.
- Both blocks of W and of W_M start as half the identity plus noise, and g is tanh. The bias b0 is not in the paper.
- The paper trains by L-BFGS. Words start from N(0, 1); the paper's are vectors of Collobert and Weston (2008).

Notation: B trees, N nodes, n of them leaves, m of one height, D width of a vector, r rank, U distinct words, C classes.
"""

from typing import Unpack

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.layers.init import start_blocks_
from zoo.layers.loops.climb import Product, climb
from zoo.models.tree_network import HeadArguments, TreeNetwork


class MVRNN(TreeNetwork):
    """A phrase has a vector, its meaning, and a matrix, its effect on other phrases."""

    tasks = ("tree_classification", "relatedness")
    binary_only = True

    def __init__(
        self,
        spec: TreeSpec,
        *,
        hidden_dim: Count = 25,
        rank: Count | None = 3,
        matrices: Count = 5000,
        dropout: Share = 0.0,
        **head: Unpack[HeadArguments],
    ) -> None:
        super().__init__(spec, hidden_dim, dropout=dropout, **head)
        self.hidden_dim, self.rank = hidden_dim, rank
        # Ids rise with falling frequency, the unknown word first: all ids from the last matrix on share it.
        self.shared, own = spec.unknown, min(matrices, max(1, spec.vocabulary_size - spec.unknown - 1))
        self.last = spec.unknown + own
        if rank is None:
            self.matrix = nn.Embedding(own + 1, hidden_dim * hidden_dim)
            identity = torch.eye(hidden_dim).flatten()
            self.matrix.weight.data.normal_(std=0.01).add_(identity)
        else:
            self.factors = nn.Embedding(own + 1, 2 * hidden_dim * rank)  # U and V
            self.diagonal = nn.Embedding(own + 1, hidden_dim)  # a
            nn.init.normal_(self.factors.weight, std=0.1)
            nn.init.ones_(self.diagonal.weight)
        self.composition = nn.Linear(2 * hidden_dim, hidden_dim)  # W, b0
        self.of_matrices = nn.Linear(2 * hidden_dim, hidden_dim, bias=False)  # W_M
        start_blocks_(self.composition, 0.5)
        start_blocks_(self.of_matrices, 0.5)
        self.add_head(hidden_dim)

    def states(self, trees: Trees) -> Tensor:
        d = self.hidden_dim
        words = torch.cat([self.embedding(trees.distinct), self._matrices(trees.distinct).flatten(1)], 1)
        x = words.index_select(0, trees.row)  # (n, D + D D)
        product, product_of_matrices = Product(self.composition.weight), Product(self.of_matrices.weight)

        def compose(children: Tensor) -> Tensor:
            """(m, 2, D + D D) -> (m, D + D D)."""
            vectors, matrices = children.split([d, d * d], 2)
            matrices = matrices.unflatten(2, (d, d))  # A, B
            crossed = torch.matmul(matrices.flip(1), vectors[..., None]).flatten(1)  # [B a; A b]  (m, 2D)
            p = (product(crossed) + self.composition.bias).tanh()
            columns = matrices.flatten(1, 2).transpose(1, 2)  # of [A; B]  (m, D, 2D)
            of_both = product_of_matrices(columns.flatten(0, 1)).view(-1, d, d)  # the columns of P
            return torch.cat([p, of_both.transpose(1, 2).flatten(1)], 1)

        return climb(trees.forest, x, compose)[:, :d]

    def _matrices(self, words: Tensor) -> Tensor:
        """(U, D, D) of word ids (U,)."""
        row = torch.where((words > self.last) | (words < self.shared), self.shared, words) - self.shared
        if self.rank is None:
            return self.matrix(row).unflatten(1, (self.hidden_dim, self.hidden_dim))
        u, v = self.factors(row).unflatten(1, (2, self.hidden_dim, self.rank)).unbind(1)  # (U, D, r)
        return u @ v.transpose(1, 2) + self.diagonal(row).diag_embed()

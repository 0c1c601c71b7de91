"""Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank.

Richard Socher, Alex Perelygin, Jean Wu, Jason Chuang, Christopher D. Manning, Andrew Ng, Christopher Potts. EMNLP 2013.
https://aclanthology.org/D13-1170

Equations: the recursive neural tensor network (section 4.3). With v = [b; c] of two children,
    p_i = tanh(v' V_i v + (W v)_i + b_i),
and at every node, leaves too, softmax(W_s p + b_s).

What differs from the paper:
- As in the released code (Stanford CoreNLP, package sentiment), tanh acts on the vector of a word at the leaf. W and
  W_s have biases, which start at 0.
- Weights start as in the code: both blocks of W as the identity plus U(-1 / 2 sqrt D, 1 / 2 sqrt D), V as
  U(-1 / 4D, 1 / 4D), W_s as U(-1 / sqrt D, 1 / sqrt D), words as U(-`init_range`, `init_range`), in the code 0.001.
  This is an early version of the code; a later one starts words from N(0, 0.1^2) and the bias of W_s from U(0, 1).
- Only the symmetric part of V_i matters; the other half is kept, as in the code.
- `optimizer=adagrad_rntn` has the code's AdaGrad, which resets its sums every epoch, and an L2 weight per parameter
  group.

Notation: B trees, N nodes, n of them leaves, m of one height, D width of a vector, U distinct words, C classes.
"""

from typing import Unpack

import torch
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.layers.init import start_blocks_, start_uniform_
from zoo.layers.loops.climb import Product, climb
from zoo.layers.trees.head import NodeClassifier
from zoo.models.tree_network import HeadArguments, TreeNetwork


class RNTN(TreeNetwork):
    """A tensor of quadratic forms composes a parent from two children."""

    tasks = ("tree_classification", "relatedness")
    binary_only = True

    def __init__(
        self,
        spec: TreeSpec,
        *,
        hidden_dim: Count = 25,
        init_range: Positive = 0.001,
        dropout: Share = 0.0,
        **head: Unpack[HeadArguments],
    ) -> None:
        super().__init__(spec, hidden_dim, dropout=dropout, **head)
        self.tensor = nn.Parameter(torch.empty(hidden_dim, 2 * hidden_dim, 2 * hidden_dim))  # V
        self.composition = nn.Linear(2 * hidden_dim, hidden_dim)  # W, b
        self.add_head(hidden_dim)
        start_blocks_(self.composition, 1.0)
        nn.init.uniform_(self.tensor, -0.25 / hidden_dim, 0.25 / hidden_dim)
        start_uniform_(self.embedding, init_range)
        if isinstance(self.head, NodeClassifier):
            nn.init.uniform_(self.head.classifier.weight, -(hidden_dim**-0.5), hidden_dim**-0.5)
            nn.init.zeros_(self.head.classifier.bias)

    def states(self, trees: Trees) -> Tensor:
        words = self.embedding(trees.distinct).tanh()  # (U, D)
        x = words.index_select(0, trees.row)  # (n, D)
        hidden, width = self.composition.out_features, self.composition.in_features  # D, 2D
        product = Product(torch.cat([self.tensor.flatten(0, 1), self.composition.weight]))  # (2 D D + D, 2D)

        def compose(children: Tensor) -> Tensor:
            """(m, 2, D) -> (m, D)."""
            v = children.flatten(1)  # (m, 2D)
            forms, linear = product(v).split([hidden * width, hidden], 1)
            forms = torch.bmm(forms.view(-1, hidden, width), v[:, :, None])[:, :, 0]  # v' V_i v  (m, D)
            return (forms + linear + self.composition.bias).tanh()

        return climb(trees.forest, x, compose)

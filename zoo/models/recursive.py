"""Parsing Natural Scenes and Natural Language with Recursive Neural Networks.

Richard Socher, Cliff Chiung-Yu Lin, Andrew Y. Ng, Christopher D. Manning. ICML 2011.
https://icml.cc/2011/papers/125_icmlpaper.pdf

Equations: a parent p of two children a and b is p = f(W [a; b] + b0) (section 4), its class softmax(W_l p + b_l).

What differs from the paper:
- The trees are given. The paper finds them with the same network, by the score of each possible parent.
- A leaf is the vector of its word, which starts from N(0, 1) and is learned, as in the baseline that Socher et al.
  (2013) call RNN.
- `activation` = tanh | identity; without a nonlinearity each composition is a fixed linear map. `quadratic` adds a
  quadratic form of v = [a; b] of rank one, (Q v) (R v), to each sum; with matrices of full rank that is model=rntn.
- Both blocks of W start as half the identity plus noise; otherwise deep trees would lose the information of their
  leaves.

Notation: B trees, N nodes, n of them leaves, m of one height, D width of a vector, U distinct words, C classes.
"""

from typing import Literal, Unpack

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.layers.init import start_blocks_
from zoo.layers.loops.climb import Product, climb
from zoo.models.tree_network import HeadArguments, TreeNetwork

Activation = Literal["tanh", "identity"]


class Recursive(TreeNetwork):
    """One matrix composes a parent from two children."""

    tasks = ("tree_classification", "relatedness")
    binary_only = True

    def __init__(
        self,
        spec: TreeSpec,
        *,
        hidden_dim: Count = 25,
        activation: Activation = "tanh",
        quadratic: bool = False,
        dropout: Share = 0.0,
        **head: Unpack[HeadArguments],
    ) -> None:
        super().__init__(spec, hidden_dim, dropout=dropout, **head)
        self.activation = activation
        self.composition = nn.Linear(2 * hidden_dim, hidden_dim)  # W, b0
        self.forms = nn.Linear(2 * hidden_dim, 2 * hidden_dim, bias=False) if quadratic else None  # Q and R
        start_blocks_(self.composition, 0.5)
        self.add_head(hidden_dim)

    def states(self, trees: Trees) -> Tensor:
        x = self.embedding(trees.distinct).index_select(0, trees.row)  # (n, D)
        product = Product(self.composition.weight)
        forms = None if self.forms is None else Product(self.forms.weight)

        def compose(children: Tensor) -> Tensor:
            """(m, 2, D) -> (m, D)."""
            v = children.flatten(1)  # (m, 2D)
            p = product(v) + self.composition.bias
            if forms is not None:
                q, r = forms(v).chunk(2, 1)
                p = p + q * r
            return p.tanh() if self.activation == "tanh" else p

        return climb(trees.forest, x, compose)

"""Parsing Natural Scenes and Natural Language with Recursive Neural Networks.

Richard Socher, Cliff Chiung-Yu Lin, Andrew Y. Ng, Christopher D. Manning. ICML 2011.
https://icml.cc/2011/papers/125_icmlpaper.pdf

Equations: a parent p of two children a and b is p = f(W [a; b] + b0) (section 4), its class softmax(W_l p + b_l).

What differs from the paper:
- The trees are given. The paper finds them by the same network, by the score of each possible parent.
- A leaf is its word's vector, from N(0, 1) and learned with the rest, as in what Socher et al. (2013) compare with as
  RNN.
- `activation` = tanh | identity: a composition without a bend is a fixed linear map at each step. `quadratic` adds to
  each sum a quadratic form of v = [a; b] of rank one, (Q v) (R v); with matrices of full rank that is model=rntn.
- Both blocks of W start as half the identity and noise: deep trees would else lose what their leaves say.
- `pooling` = attention lets all nodes of a tree speak for it; `dropout` acts on what is classified.

Notation: B trees, N nodes, n of them leaves, m of one height, D width of a vector, U distinct words, C classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.trees.batch import TreeBatch, TreePairBatch
from zoo.data.trees.spec import TreeSpec
from zoo.errors import one_of
from zoo.layers.climb import Product, climb
from zoo.layers.init import start_blocks_
from zoo.layers.tree_head import TreePooling, only_binary, tree_head
from zoo.models.output import Output

Activation = Literal["tanh", "identity"]


class Recursive(nn.Module):
    """One matrix makes a parent of two children, all the way up. Raises ConfigError for trees that are not binary."""

    tasks = ("tree_classification", "relatedness")
    attends: ClassVar[Mapping[str, str]] = {"node": "node_mask"}

    def __init__(
        self,
        spec: TreeSpec,
        *,
        hidden_dim: Count = 25,
        activation: Activation = "tanh",
        quadratic: bool = False,
        dropout: Share = 0.0,
        pooling: TreePooling = "root",
        attention_dim: Count = 100,
        similarity_dim: Count = 50,
    ) -> None:
        super().__init__()
        only_binary(spec, "recursive")
        self.activation = one_of("activation", activation, get_args(Activation))
        self.embedding = nn.Embedding(spec.vocabulary_size, hidden_dim, padding_idx=spec.padding)
        self.composition = nn.Linear(2 * hidden_dim, hidden_dim)  # W, b0
        self.forms = nn.Linear(2 * hidden_dim, 2 * hidden_dim, bias=False) if quadratic else None  # Q and R
        start_blocks_(self.composition, 0.5)
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

        h = climb(trees.forest, x, compose)  # (N, D)
        return Output(*self.head(h, trees.forest))

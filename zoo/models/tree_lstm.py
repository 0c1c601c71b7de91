"""Improved Semantic Representations From Tree-Structured Long Short-Term Memory Networks.

Kai Sheng Tai, Richard Socher, Christopher D. Manning. ACL 2015. https://arxiv.org/abs/1503.00075

Equations (C(j) the children of node j, x_j the vector of its word, or 0 where it has none):
- Child-Sum (2)-(8), for children without an order and of any number: h~ = sum of h_k over C(j),
      i, o = sigmoid, u = tanh of W x_j + U h~ + b,  f_jk = sigmoid(W_f x_j + U_f h_k + b_f),
      c_j = i u + sum_k f_jk c_k,  h_j = o tanh(c_j).
- N-ary (9)-(14), for at most N children in order: i, o, u as above with sum_l U_l h_jl in place of U h~,
      f_jk = sigmoid(W_f x_j + sum_l U_kl h_jl + b_f), of which every one sees all children.
- The class of each node (section 4.1) and the score of two trees (15) by `zoo.layers.tree_head`.

What differs from the paper:
- `composition` = n_ary | child_sum; auto takes n_ary for binary trees with words at the leaves (the paper's
  Constituency Tree-LSTM), child_sum for all others (its Dependency Tree-LSTM).
- The released code (github.com/stanfordnlp/treelstm) is not everywhere the equations: a leaf of the binary network has
  c = W_c x + b and h = sigmoid(W_o x + b') tanh(c), without i and u (`leaf` = linear; gated: the equations); without an
  output gate, as in all its runs on SICK, h = tanh(c) (`output_gate`); each gate has two biases, one with each product
  (`biases`). With these the composition has the numbers of parameters that the paper's table 1 gives.
- Weights start by torch's rule for all children together, from U(-1 / sqrt(2H), 1 / sqrt(2H)) for two, where the
  released code has one matrix a child, and biases as 0, but for those of `leaf` = linear, which are torch's.
- Words without children are read by (9)-(14) or (2)-(8) alone: weights that no node of the data can use are not made.
- `pooling` = attention lets all nodes of a tree speak for it, the paper's is root; `dropout` acts on what is
  classified.

Notation: T trees, N nodes, n of them leaves, I = N - n inner nodes, K with a word, U distinct words, E embedding, H
hidden units, G gates that a node has once (i, o, u, or i, u), A children of a node at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.trees.batch import TreeBatch, TreePairBatch, Trees
from zoo.data.trees.spec import TreeSpec
from zoo.errors import one_of
from zoo.layers.child_sum_loop import child_sum_tree_lstm
from zoo.layers.init import start_words_
from zoo.layers.tree_head import TreePooling, tree_head
from zoo.layers.tree_lstm_loop import tree_lstm
from zoo.models.output import Output
from zoo.precision import precise

Composition = Literal["auto", "n_ary", "child_sum"]
Leaf = Literal["gated", "linear"]
Biases = Literal["one", "two"]


class TreeLSTM(nn.Module):
    """An LSTM from the leaves of a tree to its root. Raises ConfigError for names that there are not."""

    tasks = ("tree_classification", "relatedness")
    attends: ClassVar[Mapping[str, str]] = {"node": "node_mask"}

    def __init__(
        self,
        spec: TreeSpec,
        *,
        embedding_dim: Count = 300,
        hidden_dim: Count = 150,
        composition: Composition = "auto",
        leaf: Leaf = "gated",
        output_gate: bool = True,
        biases: Biases = "one",
        dropout: Share = 0.5,
        pooling: TreePooling = "root",
        attention_dim: Count = 100,
        similarity_dim: Count = 50,
        init_range: Positive = 0.05,
    ) -> None:
        super().__init__()
        one_of("leaf", leaf, get_args(Leaf))
        if one_of("composition", composition, get_args(Composition)) == "auto":
            composition = "n_ary" if spec.binary else "child_sum"
        self.n_ary, self.hidden_dim = composition == "n_ary", hidden_dim
        children = max(spec.arity, 1) if self.n_ary else 1  # matrices of the state that a gate has, and forget gates
        once, forget = (2 + output_gate) * hidden_dim, children * hidden_dim
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)
        start_words_(self.embedding, init_range)
        self.words_inside = spec.words_inside
        self.leaf_cell = self.leaf_output = self.word = None
        if self.n_ary and leaf == "linear" and not spec.words_inside:
            self.leaf_cell = nn.Linear(embedding_dim, hidden_dim)  # W_c
            self.leaf_output = nn.Linear(embedding_dim, hidden_dim) if output_gate else None  # W_o
        else:  # W of i, o, u, and where an inner node may have a word, of f
            self.word = nn.Linear(embedding_dim, once + forget * spec.words_inside, bias=False)
        self.state = nn.Linear(forget, once + forget * self.n_ary, bias=False)  # U
        self.forget = None if self.n_ary else nn.Linear(hidden_dim, hidden_dim, bias=False)  # U_f
        count = {"one": 1, "two": 2}[one_of("biases", biases, get_args(Biases))]
        self.bias = nn.Parameter(torch.zeros(count, once + forget))  # b of u, i, o and b_f
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
        x = self.embedding(trees.distinct)  # (U, E)
        h = self._in_order(x, trees) if self.n_ary else self._by_sum(x, trees)  # (N, H)
        return Output(*self.head(h.to(x.dtype), trees.forest))

    def _by_sum(self, x: Tensor, trees: Trees) -> Tensor:
        """(2)-(8): h (N, H) by the vectors of the distinct words (U, E)."""
        assert self.forget is not None
        once, inner = self.state.out_features, slice(trees.forest.leaves, None)
        sums = self._read(x, trees)  # (N, once + H), or (N, once)
        forget = sums[inner, once:] if self.words_inside else self._bias(sums.dtype)[:, once:]
        u, u_f = self.state.weight.to(sums.dtype), self.forget.weight.to(sums.dtype)
        return child_sum_tree_lstm(trees.forest, sums[:, :once], u, forget, u_f)

    def _in_order(self, x: Tensor, trees: Trees) -> Tensor:
        """(9)-(14): h (N, H) by the vectors of the distinct words (U, E)."""
        leaves = trees.forest.leaves
        if self.words_inside:
            sums = self._read(x, trees)  # (N, R)
            states, inner = self._leaves(sums[:leaves]), sums[leaves:]
            at = torch.arange(leaves, device=x.device)
        else:  # a leaf is what its word is
            states = self._released_leaves(x) if self.word is None else self._leaves(self._sums(x))
            inner, at = self._bias(states[0].dtype), trees.row
        return tree_lstm(trees.forest, states, at, inner, self.state.weight.to(inner.dtype))

    def _leaves(self, sums: Tensor) -> tuple[Tensor, Tensor]:
        """h and c of leaves, (L, H) each, by the sums in their gates (L, R)."""
        u, i, *o = sums[:, : self.state.out_features - self.state.in_features].split(self.hidden_dim, 1)
        c = i.sigmoid() * u.tanh()
        return o[0].sigmoid() * c.tanh() if o else c.tanh(), c

    def _released_leaves(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """h and c of leaves, (L, H) each, by the vectors of their words (L, E)."""
        assert self.leaf_cell is not None
        c = precise(self.leaf_cell(x))
        return c.tanh() if self.leaf_output is None else precise(self.leaf_output(x)).sigmoid() * c.tanh(), c

    def _read(self, x: Tensor, trees: Trees) -> Tensor:
        """W x + b of all nodes (N, R), where those without a word have b alone."""
        sums = self._sums(x).index_select(0, trees.row)  # (K, R)
        if len(sums) == len(trees.forest):
            return sums
        bias = self._bias(sums.dtype)[:, : sums.shape[1]]
        return bias.expand(len(trees.forest), -1).index_copy(0, trees.node, sums)

    def _sums(self, x: Tensor) -> Tensor:
        """W x + b of words (U, R), in float32 at least."""
        assert self.word is not None
        bias = self._bias(self.bias.dtype)[0, : self.word.out_features]
        return precise(F.linear(x, self.word.weight, bias))

    def _bias(self, dtype: torch.dtype) -> Tensor:
        """(1, R) b of u, i, o and f."""
        return self.bias.sum(0, keepdim=True).to(dtype)

"""Improved Semantic Representations From Tree-Structured Long Short-Term Memory Networks.

Kai Sheng Tai, Richard Socher, Christopher D. Manning. ACL 2015. https://arxiv.org/abs/1503.00075

Equations (C(j) the children of node j, x_j the vector of its word, or 0 if it has none):
- Child-Sum (2)-(8), for children without an order and of any number: h~ = sum of h_k over C(j),
      i, o = sigmoid, u = tanh of W x_j + U h~ + b,  f_jk = sigmoid(W_f x_j + U_f h_k + b_f),
      c_j = i u + sum_k f_jk c_k,  h_j = o tanh(c_j).
- N-ary (9)-(14), for at most N children in order: i, o, u as above with sum_l U_l h_jl instead of U h~,
      f_jk = sigmoid(W_f x_j + sum_l U_kl h_jl + b_f), where each f_jk reads all children.
- The class of each node (section 4.1) and the score of two trees (15) by `zoo.layers.trees.head`.

What differs from the paper:
- `composition` = n_ary | child_sum | auto. auto chooses n_ary for binary trees with words at the leaves (the paper's
  Constituency Tree-LSTM), child_sum for all others (its Dependency Tree-LSTM).
- The released code (github.com/stanfordnlp/treelstm) differs from the equations, and three keys choose between them.
  `leaf=linear`: a leaf of the binary network has c = W_c x + b and h = sigmoid(W_o x + b') tanh(c), without i and u;
  `gated` is the equations. `output_gate`: without an output gate, as in all its runs on SICK, h = tanh(c). `biases`:
  each gate has two, one with each product. With these the composition has the numbers of parameters that the paper's
  table 1 gives.
- Weights start by torch's rule for all children together, from U(-1 / sqrt(2H), 1 / sqrt(2H)) for two; the released
  code has one matrix per child. Biases start at 0, except those of `leaf=linear`, which start as torch's do.
- Words without children are read by (9)-(14) or (2)-(8) alone. Weights that no node of the data can use are not built.

Notation: T trees, N nodes, n of them leaves, I = N - n inner nodes, K nodes with a word, U distinct words, E embedding,
H hidden units, G gates that a node has once (i, o, u, or i, u), A the most children of a node.
"""

from typing import Literal, Unpack

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from zoo.arguments import Count, Positive, Share
from zoo.data.trees.batch import Trees, TreeSpec
from zoo.layers.init import start_uniform_
from zoo.layers.loops.tree_lstm import ChildSumTreeLSTM, tree_lstm
from zoo.models.tree_network import HeadArguments, TreeNetwork
from zoo.precision import precise

Composition = Literal["auto", "n_ary", "child_sum"]
Leaf = Literal["gated", "linear"]
Biases = Literal["one", "two"]


class TreeLSTM(TreeNetwork):
    """An LSTM from the leaves of a tree to its root."""

    tasks = ("tree_classification", "relatedness")

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
        init_range: Positive = 0.05,
        **head: Unpack[HeadArguments],
    ) -> None:
        super().__init__(spec, embedding_dim, dropout=dropout, **head)
        if composition == "auto":
            composition = "n_ary" if spec.binary else "child_sum"
        self.n_ary, self.hidden_dim = composition == "n_ary", hidden_dim
        children = max(spec.arity, 1) if self.n_ary else 1  # number of state matrices per gate, and of forget gates
        once, forget = (2 + output_gate) * hidden_dim, children * hidden_dim
        start_uniform_(self.embedding, init_range)
        self.words_inside = spec.words_inside
        self.leaf_cell = self.leaf_output = self.word = None
        if self.n_ary and leaf == "linear" and not spec.words_inside:
            self.leaf_cell = nn.Linear(embedding_dim, hidden_dim)  # W_c
            self.leaf_output = nn.Linear(embedding_dim, hidden_dim) if output_gate else None  # W_o
        else:  # W of i, o, u, and of f if an inner node may have a word
            self.word = nn.Linear(embedding_dim, once + forget * spec.words_inside, bias=False)
        self.state = nn.Linear(forget, once + forget * self.n_ary, bias=False)  # U
        self.forget = None if self.n_ary else nn.Linear(hidden_dim, hidden_dim, bias=False)  # U_f
        count = {"one": 1, "two": 2}[biases]
        self.bias = nn.Parameter(torch.zeros(count, once + forget))  # b of u, i, o and b_f
        self.add_head(hidden_dim)

    def states(self, trees: Trees) -> Tensor:
        x = self.embedding(trees.distinct)  # (U, E)
        return self._in_order(x, trees) if self.n_ary else self._by_sum(x, trees)

    def _by_sum(self, x: Tensor, trees: Trees) -> Tensor:
        """(2)-(8): h (N, H) by the vectors of the distinct words (U, E)."""
        assert self.forget is not None
        once, inner = self.state.out_features, slice(trees.forest.leaves, None)
        sums = self._read(x, trees)  # (N, once + H), or (N, once)
        forget = sums[inner, once:] if self.words_inside else self._bias(sums.dtype)[:, once:]
        u, u_f = self.state.weight.to(sums.dtype), self.forget.weight.to(sums.dtype)
        return ChildSumTreeLSTM(trees.forest)(sums[:, :once], u, forget, u_f)

    def _in_order(self, x: Tensor, trees: Trees) -> Tensor:
        """(9)-(14): h (N, H) by the vectors of the distinct words (U, E)."""
        leaves = trees.forest.leaves
        if self.words_inside:
            sums = self._read(x, trees)  # (N, R)
            states, inner = self._leaves(sums[:leaves]), sums[leaves:]
            at = torch.arange(leaves, device=x.device)
        else:  # a leaf is its word's vector
            states = self._released_leaves(x) if self.word is None else self._leaves(self._sums(x))
            inner, at = self._bias(states[0].dtype), trees.row
        return tree_lstm(trees.forest, states, at, inner, self.state.weight.to(inner.dtype))

    def _leaves(self, sums: Tensor) -> tuple[Tensor, Tensor]:
        """h and c of leaves, (L, H) each, from the sums in their gates (L, R)."""
        u, i, *o = sums[:, : self.state.out_features - self.state.in_features].split(self.hidden_dim, 1)
        c = i.sigmoid() * u.tanh()
        return o[0].sigmoid() * c.tanh() if o else c.tanh(), c

    def _released_leaves(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """h and c of leaves, (L, H) each, from the vectors of their words (L, E)."""
        assert self.leaf_cell is not None
        c = precise(self.leaf_cell(x))
        return c.tanh() if self.leaf_output is None else precise(self.leaf_output(x)).sigmoid() * c.tanh(), c

    def _read(self, x: Tensor, trees: Trees) -> Tensor:
        """W x + b of all nodes (N, R); a node without a word has b alone."""
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

"""From the states of all nodes to what is asked of trees: a class of each node, or how much two trees have in common.

Notation: as in `forest`; D width of a state, C classes, B pairs, G grades.
"""

from __future__ import annotations

from typing import Literal, get_args

from torch import Tensor, nn

from zoo.data.trees.spec import LabelledTreeSpec, TreePairSpec, TreeSpec
from zoo.errors import ConfigError, one_of
from zoo.layers.dropout import Dropout
from zoo.layers.forest import Forest
from zoo.layers.pooling import AttentionPooling

TreePooling = Literal["root", "attention"]
"""What stands for a whole tree: the state of its root, or the mean of all its nodes by attention."""

Answer = tuple[Tensor, dict[str, Tensor]]
"""Logits, and attention by its name."""


class NodeClassifier(nn.Module):
    """softmax(W dropout(h) + b) at every node. With attention the class of a root is said by the mean of its tree's
    nodes in place of its own state."""

    def __init__(self, dim: int, classes: int, dropout: float, pooling: AttentionPooling | None) -> None:
        super().__init__()
        self.pooling = pooling
        self.dropout = Dropout(dropout)
        self.classifier = nn.Linear(dim, classes)

    def forward(self, states: Tensor, forest: Forest) -> Answer:
        """(N, D) -> scores (N, C), attention `node` (T, M)."""
        if self.pooling is None:
            return self.classifier(self.dropout(states)), {}
        pooled, weights = self.pooling(states, forest.cells)  # (T, D), (T, M)
        states = states.index_copy(0, forest.root, pooled.index_select(0, forest.planted))
        return self.classifier(self.dropout(states)), {"node": weights}


class Similarity(nn.Module):
    """h_x = h_L h_R, h_+ = |h_L - h_R|, h_s = sigmoid(W_x h_x + W_+ h_+ + b), scores W_p h_s + b of the grades (Tai et
    al. 2015, equation 15)."""

    def __init__(
        self, dim: int, grades: int, hidden_dim: int, dropout: float, pooling: AttentionPooling | None
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.dropout = Dropout(dropout)
        self.product = nn.Linear(dim, hidden_dim)
        self.distance = nn.Linear(dim, hidden_dim, bias=False)
        self.grade = nn.Linear(hidden_dim, grades)

    def forward(self, states: Tensor, forest: Forest) -> Answer:
        """(N, D) of 2 B trees -> scores (B, G), attention `node` (B, 2, M)."""
        attention = {}
        if self.pooling is None:
            of_tree = forest.at_root(states)  # (2B, D)
        else:
            of_tree, weights = self.pooling(states, forest.cells)
            attention["node"] = weights.view(-1, 2, weights.shape[1])
        left, right = self.dropout(of_tree).view(-1, 2, states.shape[1]).unbind(1)  # (B, D)
        h = (self.product(left * right) + self.distance((left - right).abs())).sigmoid()  # (B, hidden)
        return self.grade(h), attention


def tree_head(
    spec: TreeSpec, dim: int, *, dropout: float, pooling: TreePooling, attention_dim: int, similarity_dim: int
) -> NodeClassifier | Similarity:
    """What `spec` asks for. Raises ConfigError for a pooling that there is not."""
    attends = one_of("pooling", pooling, get_args(TreePooling)) == "attention"
    pool = AttentionPooling(dim, attention_dim) if attends else None
    if isinstance(spec, TreePairSpec):
        return Similarity(dim, spec.grades, similarity_dim, dropout, pool)
    assert isinstance(spec, LabelledTreeSpec)
    return NodeClassifier(dim, spec.num_classes, dropout, pool)


def only_binary(spec: TreeSpec, model: str) -> None:
    """Raises ConfigError for trees that a network cannot read which makes one state of two."""
    if spec.binary:
        return
    found = f"nodes with up to {spec.arity} children" if spec.arity > 2 else "nodes with one child"
    advice = "data.trees=binarised"
    if spec.words_inside:
        found, advice = "words at nodes that have children", f"data.parse=constituency with data=sick, else {advice}"
    raise ConfigError(
        f"model={model} makes a state of two others, and of words at leaves alone; these trees have {found}: take "
        f"{advice}, or model=tree_lstm"
    )

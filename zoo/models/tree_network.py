"""Base of the networks over trees: they compute states of all nodes, from which a head answers.

Notation: as in `zoo.layers.trees.forest`; D width of a state, B trees or pairs, C classes, G grades.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, get_args

from torch import Tensor, nn

from zoo.data.trees.batch import TreeBatch, TreePairBatch, Trees
from zoo.data.trees.spec import LabelledTreeSpec, TreePairSpec, TreeSpec
from zoo.errors import ConfigError, one_of
from zoo.layers.pooling import AttentionPooling
from zoo.layers.trees.head import NodeClassifier, Similarity
from zoo.models.output import Output

TreePooling = Literal["root", "attention"]
"""The vector of a whole tree: the state of its root, or the mean of all its nodes by attention."""


class TreeNetwork(nn.Module, ABC):
    """A network that gives each node of a forest a state. Subclasses make the embedding, the head and the states."""

    embedding: nn.Embedding
    head: NodeClassifier | Similarity

    def forward(self, batch: TreeBatch | TreePairBatch) -> Output:
        """Scores of the classes of each node (N, C), or of the grades of each pair (B, G); with pooling=attention the
        weights `node`, (B, M) or (B, 2, M)."""
        states = self.states(batch.trees).to(self.embedding.weight.dtype)
        return Output(*self.head(states, batch.trees.forest))

    @abstractmethod
    def states(self, trees: Trees) -> Tensor:
        """The states (N, D) of all nodes."""


def tree_head(
    spec: TreeSpec, dim: int, dropout: float, pooling: TreePooling, attention_dim: int, similarity_dim: int
) -> NodeClassifier | Similarity:
    """The head that the data need: a class for each node, or a grade for each pair of trees.

    Args:
        spec: The data, trees with labels or pairs of trees.
        dim: D.
        dropout: Share of the numbers dropped from the states that are classified or compared.
        pooling: `root` or `attention`.
        attention_dim: Width inside the attention; unused with `pooling` = root.
        similarity_dim: Hidden units of the similarity; unused without pairs.

    Raises:
        ConfigError: The name of the pooling is unknown.
    """
    attends = one_of("pooling", pooling, get_args(TreePooling)) == "attention"
    pool = AttentionPooling(dim, attention_dim) if attends else None
    if isinstance(spec, TreePairSpec):
        return Similarity(dim, spec.grades, similarity_dim, dropout, pool)
    assert isinstance(spec, LabelledTreeSpec)
    return NodeClassifier(dim, spec.num_classes, dropout, pool)


def only_binary(spec: TreeSpec, model: str) -> None:
    """Raises ConfigError for trees that are not binary, with the option that makes them binary."""
    if spec.binary:
        return
    found = f"nodes with up to {spec.arity} children" if spec.arity > 2 else "nodes with one child"
    advice = "data.trees=binarised"
    if spec.words_inside:
        found, advice = "words at nodes that have children", f"data.parse=constituency with data=sick, else {advice}"
    raise ConfigError(
        f"model={model} needs binary trees with words only at the leaves; these trees have {found}: use "
        f"{advice}, or model=tree_lstm"
    )

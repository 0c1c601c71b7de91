"""Base of the networks over trees: they compute states of all nodes, from which a head answers.

Notation: as in `zoo.layers.trees.forest`; D width of a state, B trees or pairs, C classes, G grades.
"""

from abc import abstractmethod
from functools import partial
from typing import ClassVar, Literal, TypedDict

from torch import Tensor, nn

from zoo.arguments import Count, Share
from zoo.data.trees.batch import LabelledTreeSpec, TreeBatch, TreePairBatch, TreePairSpec, Trees, TreeSpec
from zoo.errors import ConfigError
from zoo.layers.pooling import AttentionPooling
from zoo.layers.trees.head import NodeClassifier, Similarity
from zoo.models.network import Network
from zoo.models.output import Output

TreePooling = Literal["root", "attention"]


class HeadArguments(TypedDict, total=False):
    """The arguments that every network over trees passes on to its head."""

    pooling: TreePooling
    attention_dim: Count
    similarity_dim: Count


class TreeNetwork(Network):
    """A network that gives each node of a forest a state. Subclasses call `add_head` in their constructor.

    `dropout` acts on the states that are classified or compared. `pooling` = root (that of the papers) | attention: the
    state of a tree is that of its root, or the mean of all its nodes by attention. `attention_dim` is the width inside
    the attention, and `similarity_dim` the hidden units for the similarity of two trees. Raises ConfigError if a
    `binary_only` network gets trees that are not binary.
    """

    attends = {"node": "node_mask"}
    binary_only: ClassVar[bool] = False
    """Whether the network needs binary trees with words only at the leaves."""
    not_exported = "computes along trees, and the order of its operations depends on their shape"
    head: NodeClassifier | Similarity

    def __init__(
        self,
        spec: TreeSpec,
        embedding_dim: Count,
        *,
        dropout: Share,
        pooling: TreePooling = "root",
        attention_dim: Count = 100,
        similarity_dim: Count = 50,
    ) -> None:
        super().__init__()
        if self.binary_only:
            _check_binary(spec, type(self).__module__.rpartition(".")[2])
        self.embedding = nn.Embedding(spec.vocabulary_size, embedding_dim, padding_idx=spec.padding)
        attends = pooling == "attention"
        self._head = partial(tree_head, spec, dropout, attention_dim if attends else None, similarity_dim)

    def add_head(self, dim: int) -> None:
        """Add the head, for states of the width `dim`."""
        self.head = self._head(dim)

    def forward(self, batch: TreeBatch | TreePairBatch) -> Output:
        """Scores of the classes of each node (N, C), or of the grades of each pair (B, G); with pooling=attention the
        weights `node`, (B, M) or (B, 2, M)."""
        states = self.states(batch.trees).to(self.embedding.weight.dtype)
        return Output(*self.head(states, batch.trees.forest))

    @abstractmethod
    def states(self, trees: Trees) -> Tensor:
        """The states (N, D) of all nodes."""


def tree_head(
    spec: TreeSpec, dropout: float, attention_dim: int | None, similarity_dim: int, dim: int
) -> NodeClassifier | Similarity:
    """The head that the data need: a class for each node, or a grade for each pair of trees. Without `attention_dim` a
    tree is represented by its root."""
    pool = None if attention_dim is None else AttentionPooling(dim, attention_dim)
    if isinstance(spec, TreePairSpec):
        return Similarity(dim, spec.grades, similarity_dim, dropout, pool)
    assert isinstance(spec, LabelledTreeSpec)
    return NodeClassifier(dim, spec.num_classes, dropout, pool)


def _check_binary(spec: TreeSpec, model: str) -> None:
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

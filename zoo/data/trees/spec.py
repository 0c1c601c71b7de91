"""Facts about trees that a network needs."""

from dataclasses import dataclass

from zoo.data.spec import Spec


@dataclass(frozen=True)
class TreeSpec(Spec):
    """Trees over the words of sentences."""

    vocabulary_size: int
    """Rows of the word embedding, including padding and unknown words."""
    arity: int
    """The most children of a node."""
    binary: bool
    """Whether each node is a word without children, or has two children and no word."""
    words_inside: bool
    """Whether a node with children may have a word, too."""
    padding: int = 0
    unknown: int = 1


@dataclass(frozen=True, kw_only=True)
class LabelledTreeSpec(TreeSpec):
    """Trees with a class at every node, or at some."""

    classes: tuple[str, ...]
    """Names of the classes, in the order of the logits."""
    polarity: tuple[int, ...] = ()
    """-1, 0 or 1 for each class that is negative, neutral or positive; empty for classes of another kind."""
    labels: tuple[tuple[str, str], ...] = ()
    """Each label in brackets with the name of its class; empty if the labels are the names."""

    @property
    def num_classes(self) -> int:
        return len(self.classes)


@dataclass(frozen=True, kw_only=True)
class TreePairSpec(TreeSpec):
    """Pairs of trees with a score between two grades."""

    lowest: int = 1
    highest: int = 5

    @property
    def grades(self) -> int:
        """The number of whole scores."""
        return self.highest - self.lowest + 1

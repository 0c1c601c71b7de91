"""The classes of the nodes of trees, and what the network attended to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from zoo.data.trees.batch import NO_LABEL, LabelledTreeSpec, TreeBatch
from zoo.precision import precise
from zoo.predicting.predicting import Examined, Predicting, Prediction
from zoo.predicting.trees import ReadTree, read_trees


@dataclass(frozen=True)
class TreePrediction(Prediction):
    """The class of one tree and of each of its nodes, and what the network attended to."""

    label: str  # The class of the root
    probabilities: dict[str, float]  # The probability of each class at the root
    tree: ReadTree
    labels: tuple[str, ...]  # The class of each node
    confidence: tuple[float, ...]  # The probability of each node's label
    given: tuple[str | None, ...] | None = None
    """The label of each node in the brackets, None where there was none; None where no node had one."""
    unread: tuple[str, ...] = ()  # Labels in the brackets that are not classes; the other labels are then ignored, too

    @property
    def root(self) -> int:
        """The number of the root node."""
        return self.tree.parent.index(-1)


@dataclass(frozen=True)
class ExaminedTree(Examined):
    """A tree of a split, with its predicted and its true classes."""

    prediction: TreePrediction
    labels: tuple[str | None, ...]  # The true class of each node, None where it has none
    evidence: tuple[bool, ...] | None
    """True at the nodes that determine the class of the root; None where the data do not have them."""


class TreeClassificationPredictions(Predicting):
    """The classes that any network for `tree_classification` gives to the nodes of trees."""

    name = "tree_classification"
    view: ClassVar[str] = "zoo.visualize.tree_classification.TreeClassificationView"
    spec: LabelledTreeSpec

    def predictions(self, batch: TreeBatch, words: list[Any]) -> list[TreePrediction]:
        """The classes of all nodes, beside those that were typed; `words` are the words of each sentence, as shown."""
        output = self.predict_step(batch)
        probabilities = batch.trees.by_tree(precise(output.logits).softmax(-1))
        classes = self.spec.classes
        trees = read_trees(batch, words, self.spec.unknown, output.attention.get("node"))
        typed = [[]] * len(trees) if batch.typed is None else batch.typed
        found = []
        for tree, nodes, labels in zip(trees, probabilities, typed, strict=True):
            best = [max(range(len(row)), key=row.__getitem__) for row in nodes]
            root = tree.parent.index(-1)
            given, unread = classes_of(labels, self.spec)
            found.append(
                TreePrediction(
                    label=classes[best[root]],
                    probabilities=dict(zip(classes, nodes[root], strict=True)),
                    tree=tree,
                    labels=tuple(classes[number] for number in best),
                    confidence=tuple(row[number] for row, number in zip(nodes, best, strict=True)),
                    given=given,
                    unread=unread,
                )
            )
        return found

    def examine(self, batch: TreeBatch) -> list[ExaminedTree]:
        assert batch.text is not None, "a split that is evaluated has the words"
        trees, names = batch.trees, {NO_LABEL: None} | dict(enumerate(self.spec.classes))
        evidence = None if batch.evidence is None else list(map(tuple, trees.by_tree(batch.evidence)))
        label = torch.full_like(trees.first, NO_LABEL) if batch.label is None else batch.label
        labels = [tuple(names[number] for number in numbers) for numbers in trees.by_tree(label)]
        truth = [names[number] for number in label[trees.forest.root].tolist()]
        return self.examined(ExaminedTree, batch, list(batch.text), truth, labels, evidence)


def classes_of(
    labels: Sequence[str | None], spec: LabelledTreeSpec
) -> tuple[tuple[str | None, ...] | None, tuple[str, ...]]:
    """The class of each label of a tree in brackets, or None where no label names one, and the labels that are not
    classes. A blank in a name is written as _. A label without a letter or a digit, such as _, counts as missing unless
    a class has that name."""
    names = {form: name for name in spec.classes for form in (name.replace(" ", "_"), name)} | dict(spec.labels)
    named = [label for label in labels if label in names or any(map(str.isalnum, label or ""))]
    unread = tuple(dict.fromkeys(label for label in named if label is not None and label not in names))
    if unread or not named:
        return None, unread
    return tuple(None if label is None else names.get(label) for label in labels), ()

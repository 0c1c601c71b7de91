"""A class for every node of a tree, and so for the whole sentence and all its phrases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torchmetrics import Metric

from zoo.data.trees.batch import NO_LABEL, LabelledTreeSpec, TreeBatch
from zoo.metrics import AttentionRecall, Share
from zoo.metrics.ratios import PolarAccuracy
from zoo.models.output import Output
from zoo.precision import precise
from zoo.tasks.scoring import Scoring
from zoo.tasks.task import Examined, Prediction
from zoo.tasks.trees import ReadTree, read_trees


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


class TreeClassification(Scoring):
    """Any network whose `logits` (N, C) are scores of the classes of all nodes of a `TreeBatch`, trained by the mean
    over trees of the sum of the cross-entropies of their labelled nodes (Socher et al. 2013; Tai et al. 2015).

    `accuracy_nodes` counts all labelled nodes, `accuracy_roots` only the roots. Where the classes have a polarity,
    `_binary` after either name counts the positive and negative ones, as two classes."""

    name = "tree_classification"
    headline: tuple[str, ...] = ("accuracy_nodes", "accuracy_roots", "accuracy_roots_binary", "attention_recall")
    view: ClassVar[str] = "zoo.visualize.tree_classification.TreeClassificationView"
    monitors: ClassVar = {
        "loss": "min",
        "accuracy_nodes": "max",
        "accuracy_roots": "max",
        "accuracy_nodes_binary": "max",
        "accuracy_roots_binary": "max",
        "attention_recall": "max",
    }
    on_bar: tuple[str, ...] = ("loss", "accuracy_roots")
    spec: LabelledTreeSpec

    def metrics(self) -> dict[str, Metric]:
        polarity, found = self.spec.polarity, super().metrics()
        for part in ("nodes", "roots"):
            found[f"accuracy_{part}"] = Share()
            if any(polarity):
                found[f"accuracy_{part}_binary"] = PolarAccuracy(polarity)
        return found | {name: AttentionRecall() for name in ("attention_recall", "attention_chance")}

    def total_loss(self, output: Output, batch: TreeBatch) -> Tensor:
        return total_loss(output.logits, batch)

    def score(self, stage: str, batch: TreeBatch, output: Output) -> None:
        assert batch.label is not None
        logits, root = precise(output.logits), batch.trees.forest.root
        for part, scores, label in (
            ("nodes", logits, batch.label),
            ("roots", logits.index_select(0, root), batch.label.index_select(0, root)),
        ):
            known = label != NO_LABEL
            scores, label = scores[known], label[known]
            self.record(stage, f"accuracy_{part}", scores.argmax(1) == label)
            if (binary := f"accuracy_{part}_binary") in self.metrics_of(stage):
                self.record(stage, binary, scores, label)
        if "node" in output.attention and batch.evidence is not None:
            evidence = batch.trees.forest.cells.unpack(batch.evidence)
            self.record_recall(stage, "attention", output.attention["node"], evidence, batch.node_mask)

    # predicting

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


def total_loss(logits: Tensor, batch: TreeBatch) -> Tensor:
    """The sum of -log P(class) over all labelled nodes of a batch."""
    assert batch.label is not None
    return F.cross_entropy(precise(logits), batch.label, ignore_index=NO_LABEL, reduction="sum")

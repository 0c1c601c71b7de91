"""The loss and the metrics of labelled trees, worked by hand."""

import math
from dataclasses import replace
from typing import ClassVar

import pytest
import torch
from torch import nn

from tests.families.tree_classification import FAMILY
from tests.tasks.running import figures, logged
from zoo.data.trees.batch import NO_LABEL, LabelledTreeSpec, TreeBatch, Trees
from zoo.models.output import Output
from zoo.predicting.tree_classification import classes_of
from zoo.tasks.tree_classification import TreeClassification, total_loss

FINE = ("very negative", "negative", "neutral", "positive", "very positive")


class Said(nn.Module):
    """Gives every node the same class, and attends to all nodes equally."""

    tasks = ("tree_classification",)
    attends: ClassVar = {"node": "node_mask"}

    def __init__(self, spec, *, says=3):
        super().__init__()
        self.says, self.classes = says, len(spec.classes)
        self.weight = nn.Parameter(torch.zeros(()))

    def forward(self, batch):
        logits = self.weight + torch.zeros(len(batch.trees.forest), self.classes)
        logits[:, self.says] += 1.0
        mask = batch.node_mask
        return Output(logits, {"node": mask / mask.sum(1, keepdim=True)}, {"own": self.weight + 0.25})


def two_trees():
    """(4 (3 a) (2 b)) and (0 c), without the label of the second word of the first tree."""
    trees = Trees.of([-1, 0, 0, -1], [3, 1], [-1, 0, 1, 0], [5, 6, 7], [2, 1])
    label, evidence = trees.in_forest([4, 3, NO_LABEL, 0]), trees.in_forest([True, True, False, True])
    return TreeBatch(trees, torch.arange(2), label, evidence, text=(["a", "b"], ["c"]))


def task(**options):
    found = TreeClassification(
        model={"_target_": "tests.tasks.test_tree_classification.Said", **options}, monitor="val/loss", mode="min"
    )
    found.build(
        LabelledTreeSpec(9, arity=2, binary=True, words_inside=False, classes=FINE, polarity=(-1, -1, 0, 1, 1)), None
    )
    return found


def test_the_loss_sums_over_labelled_nodes():
    batch = two_trees()
    logits = torch.zeros(4, 5)
    assert total_loss(logits, batch).item() == pytest.approx(3 * math.log(5))
    assert total_loss(logits, replace(batch, label=torch.full((4,), NO_LABEL))).item() == 0


def test_what_is_trained_on_is_the_mean_over_trees_and_what_the_network_adds(monkeypatch):
    subject = task(says=3)
    logged(subject, monkeypatch)
    loss = -math.log(math.e / (math.e + 4))
    assert subject.training_step(two_trees(), 0).item() == pytest.approx((loss + 2 * (loss + 1)) / 2 + 0.25)


def test_all_nodes_roots_and_two_classes_each_have_a_name(monkeypatch):
    loss = -math.log(math.e / (math.e + 4))
    assert figures(task(says=3), monkeypatch, two_trees(), stage="val") == pytest.approx(
        {
            "accuracy_nodes": 1 / 3,  # of 4, 3, 0
            "accuracy_roots": 0,
            "accuracy_nodes_binary": 2 / 3,
            "accuracy_roots_binary": 1 / 2,
            "attention_recall": (2 / 3 + 1) / 2,
            "attention_chance": (2 / 3 + 1) / 2,
            "loss": (loss + 2 * (loss + 1)) / 2,
        }
    )


def test_classes_without_a_polarity_have_no_binary_accuracy():
    subject = TreeClassification(model={"_target_": "zoo.models.TreeLSTM"}, monitor="val/loss", mode="min")
    subject.build(replace(FAMILY.spec, polarity=()), None)
    assert set(subject.metrics()) == {
        "loss",
        "accuracy_nodes",
        "accuracy_roots",
        "attention_recall",
        "attention_chance",
    }


@pytest.mark.parametrize(
    ("labels", "given", "unread"),
    [
        (["3", "positive", None], ("positive", "positive", None), ()),
        (["0", "4", "_"], ("negative", "positive", None), ()),
        ([None, "_", "?"], None, ()),
        (["S", "3", "NP"], None, ("S", "NP")),
        (["5", "5", "3"], None, ("5",)),
    ],
)
def test_what_labels_in_brackets_stand_for(labels, given, unread):
    """As in the data, where five labels may stand for three classes; a label of none of them leaves all unread."""
    classes, names = ("negative", "neutral", "positive"), ("negative", "negative", "neutral", "positive", "positive")
    spec = replace(FAMILY.spec, classes=classes, labels=tuple(zip("01234", names, strict=True)))
    assert classes_of(labels, spec) == (given, unread)


def test_classes_that_were_typed_come_with_the_prediction():
    subject, batch = task(says=4), replace(two_trees(), label=None, typed=(["3", "_", "2"], ["NP"]))
    subject.spec = replace(subject.spec, labels=tuple(zip("01234", FINE, strict=True)))
    first, second = subject.eval().predictions(batch, [["a", "b"], ["c"]])
    assert first.given == ("positive", None, "neutral") and second.given is None
    assert first.unread == () and second.unread == ("NP",)


def test_names_of_classes_in_brackets():
    named = replace(FAMILY.spec, classes=("very bad", "+"))
    assert classes_of(["very_bad", "+", "_"], named) == (("very bad", "+", None), ())  # a blank is written as a line


def test_every_node_is_told():
    batch = two_trees()
    first, second = task(says=4).eval().examine(batch)
    assert first.truth == "very positive" and second.truth == "very negative"
    assert first.labels == ("very positive", "positive", None)
    assert first.prediction.labels == ("very positive",) * 3
    assert first.prediction.tree.parent == (-1, 0, 0) and first.prediction.tree.word == (-1, 0, 1)
    assert first.prediction.tree.words == ("a", "b") and first.evidence == (True, True, False)
    assert sum(first.prediction.probabilities.values()) == pytest.approx(1)
    assert first.prediction.confidence[0] == pytest.approx(first.prediction.probabilities["very positive"])
    assert first.prediction.tree.weights == pytest.approx([1 / 3] * 3)

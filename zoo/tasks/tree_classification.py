"""A class for every node of a tree, and so for the whole sentence and all its phrases."""

from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor
from torchmetrics import Metric

from zoo.data.trees.batch import NO_LABEL, TreeBatch
from zoo.metrics import AttentionRecall, Share
from zoo.metrics.ratios import PolarAccuracy
from zoo.models.output import Output
from zoo.precision import precise
from zoo.predicting.tree_classification import TreeClassificationPredictions
from zoo.tasks.scoring import Scoring


class TreeClassification(TreeClassificationPredictions, Scoring):
    """Any network whose `logits` (N, C) are scores of the classes of all nodes of a `TreeBatch`, trained by the mean
    over trees of the sum of the cross-entropies of their labelled nodes (Socher et al. 2013; Tai et al. 2015).

    `accuracy_nodes` counts all labelled nodes, `accuracy_roots` only the roots. Where the classes have a polarity,
    `_binary` after either name counts the positive and negative ones, as two classes."""

    headline: tuple[str, ...] = ("accuracy_nodes", "accuracy_roots", "accuracy_roots_binary", "attention_recall")
    monitors: ClassVar = {
        "loss": "min",
        "accuracy_nodes": "max",
        "accuracy_roots": "max",
        "accuracy_nodes_binary": "max",
        "accuracy_roots_binary": "max",
        "attention_recall": "max",
    }
    on_bar: tuple[str, ...] = ("loss", "accuracy_roots")

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


def total_loss(logits: Tensor, batch: TreeBatch) -> Tensor:
    """The sum of -log P(class) over all labelled nodes of a batch."""
    assert batch.label is not None
    return F.cross_entropy(precise(logits), batch.label, ignore_index=NO_LABEL, reduction="sum")

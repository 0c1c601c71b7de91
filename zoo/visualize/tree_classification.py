"""The view of tree classification: the class of a sentence and of all its phrases, on the tree."""

from argparse import Namespace
from typing import Any

from rich.console import RenderableType

from zoo.data.trees.builder import builds
from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
from zoo.tasks.trees import ReadTree
from zoo.visualize.blocks import Block, Classes, Head
from zoo.visualize.printable import shortened, shown
from zoo.visualize.tree_view import TreeView
from zoo.visualize.trees.drawing import Tree, page_keys
from zoo.visualize.trees.marks import marks

NAMED, LONGEST_LABEL = 4, 60  # Labels that a note names, and letters of one label


class TreeClassificationView(TreeView):
    """Trees, or texts, with a class for each node."""

    typed = '"(_ (_ (_ not) (_ bad)) (_ (_ at) (_ all)))"'
    columns = ("text", "predicted", "probability")
    title = "What the network says of each phrase"

    def try_it(self, data: Any) -> str:
        """Return a text of the data if the training built its trees, since only then plain text is read as well."""
        return super().try_it(data) if builds(data.trees) else self.typed

    def trees(self, prediction: TreePrediction) -> list[ReadTree]:
        return [prediction.tree]

    def row(self, prediction: TreePrediction) -> list[Any]:
        probability = prediction.probabilities.get(prediction.label, 0.0)
        return [shown(" ".join(prediction.tree.words)), prediction.label, round(probability, 4)]

    def terminal(self, prediction: TreePrediction, number: int, options: Namespace) -> RenderableType:
        printed = super().terminal(prediction, number, options)
        names = [shortened(name, LONGEST_LABEL) for name in prediction.probabilities]
        self.report(unread(prediction), f"the classes are {', '.join(names)}")
        return printed

    def blocks(self, prediction: TreePrediction, examined: ExaminedTree | None = None) -> list[Block]:
        name, probabilities, labels, given = prediction.label, prediction.probabilities, prediction.labels, examined
        if given is None and prediction.given is not None:  # a tree that was typed with its classes
            given = ExaminedTree(0, prediction, prediction.given[prediction.root], prediction.given, None)
        true, truth, evidence = (given.labels, given.truth, given.evidence) if given else (None, None, None)
        signs, first = marks(list(probabilities)), (name, truth, *labels, *(true or ()))
        tree = Tree(prediction.tree, labels, prediction.confidence, signs, true, evidence)
        classes = Classes(probabilities, name, marks=signs, first=first, in_one_line=True)
        notes = tuple(filter(None, ["; ".join(self.notes(prediction.tree).values()), unread(prediction)]))
        keys = page_keys([tree], "its class")
        head = Head.compared(name, truth, "class", classes, above="predicted", notes=notes, keys=keys)
        return [head, tree]


def unread(prediction: TreePrediction) -> str:
    """Name labels in the brackets that were not read; empty where all were read."""
    if not prediction.unread:
        return ""
    more = len(prediction.unread) - NAMED
    named = ", ".join(shortened(label, LONGEST_LABEL) for label in prediction.unread[:NAMED])
    others = f" and {more:,} more" if more > 0 else ""
    be = "are not classes" if len(prediction.unread) > 1 else "is not a class"
    return f"the labels in the brackets were not read: {named}{others} {be}"

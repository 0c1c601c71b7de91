"""The view of tree classification: the class of a sentence and of all its phrases, on the tree."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.data.trees.options import builds
from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
from zoo.visualize.blocks import Block, Classes, Head
from zoo.visualize.printable import shortened, shown
from zoo.visualize.tree_view import CHOICE, LIMIT, TreeView
from zoo.visualize.trees.block import Tree
from zoo.visualize.trees.drawing import page_keys
from zoo.visualize.trees.marks import marks

if TYPE_CHECKING:
    from zoo.tasks import Examined

NAMED, LONGEST_LABEL = 4, 60
"""Labels that a note names, and letters of one label."""


class TreeClassificationView(TreeView):
    """Trees, or texts, with a class for each node."""

    typed: ClassVar[str] = '"(_ (_ (_ not) (_ bad)) (_ (_ at) (_ all)))"'
    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability")
    title: ClassVar[str] = "What the network says of each phrase"

    def try_it(self, data: Any) -> str:
        """Return a text of the data if the training built its trees, since only then plain text is read as well."""
        return super().try_it(data) if builds(data.trees) else self.typed

    def row(self, prediction: TreePrediction) -> list[Any]:
        probability = prediction.probabilities.get(prediction.label, 0.0)
        return [shown(" ".join(prediction.tree.words)), prediction.label, round(probability, 4)]

    def terminal(self, prediction: TreePrediction, number: int, options: Namespace) -> RenderableType:
        self.say(self.note(prediction.tree), CHOICE)
        self.say(self.cut(prediction.tree), LIMIT)
        names = [shortened(name, LONGEST_LABEL) for name in prediction.probabilities]
        self.say(unread(prediction), f"the classes are {', '.join(names)}")
        return super().terminal(prediction, number, options)

    def unknown(self, prediction: TreePrediction) -> list[str]:
        return [prediction.tree.words[place] for place in prediction.tree.unknown]

    def blocks(self, prediction: TreePrediction, examined: Examined | None = None) -> list[Block]:
        known = examined if isinstance(examined, ExaminedTree) else labelled(prediction)
        name, classes = prediction.label, marks(list(prediction.probabilities))
        truth = None if known is None else known.truth
        tree = Tree(
            prediction.tree,
            prediction.labels,
            prediction.confidence,
            classes,
            None if known is None else known.labels,
            None if known is None else known.evidence,
        )
        in_tree = [*prediction.labels, *(() if known is None else known.labels)]
        head = Head(
            name,
            prediction.probabilities.get(name, 0.0),
            above="predicted",
            truth=None if truth is None else ("true class", truth),
            right=None if truth is None else truth == name,
            classes=Classes(
                prediction.probabilities, name, marks=classes, first=(name, truth, *in_tree), in_one_line=True
            ),
            notes=tuple(filter(None, [self.notes(prediction.tree), unread(prediction)])),
            data={"label": name},
            keys=page_keys([tree], "its class"),
        )
        return [head, tree]


def labelled(prediction: TreePrediction) -> ExaminedTree | None:
    """Return a tree that was typed with its classes as an examined example; None for other trees."""
    if prediction.given is None:
        return None
    return ExaminedTree(0, prediction, prediction.given[prediction.root], prediction.given, None)


def unread(prediction: TreePrediction) -> str:
    """Say that labels in the brackets were not read; empty where this is not so."""
    if not prediction.unread:
        return ""
    some, more = prediction.unread[:NAMED], len(prediction.unread) - NAMED
    named = ", ".join(shortened(label, LONGEST_LABEL) for label in some)
    others = f" and {more:,} more" if more > 0 else ""
    be = "are not classes" if len(prediction.unread) > 1 else "is not a class"
    return f"the labels in the brackets were not read: {named}{others} {be}"

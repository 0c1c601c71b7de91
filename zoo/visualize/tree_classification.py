"""What the classification of trees shows: the class of a sentence and of all its phrases, on the tree."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
from zoo.visualize import tree_page
from zoo.visualize.printable import shortened, shown
from zoo.visualize.tree_text import TreeText
from zoo.visualize.tree_view import CHOICE, LIMIT, TreeView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined

NAMED, LONGEST_LABEL = 4, 60
"""Labels that are told, and letters of one."""


class TreeClassificationView(TreeView):
    """Trees, or texts, with a class for each node."""

    typed: ClassVar[str] = '"(_ (_ (_ not) (_ bad)) (_ (_ at) (_ all)))"'
    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability")
    title: ClassVar[str] = "What the network says of each phrase"

    def row(self, prediction: TreePrediction) -> list[Any]:
        probability = prediction.probabilities.get(prediction.label, 0.0)
        return [shown(" ".join(prediction.tree.words)), prediction.label, round(probability, 4)]

    def terminal(self, prediction: TreePrediction, number: int, options: Namespace) -> RenderableType:
        self.say(self.note(prediction.tree), CHOICE)
        self.say(self.cut(prediction.tree), LIMIT)
        names = [shortened(name, LONGEST_LABEL) for name in prediction.probabilities]
        self.say(unread(prediction), f"the classes are {', '.join(names)}")
        return TreeText(prediction, labelled(prediction))

    def unknown(self, prediction: TreePrediction) -> list[str]:
        return [prediction.tree.words[place] for place in prediction.tree.unknown]

    def picture(self, prediction: TreePrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.tree_picture import tree_figure

        known = examined if isinstance(examined, ExaminedTree) else labelled(prediction)
        return tree_figure(prediction, known, self.said(prediction))

    def about(self, predictions: Sequence[TreePrediction | None]) -> str:
        return tree_page.about_trees(predictions, self.noun)

    def article(self, prediction: TreePrediction) -> str:
        return tree_page.article(prediction, labelled(prediction), self.said(prediction))

    def said(self, prediction: TreePrediction) -> str:
        """All that has to be said of how the input was read."""
        return "; ".join(filter(None, [self.notes(prediction.tree), unread(prediction)]))


def labelled(prediction: TreePrediction) -> ExaminedTree | None:
    """The prediction of a tree that was typed with its classes, as that of an example; None for another."""
    if prediction.given is None:
        return None
    return ExaminedTree(0, prediction, prediction.given[prediction.root], prediction.given, None)


def unread(prediction: TreePrediction) -> str:
    """That labels in the brackets were not read; empty where this is not so."""
    if not prediction.unread:
        return ""
    some, more = prediction.unread[:NAMED], len(prediction.unread) - NAMED
    named = ", ".join(shortened(label, LONGEST_LABEL) for label in some)
    others = f" and {more:,} more" if more > 0 else ""
    be = "are no classes" if len(prediction.unread) > 1 else "is no class"
    return f"the labels in the brackets were not read: {named}{others} {be}"

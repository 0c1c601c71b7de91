"""What the classification of trees shows: the class of a sentence and of all its phrases, on the tree."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.tasks.tree_classification import ExaminedTree, TreePrediction
from zoo.visualize import tree_page
from zoo.visualize.printable import shown
from zoo.visualize.tree_text import TreeText
from zoo.visualize.tree_view import TreeView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined


class TreeClassificationView(TreeView):
    """Trees, or texts, with a class for each node."""

    typed: ClassVar[str] = '"It was not bad at all."'
    columns: ClassVar[tuple[str, ...]] = ("text", "predicted", "probability")
    title: ClassVar[str] = "What the network says of each phrase"

    def row(self, prediction: TreePrediction) -> list[Any]:
        probability = prediction.probabilities.get(prediction.label, 0.0)
        return [shown(" ".join(prediction.tree.words)), prediction.label, round(probability, 4)]

    def terminal(self, prediction: TreePrediction, number: int, options: Namespace) -> RenderableType:
        self.say(prediction.tree)
        return TreeText(prediction)

    def unknown(self, prediction: TreePrediction) -> list[str]:
        return [prediction.tree.words[place] for place in prediction.tree.unknown]

    def picture(self, prediction: TreePrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.tree_picture import tree_figure

        known = examined if isinstance(examined, ExaminedTree) else None
        return tree_figure(prediction, known, self.note(prediction.tree))

    def about(self, predictions: Sequence[TreePrediction | None]) -> str:
        return tree_page.about_trees(predictions, self.noun)

    def article(self, prediction: TreePrediction) -> str:
        return tree_page.article(prediction, note=self.note(prediction.tree))

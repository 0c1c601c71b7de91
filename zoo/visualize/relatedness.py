"""What relatedness shows: the score of two sentences, and the trees that they were read along."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from zoo.tasks.relatedness import ExaminedPair, RelatednessPrediction
from zoo.visualize import tree_page
from zoo.visualize.printable import shown
from zoo.visualize.tree_text import PairText
from zoo.visualize.tree_view import CHOICE, LIMIT, TreeView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.tasks import Examined

BETWEEN = re.compile(r"\t|(?<!\S)\|\|\|(?!\S)")


class RelatednessView(TreeView):
    """Pairs of sentences with a score."""

    noun: ClassVar[str] = "pair"
    typed: ClassVar[str] = '"the monkey is crying . ||| an ape is weeping ."'
    columns: ClassVar[tuple[str, ...]] = ("first", "second", "score")
    title: ClassVar[str] = "How related the network finds two sentences"

    def parse(self, line: str) -> tuple[str, ...]:
        """Sentences with a tab or ||| between them; whether they are two, the encoder says."""
        return tuple(sentence.strip() for sentence in BETWEEN.split(line))

    def row(self, prediction: RelatednessPrediction) -> list[Any]:
        texts = [shown(" ".join(tree.words)) for tree in (prediction.first, prediction.second)]
        return [*texts, round(prediction.score, 4)]

    def terminal(self, prediction: RelatednessPrediction, number: int, options: Namespace) -> RenderableType:
        self.say(self.note(prediction.first, prediction.second), CHOICE)
        self.say(self.cut(prediction.first, prediction.second), LIMIT)
        return PairText(prediction)

    def unknown(self, prediction: RelatednessPrediction) -> list[str]:
        return [tree.words[place] for tree in (prediction.first, prediction.second) for place in tree.unknown]

    def picture(self, prediction: RelatednessPrediction, examined: Examined | None = None) -> Figure:
        from zoo.visualize.tree_picture import pair_figure

        known = examined if isinstance(examined, ExaminedPair) else None
        return pair_figure(prediction, known, self.notes(prediction.first, prediction.second))

    def about(self, predictions: Sequence[RelatednessPrediction | None]) -> str:
        return tree_page.about_pairs(predictions, self.noun)

    def article(self, prediction: RelatednessPrediction) -> str:
        return tree_page.pair_article(prediction, note=self.notes(prediction.first, prediction.second))

    def examined_columns(self) -> list[str]:
        return ["index", "first", "second", self.truth, "score"]

    def examined_row(self, examined: Examined) -> list[Any]:
        first, second, score = self.row(examined.prediction)
        return [examined.index, first, second, examined.truth or "", score]

"""The part of the views of captions that pictures and clips share."""

from abc import abstractmethod
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from zoo.predicting.captions import ExaminedCaption
from zoo.printable import shown
from zoo.visualize.blocks import Block, Head, ranking
from zoo.visualize.drawing import Key
from zoo.visualize.files import FileView
from zoo.visualize.view import ranked


class CaptionsView(FileView):
    """Pictures or clips with their captions."""

    truth = "captions"
    title = "What the network attended to"
    searches = ("beam", "nbest")

    @abstractmethod
    def seen(self, prediction: Any, words: Sequence[tuple[str, Any, Any]]) -> Block:
        """Return the block that shows the attention of each word: its text, its weights and its true place; the last
        two may be None."""

    def row(self, prediction: Any) -> list[Any]:
        return [shown(prediction.name), shown(prediction.best.text), round(prediction.best.log_prob, 4)]

    def terminal(self, prediction: Any, number: int, options: Namespace) -> str:
        one = "\t".join(self.row(prediction)[:2])
        return one if options.nbest is None else ranked(number, prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: ExaminedCaption) -> list[Any]:
        return [*super().examined_row(examined), {True: "yes", False: "no", None: ""}[examined.true]]

    def blocks(self, prediction: Any, examined: ExaminedCaption | None = None) -> list[Block]:
        best = prediction.best
        true, places, truth = (examined.true, examined.places, examined.truth) if examined else (None, None, None)
        judged = {None: "", True: f"true of the {self.noun}", False: f"not true of the {self.noun}"}[true]
        known = "; ".join(filter(None, [judged, f"the data: {truth}" if truth else ""]))
        head = Head(
            best.text,
            above=prediction.name,
            under=f"log-probability {best.log_prob:.3f}",
            truth=("", known) if known else None,
            right=true,
            data={"caption": best.text, self.noun: prediction.name},
        )
        nothing = [None] * len(best.words)
        words = list(zip(best.words, best.attention or nothing, places or nothing, strict=False))
        ranks = Key(long=f"Below {self._a_noun} are all its captions with the score they were ranked by.")
        return [head, self.seen(prediction, words), *ranking(prediction.captions, ranks)]

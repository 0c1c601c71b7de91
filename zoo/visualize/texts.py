"""The view of texts that are written from a text: the text, its source, and the place of each copied word."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from zoo.predicting.texts import ExaminedText, TextPrediction
from zoo.printable import shown
from zoo.visualize.blocks import UNKNOWN, Block, Grid, Head, ranking
from zoo.visualize.copies import COPIED, Copies
from zoo.visualize.drawing import Key
from zoo.visualize.view import AttentionMap, View, beginning, ranked

CELLS = Key(
    long="In a grid each row is a token that was written, each column a token of the source. The colour of a cell is "
    "its attention; point at it for the number."
)


class TextView(View):
    """Sources with what was written from them. A subclass names both in `columns`."""

    columns = ("source", "written", "log-probability")
    truth = "reference"
    title = "What was written, and from where"
    needs = ("source", "model=pointer_generator")
    searches = ("beam", "nbest")
    axes: ClassVar[tuple[str, str]] = ("written tokens", "source tokens")

    def row(self, prediction: TextPrediction) -> list[Any]:
        best = prediction.best
        return [shown(" ".join(prediction.source)), shown(best.text), round(best.log_prob, 4)]

    def terminal(self, prediction: TextPrediction, number: int, options: Namespace) -> str:
        return shown(prediction.best.text) if options.nbest is None else ranked(number, prediction.written)

    def unknown(self, prediction: TextPrediction) -> list[str]:
        return [prediction.source[at] for at in prediction.unknown]

    def example(self, example: Mapping[str, Any]) -> str | None:
        given = example.get(self.noun)
        return beginning(given) if isinstance(given, str) else None

    def blocks(self, prediction: TextPrediction, examined: ExaminedText | None = None) -> list[Block]:
        best = prediction.best
        truth = None if examined is None or examined.truth is None else ("reference", examined.truth)
        blocks: list[Block] = [Head(best.text, under=f"log-probability {best.log_prob:.3f}", truth=truth)]
        places: tuple[int | None, ...] = ()
        if best.copied is not None:
            words, places = best.tokens[: len(best.tokens) - best.finished], best.copied.place
            texts = [[word for word, _ in group] for _, group in groupby(_numbered(prediction), itemgetter(1))]
            blocks.append(Copies(words, best.copied.generate, places[: len(words)], texts, keys=(COPIED,)))
        if best.attention is not None:
            unknown = set(self.unknown(prediction))
            keys = (CELLS, *[UNKNOWN] * bool(unknown))
            copied = {(row, at) for row, at in enumerate(places) if at is not None}
            blocks.append(
                Grid(
                    best.tokens,
                    prediction.source,
                    best.attention,
                    strongest=copied,
                    unknown=unknown,
                    axes=self.axes,
                    keys=keys,
                )
            )
        return [*blocks, *ranking(prediction.written)]

    def maps(self, predictor: Any, given: Any, prediction: TextPrediction) -> list[AttentionMap]:
        _, found = predictor.task.whole_attention(predictor.encoder([given]))
        written = prediction.best.tokens
        names = [name for name in ("source",) if name in found]
        return [AttentionMap(" and ".join(self.axes), found[name], written, prediction.source) for name in names]


def _numbered(prediction: TextPrediction) -> Iterator[tuple[str, int]]:
    """The source tokens with the numbers of their texts."""
    return zip(prediction.source, prediction.sentence, strict=True)

"""The view of tagging: one row per symbol, with its attention."""

from typing import Any, ClassVar

from matplotlib.figure import Figure

from tiny_tagging.task import TaggedSequence
from zoo.tasks import Examined
from zoo.visualize.view import View


class TaggingView(View):
    """Sequences with a tag for each symbol."""

    noun: ClassVar[str] = "sequence"
    columns: ClassVar[tuple[str, ...]] = ("symbols", "tags")

    def row(self, prediction: TaggedSequence) -> list[Any]:
        return [" ".join(prediction.symbols), " ".join(prediction.tags)]

    def picture(self, prediction: TaggedSequence, examined: Examined | None = None) -> Figure:
        figure = Figure(figsize=(3, 3))
        axes = figure.add_subplot()
        axes.imshow(prediction.attention, cmap="Blues", vmin=0, vmax=1)
        places = range(len(prediction.symbols))
        axes.set_xticks(places, prediction.symbols)
        axes.set_yticks(places, [" ".join(pair) for pair in zip(prediction.symbols, prediction.tags, strict=True)])
        return figure

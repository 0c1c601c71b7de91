"""Shows the tones of a sound, and a heat map for each attention, as wide as its memory."""

from typing import Any, ClassVar

from matplotlib.figure import Figure

from tiny_listening.task import HeardSound
from zoo.tasks import Examined
from zoo.visualize.view import View


class ListeningView(View):
    """Sounds with the tones that were heard."""

    noun: ClassVar[str] = "sound"
    columns: ClassVar[tuple[str, ...]] = ("sound", "tones")

    def row(self, prediction: HeardSound) -> list[Any]:
        return [prediction.sound, prediction.tones]

    def picture(self, prediction: HeardSound, examined: Examined | None = None) -> Figure:
        figure = Figure(figsize=(5, 2 * len(prediction.attention)), layout="constrained")
        for number, (name, weights) in enumerate(prediction.attention.items(), 1):
            axes = figure.add_subplot(len(prediction.attention), 1, number)
            axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(name)
            axes.set_yticks(range(len(weights)), [*prediction.tones, "end"][: len(weights)])
            share = len(prediction.sound) / len(weights[0])  # frames per column
            axes.set_xticks(range(len(weights[0])), [prediction.sound[int(share * s)] for s in range(len(weights[0]))])
        return figure

"""A caption as a picture: the image once for each word, bright where the network looked when it wrote the word."""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image

from zoo.visualize.captioning_light import lit
from zoo.visualize.drawing import DPI, FAINT, INK, ORANGE, RIGHT, SOFT, WRONG
from zoo.visualize.fonts import families
from zoo.visualize.printable import shortened

if TYPE_CHECKING:
    from zoo.tasks.captioning import CaptionPrediction, ExaminedCaption

AREA, GAP, MARGIN, HEAD, FOOT, WORD = 2.6, 0.1, 0.2, 0.52, 0.3, 0.26
"""Inches: the area of a picture (square inches), what is between two, the edge, what is above and below all pictures,
what is above each."""
WIDEST = 10.0
"""Inches of a row of pictures."""
LONGEST_WORD, MOST_WORDS = 18, 40
SHARPEST = 320
"""Pixels of the longer side of what is drawn: more cannot be seen."""
LETTER = 0.078
"""Inches a letter of the head takes."""


def caption_figure(prediction: CaptionPrediction, examined: ExaminedCaption | None = None) -> Figure:
    """The image, and once more for each word of the best caption, the brighter at a place the more the network looked
    there; the largest weight of a cell, where it is brightest, stands beside the word. In an examined example the
    object that a word names is framed, and what the data say of the image stands above.

    At most MOST_WORDS words are shown. No pyplot, so drawing needs no display and leaves no state behind. Raises
    ValueError where there is no attention.
    """
    best = prediction.best
    if best.attention is None:
        raise ValueError("this network has no attention to draw")
    words = best.words[:MOST_WORDS]
    pixels = _pixels(prediction)
    high, wide = pixels.shape[:2]
    tall, broad = (AREA * high / wide) ** 0.5, (AREA * wide / high) ** 0.5
    columns = max(1, min(len(words) + 1, int((WIDEST + GAP) / (broad + GAP))))
    rows = ceil((len(words) + 1) / columns)
    width = max(2 * MARGIN + columns * (broad + GAP) - GAP, 4.0)
    height = HEAD + rows * (WORD + tall) + FOOT
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    fonts = list(families([best.text, *words, *([examined.truth or ""] if examined else [])]))
    for number, word in enumerate([None, *words]):
        row, column = divmod(number, columns)
        left, bottom = MARGIN + column * (broad + GAP), height - HEAD - (row + 1) * (WORD + tall)
        axes = figure.add_axes((left / width, bottom / height, broad / width, tall / height))
        weights = None if word is None else best.attention[number - 1]
        _draw(axes, pixels if weights is None else lit(pixels, weights, prediction.grid))
        if word is not None and weights is not None:
            box = examined.boxes[number - 1] if examined and examined.boxes else None
            _frame(axes, box, (high, wide))
            title = shortened(word, LONGEST_WORD)
            said = axes.set_title(title, loc="left", fontsize=9, color=INK, pad=3, fontfamily=fonts)
            said.set_parse_math(False)
            axes.set_title(f"{max(weights):.2f}", loc="right", fontsize=7, color=SOFT, pad=3)
    _head(figure, prediction, examined, fonts)
    notes = ["bright: looked at; beside a word its largest weight"]
    if examined and any(examined.boxes or ()):
        notes.append("orange: the object that the word names")
    if len(best.words) > MOST_WORDS:
        notes.append(f"cut to {MOST_WORDS} words")
    figure.text(MARGIN / width, 0.1 / height, "; ".join(notes), fontsize=7, color=SOFT)
    return figure


def _pixels(prediction: CaptionPrediction) -> NDArray[np.uint8]:
    """(H, W, 3) of the picture, enlarged where it is smaller than what is drawn of it; white where it is not known."""
    if prediction.picture.png is None:
        rows, columns = prediction.grid
        return np.full((rows * 16, columns * 16, 3), 255, np.uint8)
    image = Image.open(io.BytesIO(prediction.picture.png)).convert("RGB")
    scale = SHARPEST / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return np.asarray(image.resize(size, Image.Resampling.NEAREST if scale > 3 else Image.Resampling.LANCZOS))


def _draw(axes: Axes, pixels: NDArray[np.uint8]) -> None:
    axes.imshow(pixels, aspect="auto")
    axes.set(xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_color(FAINT)


def _frame(axes: Axes, box: Sequence[float] | None, size: tuple[int, int]) -> None:
    """Around a box in shares of a picture of `size` = (H, W)."""
    if box is not None:
        left, top, right, bottom = (edge * size[1 - number % 2] for number, edge in enumerate(box))
        corner = (left - 0.5, top - 0.5)
        axes.add_patch(Rectangle(corner, right - left, bottom - top, fill=False, edgecolor=ORANGE, linewidth=1.6))


def _head(figure: Figure, prediction: CaptionPrediction, examined: ExaminedCaption | None, fonts: list[str]) -> None:
    width, height = figure.get_size_inches()
    letters, best = int((width - 2 * MARGIN) / LETTER), prediction.best
    x = MARGIN / width
    title = shortened(best.text or "(nothing)", letters)
    figure.text(x, 1 - 0.25 / height, title, fontsize=10, weight="bold", color=INK, fontfamily=fonts, parse_math=False)
    said, color = f"{prediction.picture.name}, log-probability {best.log_prob:.2f}", SOFT
    if examined is not None and examined.true is not None:
        color = RIGHT if examined.true else WRONG
        said = f"{'true' if examined.true else 'not true'} of image {said}"
    if examined is not None and examined.truth:
        said += f"; the data: {examined.truth}"
    said = shortened(said, int(letters * 1.25))
    figure.text(x, 1 - 0.45 / height, said, fontsize=8, color=color, fontfamily=fonts, parse_math=False)

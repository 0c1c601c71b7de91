"""The view of captioning: images, their captions, and a map of the attention for each word."""

import io
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.data.captions.files import SUFFIXES
from zoo.errors import DataError
from zoo.predicting.captioning import CaptionPrediction
from zoo.visualize.blocks import Block
from zoo.visualize.captions import CaptionsView
from zoo.visualize.drawing import TINY, Drawing, Key, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page
from zoo.visualize.view import AttentionMap, Field

MAPS = Key(
    "",
    "bright: where the network looked; the number is the largest weight",
    "A small image with each word is bright where the network looked when it wrote the word, with the largest weight "
    "beside the word; point at it, or reach it by the tab key, to see it large.",
)
OBJECT = Key("true", "the object that the word names")
DIM, GLOW = 0.35, 0.3
"""The brightness where the network did not look, and the share of white where it looked most, for dark images."""
MOST_BYTES = 40_000  # A larger image is written as JPEG: photographs would make pages of many images heavy
FINER = 4  # Pixels of a map per cell; the browser smooths them
AREA, GAP, TITLE = 158, 10, 25
"""Pixels in a picture: the side of a square map, the room between maps, and the line above each."""
BROADEST, MOST_WORDS = 960, 40  # The width of a row of maps in a picture, and the words that it shows
SHARPEST, WORD = 320, 12  # Pixels of the longer side of a map in a picture, and the size of its word


class CaptioningView(CaptionsView):
    """Images with their captions."""

    noun, typed = "image", "image.jpg"
    columns = ("image", "caption", "log-probability")
    needs = ("source", "model=show_attend_tell")

    @property
    def suffixes(self) -> Collection[str]:
        return SUFFIXES

    def form(self) -> tuple[Field, ...]:
        return (Field("image", kind="image"),)

    def entered(self, values: Sequence[str]) -> Image.Image:
        path = self.parse(values[0])
        try:
            image = Image.open(path)
        except OSError as error:
            raise DataError(f"{path.name}: not an image that can be read ({error})") from error
        image.filename = path.name  # its folder is a temporary one
        return image

    def seen(self, prediction: CaptionPrediction, words: Sequence[tuple[str, Any, Any]]) -> Block:
        attended, named = prediction.best.attention is not None, any(place for _, _, place in words)
        keys, picture = (*[MAPS] * attended, *[OBJECT] * named), prediction.picture
        return AttendedImage(picture.name, picture.png, prediction.grid, [Word(*one) for one in words], keys=keys)

    def maps(self, predictor: Any, given: Any, prediction: CaptionPrediction) -> list[AttentionMap]:
        """Return all layers and heads, where there are several; the answer shows a single one."""
        best, found = predictor.task.whole_attention(predictor.encoder([given]))
        if "source" not in found or found["source"].shape[:2] == (1, 1):
            return []
        down, across = prediction.grid
        cells = [f"{row + 1}, {column + 1}" for row in range(down) for column in range(across)]
        words = [*prediction.best.words, *["(end)"] * best.finished]
        return [AttentionMap("words and cells of the image (row, column)", found["source"], words, cells)]


# Maps


class Word(NamedTuple):
    """A written word."""

    text: str
    weights: Sequence[float] | None  # Attention to the cells of the grid, row by row; None where the network has none
    box: Sequence[float] | None = None  # (left, top, right, bottom) of the object that it names, as shares of the image


@dataclass(frozen=True)
class AttendedImage(Block):
    """An image, and a map for each word: bright where the network looked when it wrote the word."""

    name: str
    png: bytes | None  # A PNG file of the image; None where only its features are known
    grid: tuple[int, int]  # Rows and columns of the cells that the network attends to
    words: Sequence[Word]

    @property
    def attended(self) -> bool:
        return not self.words or any(word.weights is not None for word in self.words)


def smooth(weights: Sequence[float], grid: tuple[int, int], size: tuple[int, int]) -> NDArray[np.float32]:
    """Return weights as (H, W) = `size` pixels, interpolated between the centres of cells; 1 is the largest weight."""
    cells = np.asarray(weights, np.float32).reshape(grid)
    cells = cells / max(float(cells.max()), 1e-12)
    return np.asarray(Image.fromarray(cells).resize(size[::-1], Image.Resampling.BICUBIC)).clip(0, 1)


def overlay(weights: Sequence[float], grid: tuple[int, int], size: tuple[int, int]) -> Image.Image:
    """Return a layer of (H, W) = `size` pixels for an image: it dims places with low weights and lights the others."""
    looked = smooth(weights, grid, size)
    through = (DIM + (1 - DIM) * looked) * (1 - GLOW * looked)
    white = GLOW * looked / (1 - through).clip(1e-6)
    return Image.fromarray((255 * np.stack([white, white, white, 1 - through], -1) + 0.5).astype(np.uint8))


# The renderers


@page.html.register
def _(block: AttendedImage) -> str:
    source, ratio, maps = "", block.grid[1] / block.grid[0], []
    if block.png is not None:
        image = Image.open(io.BytesIO(block.png))
        ratio, source = image.width / image.height, f"data:image/png;base64,{b64encode(block.png).decode()}"
        if len(block.png) > MOST_BYTES:
            source = _url(image, "jpeg", quality=90)
    for word in block.words:
        if word.weights is not None:
            most = max(word.weights)
            row, column = divmod(list(word.weights).index(most), block.grid[1])
            layer = overlay(word.weights, block.grid, (block.grid[0] * FINER, block.grid[1] * FINER))
            maps.append((word.text, row, column, most, _url(layer, "png", optimize=True)))
    return page.macro("attended_image", block.name, source, ratio, maps)


def _url(image: Image.Image, kind: str, **options: int) -> str:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return f"data:image/{kind};base64,{b64encode(file.getvalue()).decode()}"


@figure.fitted.register
def _(block: AttendedImage, letters: Letters, room: float) -> Drawing:
    words, image = block.words[:MOST_WORDS], Image.new("RGBA", (block.grid[1] * 16, block.grid[0] * 16), "white")
    if block.png is not None:
        image = Image.open(io.BytesIO(block.png)).convert("RGBA")
        scale = SHARPEST / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.NEAREST if scale > 3 else Image.Resampling.LANCZOS)
    ratio = image.width / image.height
    wide, high = AREA * ratio**0.5, AREA / ratio**0.5
    columns = max(1, min(len(words) + 1, int((BROADEST + GAP) / (wide + GAP))))
    sheet = Drawing(max(room, columns * (wide + GAP) - GAP), -(-(len(words) + 1) // columns) * (high + TITLE))
    for number, word in enumerate([Word("", None), *words]):
        x, y, light = number % columns * (wide + GAP), TITLE + number // columns * (high + TITLE), image
        if word.weights is not None:
            light = Image.alpha_composite(image, overlay(word.weights, block.grid, image.size[::-1]))
            if word.box is not None:
                left, top, right, bottom = word.box
                sheet.box("true", x + left * wide, y + top * high, (right - left) * wide, (bottom - top) * high)
            space = wide - letters.width("0.00", TINY) - 4
            sheet.write(x, y - 5, letters.cut(word.text, space, WORD), WORD, "ink")
            sheet.write(x + wide, y - 5, f"{max(word.weights):.2f}", TINY, side="right")
        sheet.rasters.append(Raster(x, y, wide, high, np.asarray(light.convert("RGB"))))
        sheet.box("frames", x, y, wide, high)
    if len(block.words) > MOST_WORDS:
        sheet.notes.append(f"cut to {MOST_WORDS} words")
    return sheet

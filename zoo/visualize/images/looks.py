"""An image with a map of the attention for each word that was written about it."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.visualize.blocks import Block
from zoo.visualize.drawing import Drawing, Picture
from zoo.visualize.images.light import DIM, GLOW, lit, smooth
from zoo.visualize.renderers import figure, page
from zoo.visualize.renderers.page import text
from zoo.visualize.texts.letters import Letters

SIDE, WIDEST = 18.0, 36.0
"""The width of a square image on a page, in heights of a letter, and of the widest; all images have the same area."""
MOST_BYTES = 40_000
"""A larger image is written as JPEG: photographs would make pages of many images heavy."""
FINER = 4
"""Pixels of a map per cell; the browser smooths them."""
AREA, GAP, TITLE = 158, 10, 25
"""Pixels in a picture: the side of a square map, the room between maps, and the line above each."""
BROADEST, MOST_WORDS = 960, 40
"""The width of a row of maps in a picture, and the words that it shows."""
SHARPEST = 320
"""Pixels of the longer side of a map in a picture."""
SMALL = 12.0

Box = Sequence[float]


class Word(NamedTuple):
    """A written word."""

    text: str
    weights: Sequence[float] | None
    """Attention to the cells of the grid, row by row; None where the network has none."""
    box: Box | None = None
    """(left, top, right, bottom) of the object that the word names, as shares of the image; None where unknown."""


@dataclass(frozen=True)
class Looks(Block):
    """An image, and a map for each word: bright where the network looked when it wrote the word."""

    name: str
    png: bytes | None
    """A PNG file of the image; None where only its features are known."""
    grid: tuple[int, int]
    """Rows and columns of the cells that the network attends to."""
    words: Sequence[Word]

    def pixels(self) -> NDArray[np.uint8]:
        """Return the image (H, W, 3) in the size of a map; white where the image is unknown."""
        if self.png is None:
            rows, columns = self.grid
            return np.full((rows * 16, columns * 16, 3), 255, np.uint8)
        image = Image.open(io.BytesIO(self.png)).convert("RGB")
        scale = SHARPEST / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        return np.asarray(image.resize(size, Image.Resampling.NEAREST if scale > 3 else Image.Resampling.LANCZOS))


@page.html.register
def _(block: Looks) -> str:
    """The image, and beside it the maps; pointing at a map shows it on the image."""
    source, ratio = _source(block)
    wide = min(WIDEST, SIDE * ratio**0.5)
    name = text(block.name)
    title = "" if block.png else f' title="{name}: only its features are known"'
    image = f'<img class="picture" alt="{name}" src="{source}">' if source else f'<div class="picture"{title}></div>'
    shared = f";--image:url({source})" if source else ""
    maps = "\n".join(_map(word, block.grid) for word in block.words if word.weights is not None)
    listed = f'\n<ol class="maps">\n{maps}\n</ol>' if maps else ""
    style = f"--ratio:{ratio:.4f};--wide:{wide:.1f}rem{shared}"
    return f'<div class="looks" style="{style}">\n<div class="seen">{image}</div>{listed}\n</div>'


def _source(block: Looks) -> tuple[str, float]:
    """The image as a data URL, empty where it is unknown, and its width divided by its height."""
    if block.png is None:
        return "", block.grid[1] / block.grid[0]
    image = Image.open(io.BytesIO(block.png))
    if len(block.png) <= MOST_BYTES:
        return _data(block.png), image.width / image.height
    file = io.BytesIO()
    image.save(file, "jpeg", quality=90)
    return _data(file.getvalue(), "jpeg"), image.width / image.height


def _map(word: Word, grid: tuple[int, int]) -> str:
    """The map of a word, with the word under it."""
    assert word.weights is not None
    most = max(word.weights)
    row, column = divmod(list(word.weights).index(most), grid[1])
    look = _data(overlay(word.weights, grid))
    return (
        f'<li class="word" tabindex="0" data-row="{row}" data-column="{column}" data-weight="{most:.4f}" '
        f'title="largest weight {most:.2f}" style="--look:url({look})"><i class="map"></i>'
        f'<span dir="auto">{text(word.text)}</span> <small>{most:.2f}</small></li>'
    )


def overlay(weights: Sequence[float], grid: tuple[int, int]) -> bytes:
    """Return a PNG file that, laid over an image, makes of it what `light.lit` makes of it."""
    looked = smooth(weights, grid, (grid[0] * FINER, grid[1] * FINER))
    through = (DIM + (1 - DIM) * looked) * (1 - GLOW * looked)
    white = GLOW * looked / (1 - through).clip(1e-6)
    layers = [white, white, white, 1 - through]
    file = io.BytesIO()
    Image.fromarray((255 * np.stack(layers, -1) + 0.5).astype(np.uint8)).save(file, "png", optimize=True)
    return file.getvalue()


def _data(file: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{b64encode(file).decode()}"


@figure.fitted.register
def _(block: Looks, letters: Letters) -> figure.Part:
    """The image, then one map per word, in rows; the object that a word names is framed."""
    words, pixels = list(block.words[:MOST_WORDS]), block.pixels()
    ratio = pixels.shape[1] / pixels.shape[0]
    wide, high = AREA * ratio**0.5, AREA / ratio**0.5
    columns = max(1, min(len(words) + 1, int((BROADEST + GAP) / (wide + GAP))))
    rows = -(-(len(words) + 1) // columns)

    def paint(sheet: Drawing, left: float, top: float, width: float) -> None:
        for number, word in enumerate([None, *words]):
            x, y = left + number % columns * (wide + GAP), top + TITLE + number // columns * (high + TITLE)
            weights = None if word is None else word.weights
            shown = pixels if weights is None else lit(pixels, weights, block.grid)
            sheet.pictures.append(Picture(x, y, wide, high, shown))
            sheet.box("frames", x, y, wide, high, "none")
            if word is None or weights is None:
                continue
            if word.box is not None:
                begin, above, end, below = word.box
                sheet.box(
                    "true", x + begin * wide, y + above * high, (end - begin) * wide, (below - above) * high, "none"
                )
            number_width = letters.width("0.00", 9.8) + 4
            sheet.write(x, y - 5, letters.cut(word.text, wide - number_width, SMALL), SMALL, "ink")
            sheet.write(x + wide, y - 5, f"{max(weights):.2f}", 9.8, side="right")

    notes = [f"cut to {MOST_WORDS} words"] if len(block.words) > MOST_WORDS else []
    return figure.Part(columns * (wide + GAP) - GAP, lambda width: rows * (high + TITLE), paint, notes)

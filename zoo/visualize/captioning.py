"""The view of captioning: images, their captions, and a map of the attention for each word."""

import io
import shlex
from argparse import Namespace
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from zoo.data.images.files import SUFFIXES
from zoo.data.rows import visible
from zoo.errors import DataError
from zoo.tasks.captioning import CaptionPrediction, ExaminedCaption
from zoo.visualize.blocks import Block, Head, Rows
from zoo.visualize.drawing import TINY, Drawing, Key, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.printable import shown
from zoo.visualize.renderers import figure, page
from zoo.visualize.view import View, ranked

MAPS = Key(
    "",
    "bright: looked at; beside a word its largest weight",
    "A small image with each word is bright where the network looked when it wrote the word, with the largest weight "
    "beside the word; point at it, or reach it by the tab key, to see it large.",
)
OBJECT = Key("true", "the object that the word names")
RANKED = Key(long="Below an image are all its captions with the score they were ranked by.")
DIM, GLOW = 0.35, 0.3
"""The brightness of an image where the network did not look, and the share of white where it looked most: without it
nothing would be visible on a dark image."""
MOST_BYTES = 40_000
"""A larger image is written as JPEG: photographs would make pages of many images heavy."""
FINER = 4
"""Pixels of a map per cell; the browser smooths them."""
AREA, GAP, TITLE = 158, 10, 25
"""Pixels in a picture: the side of a square map, the room between maps, and the line above each."""
BROADEST, MOST_WORDS = 960, 40
"""The width of a row of maps in a picture, and the words that it shows."""
SHARPEST, WORD = 320, 12
"""Pixels of the longer side of a map in a picture, and the size of its word."""


class CaptioningView(View):
    """Images with their captions."""

    noun, typed = "image", "image.jpg"
    columns = ("image", "caption", "log-probability")
    truth = "captions"
    title = "What the network attended to"
    needs = ("source", "model=show_attend_tell")
    searches = ("beam", "nbest")

    def read_word(self, word: str) -> list[Any | None]:
        """Return the path of an image, or those of all images in a folder, sorted by name.

        Raises:
            DataError: a path does not exist, or a folder has no images.
        """
        path = Path(word)
        if not path.is_dir():
            return [_image(path, "the path of an image, or of a folder of images")]
        found = [inside for inside in visible(path) if inside.suffix.lower() in SUFFIXES and inside.is_file()]
        if not found:
            expected = f"expected files that end in {', '.join(sorted(SUFFIXES))}"
            raise DataError(f"{path}: no image in this folder; {expected}")
        return [*found]

    def parse(self, line: str) -> Path:
        return _image(Path(line.strip()), "the path of an image")

    def row(self, prediction: CaptionPrediction) -> list[Any]:
        best = prediction.best
        return [shown(prediction.picture.name), shown(best.text), round(best.log_prob, 4)]

    def terminal(self, prediction: CaptionPrediction, number: int, options: Namespace) -> str:
        """Return the image and its caption, separated by a tab."""
        if options.nbest is None:
            return f"{shown(prediction.picture.name)}\t{shown(prediction.best.text)}"
        return ranked(number, prediction.captions)

    def examined_columns(self) -> list[str]:
        return [*super().examined_columns(), "true"]

    def examined_row(self, examined: ExaminedCaption) -> list[Any]:
        """Return the row with a last column: whether the caption is true, where the data knows."""
        return [*super().examined_row(examined), {True: "yes", False: "no", None: ""}[examined.true]]

    def try_it(self, data: Any) -> str:
        """Return the path of an image of the data, where it is a file."""
        names = [str(example.get("image")) for example in data.describe().get("examples", ())]
        folder = Path(str(getattr(data, "path", None) or getattr(data, "source", "")))
        found = [path for name in names for path in (Path(name), folder / name) if path.is_file()]
        return shlex.quote(str(found[0])) if found else self.typed

    def blocks(self, prediction: CaptionPrediction, examined: ExaminedCaption | None = None) -> list[Block]:
        best, picture = prediction.best, prediction.picture
        true, boxes, truth = (examined.true, examined.boxes, examined.truth) if examined else (None, None, None)
        known = [] if true is None else ["true of the image" if true else "not true of the image"]
        known += [f"the data: {truth}"] * bool(truth)
        head = Head(
            best.text,
            above=picture.name,
            under=f"log-probability {best.log_prob:.3f}",
            truth=("", "; ".join(known)) if known else None,
            right=true,
            data={"caption": best.text, "image": picture.name},
        )
        nothing = [None] * len(best.words)
        words = [Word(*parts) for parts in zip(best.words, best.attention or nothing, boxes or nothing, strict=False)]
        keys = (*[MAPS] * (best.attention is not None), *[OBJECT] * any(boxes or ()))
        image = AttendedImage(picture.name, picture.png, prediction.grid, words, keys=keys)
        rows = [(f"{one.score:.4f}", one.text or "(nothing)") for one in prediction.captions]
        return [head, image, *[Rows(rows, keys=(RANKED,))] * (len(rows) > 1)]


def _image(path: Path, expected: str) -> Path:
    """Return the path of an image; raises DataError if it is not a file."""
    if not path.is_file():
        raise DataError(f"{path}: {'a folder' if path.is_dir() else 'no such file'}; expected {expected}")
    return path


# Maps


class Word(NamedTuple):
    """A written word."""

    text: str
    weights: Sequence[float] | None
    """Attention to the cells of the grid, row by row; None where the network has none."""
    box: Sequence[float] | None = None
    """(left, top, right, bottom) of the object that the word names, as shares of the image; None where unknown."""


@dataclass(frozen=True)
class AttendedImage(Block):
    """An image, and a map for each word: bright where the network looked when it wrote the word."""

    name: str
    png: bytes | None
    """A PNG file of the image; None where only its features are known."""
    grid: tuple[int, int]
    """Rows and columns of the cells that the network attends to."""
    words: Sequence[Word]

    @property
    def attended(self) -> bool:
        return not self.words or any(word.weights is not None for word in self.words)

    def pixels(self) -> NDArray[np.uint8]:
        """Return the image (H, W, 3) in the size of a map; white where the image is unknown."""
        if self.png is None:
            rows, columns = self.grid
            return np.full((rows * 16, columns * 16, 3), 255, np.uint8)
        image = Image.open(io.BytesIO(self.png)).convert("RGB")
        scale = SHARPEST / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        return np.asarray(image.resize(size, Image.Resampling.NEAREST if scale > 3 else Image.Resampling.LANCZOS))


# Light


def smooth(weights: Sequence[float], grid: tuple[int, int], size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the weights as (H, W) = `size` pixels, from 0 to 1 for the largest weight.

    Each cell covers its own part of the image; between the centres of cells the weights are interpolated.
    """
    cells = np.asarray(weights, np.float32).reshape(grid)
    cells = cells / max(float(cells.max()), 1e-12)
    spread = Image.fromarray(cells).resize((size[1], size[0]), Image.Resampling.BICUBIC)
    return np.asarray(spread).clip(0, 1)


def lit(pixels: NDArray[np.uint8], weights: Sequence[float], grid: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the image (H, W, 3), dim where the `weights` (S,) of a word are low and bright where they are highest."""
    looked = smooth(weights, grid, pixels.shape[:2])[..., None]
    light = pixels * (DIM + (1 - DIM) * looked)
    return (light + GLOW * looked * (255 - light) + 0.5).astype(np.uint8)


def overlay(weights: Sequence[float], grid: tuple[int, int]) -> bytes:
    """Return a PNG file that makes of an image under it what `lit` makes of it."""
    looked = smooth(weights, grid, (grid[0] * FINER, grid[1] * FINER))
    through = (DIM + (1 - DIM) * looked) * (1 - GLOW * looked)
    white = GLOW * looked / (1 - through).clip(1e-6)
    layers = (255 * np.stack([white, white, white, 1 - through], -1) + 0.5).astype(np.uint8)
    return _file(Image.fromarray(layers), "png", optimize=True)


def _file(image: Image.Image, kind: str, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _data(file: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64,{b64encode(file).decode()}"


# The renderers


@page.html.register
def _(block: AttendedImage) -> str:
    source, ratio, maps = "", block.grid[1] / block.grid[0], []
    if block.png is not None:
        image = Image.open(io.BytesIO(block.png))
        light = len(block.png) <= MOST_BYTES
        source = _data(block.png) if light else _data(_file(image, "jpeg", quality=90), "jpeg")
        ratio = image.width / image.height
    for word in block.words:
        if word.weights is not None:
            most = max(word.weights)
            row, column = divmod(list(word.weights).index(most), block.grid[1])
            maps.append((word.text, row, column, most, _data(overlay(word.weights, block.grid))))
    return page.macro("attended_image", block.name, source, ratio, maps)


@figure.fitted.register
def _(block: AttendedImage, letters: Letters, room: float) -> Drawing:
    """The image, then one map per word, in rows; the object that a word names is framed."""
    words, pixels = block.words[:MOST_WORDS], block.pixels()
    ratio = pixels.shape[1] / pixels.shape[0]
    wide, high = AREA * ratio**0.5, AREA / ratio**0.5
    columns = max(1, min(len(words) + 1, int((BROADEST + GAP) / (wide + GAP))))
    sheet = Drawing(max(room, columns * (wide + GAP) - GAP), -(-(len(words) + 1) // columns) * (high + TITLE))
    for number, word in enumerate([Word("", None), *words]):
        x, y = number % columns * (wide + GAP), TITLE + number // columns * (high + TITLE)
        light = pixels if word.weights is None else lit(pixels, word.weights, block.grid)
        sheet.rasters.append(Raster(x, y, wide, high, light))
        sheet.box("frames", x, y, wide, high)
        if word.weights is not None:
            if word.box is not None:
                left, top, right, bottom = word.box
                sheet.box("true", x + left * wide, y + top * high, (right - left) * wide, (bottom - top) * high)
            space = wide - letters.width("0.00", TINY) - 4
            sheet.write(x, y - 5, letters.cut(word.text, space, WORD), WORD, "ink")
            sheet.write(x + wide, y - 5, f"{max(word.weights):.2f}", TINY, side="right")
    if len(block.words) > MOST_WORDS:
        sheet.notes.append(f"cut to {MOST_WORDS} words")
    return sheet

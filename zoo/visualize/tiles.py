"""Small pictures side by side, each with its title, pixel by pixel: on the terminal, on a page and in a picture."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.color import Color
from rich.console import RenderableType
from rich.style import Style
from rich.text import Text

from zoo.visualize.blocks import Block
from zoo.visualize.drawing import SHADES, SMALL, Drawing, Raster
from zoo.visualize.letters import Letters
from zoo.visualize.renderers import figure, page, terminal
from zoo.visualize.renderers.terminal import Screen

SIDE, GAP, TITLE = 120, 14, 20
"""Pixels in a picture: the longer side of a tile, the room between tiles, and the line above each."""
BROADEST, MOST = 960, 64  # The width of a row of tiles in a picture, and the most tiles that are drawn
SHARPEST = 480  # Pixels of the longer side of a tile, as it is drawn
LARGEST = 40  # Pixels of the longer side of a tile on the terminal
DARK, GREYS = " ░▒▓█", " .:*#"  # Signs from black to white, and for a terminal of ASCII


@dataclass(frozen=True)
class Tile:
    """A picture."""

    pixels: NDArray[np.uint8]  # (H, W, C)
    title: str = ""
    kept: int | None = None  # The rows that were given, where the others were drawn; a line is under them
    boxes: Sequence[tuple[int, int, int, int]] = ()  # (row, column, height, width) of pixels in a frame
    finer: int = 1  # Pixels per pixel of the picture itself, which a terminal shows
    inked: bool = False  # Dark pixels show much; a terminal without colours prints them as bright ones

    def reduced(self) -> Tile:
        """The picture for a terminal, with means of neighbours where it is large."""
        height, width, channels = self.pixels.shape
        factor = max(self.finer, ceil(max(height, width) / LARGEST))
        if factor == 1:
            return self
        down, across = height // factor, width // factor
        parts = self.pixels[: down * factor, : across * factor].reshape(down, factor, across, factor, channels)
        return replace(self, pixels=np.rint(parts.mean((1, 3))).astype(np.uint8), boxes=())

    @property
    def colours(self) -> NDArray[np.uint8]:
        """(H, W, 3)."""
        return self.pixels if self.pixels.shape[2] == 3 else np.repeat(self.pixels, 3, 2)


@dataclass(frozen=True)
class Tiles(Block):
    """Pictures side by side."""

    tiles: Sequence[Tile]
    looks: bool = False  # Whether they show attention
    columns: int | None = None  # Tiles in a row of a picture; None: as many as there is room for

    @property
    def attended(self) -> bool:
        return self.looks


def heat(values: NDArray[np.floating], most: float | None = None) -> NDArray[np.uint8]:
    """(H, W) values from 0 as (H, W, 3) bytes, from pale to dark; `most` has the darkest colour."""
    shades = np.array([[int(shade[i : i + 2], 16) for i in (1, 3, 5)] for shade in SHADES], np.float32)
    place = (np.asarray(values, np.float32) / max(most or float(np.max(values, initial=0)), 1e-12)).clip(0, 1) * 2
    low = np.minimum(place.astype(int), 1)
    return np.rint(shades[low] + (place - low)[..., None] * (shades[low + 1] - shades[low])).astype(np.uint8)


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of (H, W, 1) or (H, W, 3) bytes."""
    file = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(file, "PNG", optimize=True)
    return file.getvalue()


def sheet(pictures: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Pictures of one size in rows, with a line of grey pixels between them, as (H, W, C) bytes."""
    if len(pictures) == 1:
        return pictures[0]
    height, width, channels = pictures[0].shape
    across = ceil(len(pictures) ** 0.5)
    found = np.full(
        (ceil(len(pictures) / across) * (height + 1) - 1, across * (width + 1) - 1, channels), 128, np.uint8
    )
    for number, one in enumerate(pictures):
        top, left = number // across * (height + 1), number % across * (width + 1)
        found[top : top + height, left : left + width] = one
    return found


@terminal.lines.register
def _(block: Tiles, screen: Screen) -> Iterator[RenderableType]:
    tiles = [tile.reduced() for tile in block.tiles[:MOST]]
    letters = 1 if screen.colour else 2  # per pixel
    width = max(tile.pixels.shape[1] for tile in tiles) * letters
    across = max(1, (screen.width + 2) // (width + 2))
    for first in range(0, len(tiles), across):
        row = tiles[first : first + across]
        if any(tile.title for tile in row):
            yield Text("  ".join(tile.title[:width].ljust(width) for tile in row).rstrip(), "dim")
        drawn = [_rows(tile, screen) for tile in row]
        for number in range(max(map(len, drawn))):
            parts = [one[number] if number < len(one) else Text(" " * width) for one in drawn]
            yield Text("  ").join(parts)
        yield Text()


def _rows(tile: Tile, screen: Screen) -> list[Text]:
    """The lines of a tile. With colours a letter is two pixels, one above the other."""
    pixels = tile.colours
    if not screen.colour:
        signs = GREYS if screen.ascii_only else DARK
        grey = 255 - pixels.mean(2) if tile.inked else pixels.mean(2)
        return [Text("".join(2 * signs[int(one * len(signs) / 256)] for one in row)) for row in grey]
    found = []
    for upper, lower in zip(pixels[::2], [*pixels[1::2], *[None] * (len(pixels) % 2)], strict=True):
        line = Text()
        for column, one in enumerate(upper):
            below = None if lower is None else Color.from_rgb(*lower[column])
            line.append("▀", Style(color=Color.from_rgb(*one), bgcolor=below))
        found.append(line)
    return found


@page.html.register
def _(block: Tiles) -> str:
    tiles = [
        (
            tile.title,
            f"data:image/png;base64,{b64encode(png(tile.pixels)).decode()}",
            tile.pixels.shape[1] / tile.pixels.shape[0],
            None if tile.kept is None else tile.kept / tile.pixels.shape[0],
            [tuple(np.array(box) / np.tile(tile.pixels.shape[:2], 2)) for box in tile.boxes],
        )
        for tile in block.tiles[:MOST]
    ]
    return page.macro("tiles", tiles)


@figure.fitted.register
def _(block: Tiles, letters: Letters, room: float) -> Drawing:
    tiles = block.tiles[:MOST]
    sizes = [np.array(tile.pixels.shape[:2]) * (SIDE / max(tile.pixels.shape[:2])) for tile in tiles]
    high, wide = np.max(sizes, 0).tolist()
    columns = block.columns or max(1, min(len(tiles), int((BROADEST + GAP) / (wide + GAP))))
    titled = TITLE if any(tile.title for tile in tiles) else 0
    drawing = Drawing(max(room, columns * (wide + GAP) - GAP), ceil(len(tiles) / columns) * (high + titled + GAP) - GAP)
    for number, tile in enumerate(tiles):
        x, y = number % columns * (wide + GAP), titled + number // columns * (high + titled + GAP)
        drawing.write(x, y - 6, letters.cut(tile.title, wide, SMALL), SMALL, "ink")
        height, width = tile.pixels.shape[:2]
        scale = max(1, SHARPEST // max(height, width))
        down, across = sizes[number].tolist()
        drawing.rasters.append(Raster(x, y, across, down, tile.colours.repeat(scale, 0).repeat(scale, 1)))
        drawing.box("frames", x, y, across, down)
        if tile.kept is not None:
            edge = y + down * tile.kept / height
            drawing.line("true", [(x, edge), (x + across, edge)])
        for row, column, tall, broad in tile.boxes:
            place = (x + across * column / width, y + down * row / height)
            drawing.box("true", *place, across * broad / width, down * tall / height)
    if len(block.tiles) > MOST:
        drawing.notes.append(f"cut to {MOST} pictures")
    return drawing

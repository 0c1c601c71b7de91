"""Images of one colour with captions of many lengths, for tests of all data sets of images."""

import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from zoo.data.captions.pictures import PictureRow
from zoo.data.images.module import ImageData
from zoo.data.sources import Source

WORDS = ("Red", "blue", "dog", "it's", "runs", "over", "grass", "Häuser", "tall")
SIZES = {"train": 40, "val": 9, "test": 7}
SMALL = {"picture": {"size": 16}, "grid": [2, 2]}
"""Options of data from files, for small pictures."""
SIDE = (4, 6)
"""Height and width of the pictures."""


def colour(split: str, number: int) -> list[int]:
    """The colour of a picture, which no other picture has."""
    return [number, list(SIZES).index(split), 100]


def row(split: str, number: int, folder: Path | None = None) -> PictureRow:
    """An image of `split`, a file of `folder` or pixels; it has 1 to 6 captions of 1 to 9 words and a full stop."""
    draw = random.Random(f"toy {split} {number}")
    captions = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) + "." for _ in range(draw.randint(1, 6))]
    pixels = np.tile(np.array(colour(split, number), np.uint8), (*SIDE, 1))
    name, place = f"{split}-{number}.png", f"{split}.csv, line {number + 2}"
    if folder is None:
        return PictureRow(name, pixels, tuple(captions), place, {"number": number, "objects": []})
    Image.fromarray(pixels).save(folder / name)
    return PictureRow(name, folder / name, tuple(captions), place)


def rows_of(sizes: dict[str, int], folder: Path | None = None) -> dict[str, list[PictureRow]]:
    return {split: [row(split, number, folder) for number in range(size)] for split, size in sizes.items()}


class Toy(ImageData):
    """The images of `rows_of`, or other rows."""

    name = "toy"

    def __init__(self, rows: dict[str, list[PictureRow]] | None = None, **options: Any):
        super().__init__(**{"picture": {"size": list(SIDE)}, "grid": (2, 3), **options})
        self.rows = rows or rows_of(SIZES)

    def open_source(self) -> Source:
        def read(split: str, bad: Any) -> Any:
            return iter(self.rows[split])

        splits = {name: partial(read, name) for name in self.rows}
        return Source("toys", "toys: {count} images", {"rows": str(self.rows)}, splits)


def names(data):
    """The names of the images of each split."""
    return {split: [one.name for one in data.part(split).about(np.arange(size))] for split, size in data.sizes.items()}


def text_of(caption):
    """A toy's caption as `encoder.text` writes it: in small letters, without marks."""
    return caption.lower().replace(".", "")

"""Generated images written as a folder of files and a table of captions, as `data=captions` reads them."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from zoo.data.images.row import ImageRow
from zoo.errors import DataError

TABLE = "captions.csv"
COLUMNS = ("file", "caption", "split")


def write_images(folder: Path, rows: Mapping[str, Iterator[ImageRow]]) -> list[Path]:
    """Write the pixels of each split as .png files of a folder of its own, and `captions.csv` beside these, a row for
    each caption: all of it, or nothing. The table and the folders. Raises DataError where something is there already,
    or cannot be written."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise DataError(f"{folder}: is not empty, and stays as it is; give a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as made:
            inside = Path(made) / folder.name
            inside.mkdir()
            for split in rows:
                (inside / split).mkdir()
            with (inside / TABLE).open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, lineterminator="\n")
                table.writerow(COLUMNS)
                for split, images in rows.items():
                    for number, row in enumerate(images, 1):
                        name = f"{split}/{number:06d}.png"
                        Image.fromarray(np.asarray(row.picture)).save(inside / name)
                        table.writerows((name, caption, split) for caption in row.captions)
            os.replace(inside, folder)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from error
    return [folder / TABLE, *(folder / split for split in rows)]

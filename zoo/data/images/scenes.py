"""Generated pictures of coloured shapes, with captions whose true alignment is known."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from PIL import Image

from zoo.arguments import Count
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import PictureRow
from zoo.data.images.module import ImageData
from zoo.data.images.samples import scenes
from zoo.data.images.samples.scenes import SIDE, Scene
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.table_data import TextArguments
from zoo.data.written import write_files
from zoo.values import hold

TABLE = "captions.csv"


class Scenes(ImageData):
    """Two to five objects on a textured ground, five captions each; see `zoo.data.images.samples.scenes`."""

    name = "scenes"

    def __init__(
        self,
        *,
        size: Count = SIDE,
        grid: Sequence[int] = (8, 8),
        batches: str = "pictures",
        captions_per_image: Count | None = 3,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[TextArguments],
    ) -> None:
        """`size` is the side of the pictures in pixels, `sample` their number."""
        hold("data.size", size, Count)
        super().__init__(
            picture=PictureOptions(size=size), grid=grid, batches=batches, captions_per_image=captions_per_image, **rest
        )
        self.size = size
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return scene_source(self.sample, self.size)

    def write(self, folder: Path) -> list[Path]:
        """Write the scenes as .png files, a folder per split, and their captions as a table, for data=captions. Returns
        the table and the folders. Raises DataError, and writes nothing, if the folder is not empty or an error occurs.
        """

        def write(path: Path, row: PictureRow) -> None:
            Image.fromarray(np.asarray(row.picture)).save(path)

        kinds: dict[str, Any] = {"table": TABLE, "column": "caption", "suffix": ".png"}
        return write_files(
            folder, self.open_source(), self.bad_rows(), **kinds, write=write, texts=lambda row: row.captions
        )


def scene_source(options: SampleOptions, size: int) -> Source:
    """Scenes of `size` by `size` pixels."""
    source = sample_source(scenes.generate, options, "scenes", size=size)

    def rows(read: Callable[[BadRows], Iterator[Scene]], split: str, bad: BadRows) -> Iterator[PictureRow]:
        for number, scene in enumerate(read(bad), 1):
            place = f"{source.place}, {split}, scene {number}"
            yield PictureRow(f"{split} {number}", scene.pixels, tuple(scene.captions), place, scene.facts)

    return replace(source, splits={name: partial(rows, read, name) for name, read in source.splits.items()})

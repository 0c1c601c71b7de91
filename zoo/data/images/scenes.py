"""Generated pictures of coloured shapes, with captions of which the true alignment is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from zoo.arguments import Count
from zoo.data.images.module import ImageData
from zoo.data.images.options import PictureOptions
from zoo.data.images.row import ImageRow, Named
from zoo.data.images.samples import scenes
from zoo.data.images.samples.scenes import SIDE, Scene
from zoo.data.images.writing import write_images
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.data.table_data import TextArguments
from zoo.values import hold


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
        """`size` is that of the pictures, in pixels; `sample` gives the number of them."""
        hold("data.size", size, Count)
        super().__init__(
            picture=PictureOptions(size=size),
            grid=grid,
            batches=batches,
            captions_per_image=captions_per_image,
            **rest,
        )
        self.size = size
        self.sample = SampleOptions.of(sample)

    def open_source(self) -> Source:
        return scene_source(self.sample, self.size)

    def write(self, folder: Path) -> list[Path]:
        """Write the scenes as .png files, and their captions as a table, which data=captions reads. Raises DataError
        where the folder is not empty, or cannot be written; nothing is left then."""
        source, bad = self.open_source(), self.bad_rows()
        return write_images(folder, {split: read(bad) for split, read in source.splits.items()})


def scene_source(options: SampleOptions, size: int) -> Source:
    """Scenes of `size` by `size` pixels."""
    source = sample_source(scenes.generate, options, "scenes", size=size)

    def rows(read: Callable[[BadRows], Iterator[Scene]], split: str, bad: BadRows) -> Iterator[ImageRow]:
        for number, scene in enumerate(read(bad), 1):
            yield row_of(scene, f"{split} {number}", f"{source.place}, {split}, scene {number}")

    return replace(source, splits={name: partial(rows, read, name) for name, read in source.splits.items()})


def row_of(scene: Scene, name: str, place: str) -> ImageRow:
    """A scene as if it stood in a file."""
    boxes = tuple(
        tuple(Named(begin, end, scene.things[thing].box) for begin, end, thing in caption.named)
        for caption in scene.captions
    )
    return ImageRow(name, scene.pixels, tuple(caption.text for caption in scene.captions), place, boxes, scene.facts)

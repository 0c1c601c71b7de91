"""The base class of all data sets of clips with captions."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

from zoo.arguments import Count
from zoo.data.captions.files import SUFFIXES, Medium
from zoo.data.captions.module import CaptionArguments, CaptionData
from zoo.data.captions.options import PictureOptions
from zoo.data.captions.pictures import FILES, PIXELS, PictureRow, Pictures, StoredPictures
from zoo.data.clips.batch import ClipSpec
from zoo.data.clips.encoding import ClipCaptionEncoder
from zoo.data.clips.frames import COUNTS, Clips, ClipStore, FilmFrames
from zoo.data.clips.samples import moving_shapes
from zoo.data.clips.samples.moving_shapes import Clip
from zoo.data.clips.video import FILMS, frames_of
from zoo.data.options import SampleOptions
from zoo.data.rows import BadRows
from zoo.data.sources import Source, sample_source
from zoo.errors import ConfigError
from zoo.values import hold

FRAMES = 28  # K of the authors' code


class ClipArguments(CaptionArguments, total=False):
    """The arguments of every data set of clips besides those of `CaptionArguments`."""

    frames: Count
    captions_per_clip: Count | None


class ClipData(CaptionData):
    """Clips, each with some captions. A batch has at most `frames` equally spaced frames of each clip."""

    tasks: ClassVar[tuple[str, ...]] = ("clip_captioning",)
    encoding = ClipCaptionEncoder
    store_of = ClipStore
    row_noun = "clips"
    each = "captions_per_clip"
    spec: ClipSpec
    encoder: ClipCaptionEncoder

    def __init__(
        self, *, frames: Count = FRAMES, captions_per_clip: Count | None = None, **rest: Unpack[CaptionArguments]
    ) -> None:
        """`frames` is the most frames of a clip, and `captions_per_clip` the number of captions of each clip that are
        drawn in each epoch (None: all). By default a frame has one cell."""
        hold("data.frames", frames, Count)
        self.frames = frames
        rest.setdefault("grid", (1, 1))
        super().__init__(captions_per_image=captions_per_clip, **rest)
        if self.picture.varies:
            key = "random_crop" if self.picture.random_crop else "flip"
            raise ConfigError(f"data.picture.{key}=true: clips are the same in every epoch; set it to false")
        self.medium = Medium("clip", "data.clips", FILMS | SUFFIXES, self._checked)

    def _checked(self, row: PictureRow, options: PictureOptions) -> PictureRow:
        return row._replace(frames=len(frames_of(row.picture, self.frames, options)))

    def own_options(self) -> dict[str, Any]:
        return super().own_options() | {"frames": self.frames}

    def _facts(self, source: Source) -> dict[str, Any]:
        return super()._facts(source) | {"frames": self.frames}

    def pixels(self, folder: Path, about: Mapping[str, Any]) -> Pictures:
        if shape := about["picture_shape"]:
            return StoredPictures(folder / PIXELS, tuple(shape))
        return FilmFrames(json.loads((folder / FILES).read_text("utf-8")), _counts(folder), self.picture, self.frames)

    def served(self, folder: Path, pictures: Pictures) -> Pictures:
        return Clips(pictures, _counts(folder))

    def spec_of(self, about: Mapping[str, Any], **facts: Any) -> ClipSpec:
        return ClipSpec(**facts, frames=self.frames)

    def contents(self, about: Mapping[str, Any]) -> list[str]:
        words, cells = super().contents(about)
        return [words, f"up to {self.frames} frames, {cells}"]

    def moving_shapes(self, options: SampleOptions) -> Source:
        """The generated clips. Raises ConfigError if `frames` is smaller than their number of frames."""
        if (most := moving_shapes.FRAMES[1]) > self.frames:
            raise ConfigError(f"data.frames={self.frames}: clips of the sample have up to {most} frames: set {most}")
        source = sample_source(moving_shapes.generate, options, "clips")

        def rows(read: Callable[[BadRows], Iterator[Clip]], split: str, bad: BadRows) -> Iterator[PictureRow]:
            for number, clip in enumerate(read(bad), 1):
                place = f"{source.place}, {split}, clip {number}"
                yield PictureRow(f"{split} {number}", clip.frames, tuple(clip.captions), place, clip.facts)

        return replace(source, splits={name: partial(rows, read, name) for name, read in source.splits.items()})


def _counts(folder: Path) -> list[int]:
    found: list[int] = json.loads((folder / COUNTS).read_text("utf-8"))
    return found

"""Clips with captions of your own, in a table and a folder, or else the sample: `data=clips`."""

from collections.abc import Mapping
from typing import Any, Unpack

from zoo.data.captions.options import CaptionColumns
from zoo.data.captions.own import LAYOUT, CaptionTable
from zoo.data.clips.module import ClipArguments, ClipData
from zoo.data.options import SampleOptions
from zoo.data.sources import Source


class OwnClipArguments(ClipArguments, total=False):
    """The arguments of `OwnClips` besides those that it adds."""

    columns: Mapping[str, Any] | CaptionColumns | None


class OwnClips(CaptionTable, ClipData):
    """Films or folders of frames from `path`, or the sample without one. Splits that neither a column nor a table names
    are drawn by `split.seed`, by clip."""

    name = "clips"
    layout = LAYOUT.format("clip")

    def __init__(
        self,
        *,
        path: str | None = None,
        clips: str | None = None,
        sample: Mapping[str, Any] | SampleOptions | None = None,
        **rest: Unpack[OwnClipArguments],
    ) -> None:
        """`path` is the table or its folder, `clips` the folder of the clips, or its parent (None: the folder of the
        table), and `sample` has the sizes of the sample."""
        super().__init__(path=path or "", files=clips, **rest)
        self.sample = SampleOptions.of(sample)

    def open_sample(self) -> Source:
        return self.moving_shapes(self.sample)

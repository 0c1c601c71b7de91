"""Images with captions of your own: a folder of them and a table of captions."""

from collections.abc import Mapping
from typing import Any, Required, Unpack

from zoo.data.captions.options import CaptionColumns
from zoo.data.captions.own import CaptionTable
from zoo.data.images.module import ImageArguments, ImageData


class OwnCaptionArguments(ImageArguments, total=False):
    """The arguments of `OwnCaptions` besides `images`."""

    path: Required[str]
    columns: Mapping[str, Any] | CaptionColumns | None


class OwnCaptions(CaptionTable, ImageData):
    """Images from `path`. Splits that neither a column nor a table names are drawn by `split.seed`, by image."""

    name = "captions"

    def __init__(self, *, images: str | None = None, **rest: Unpack[OwnCaptionArguments]) -> None:
        """`images` is the folder of the images, or its parent; None: the folder of the table. `columns` names the
        columns of the table. `batches` is `pictures` by default."""
        super().__init__(files=images, **rest)

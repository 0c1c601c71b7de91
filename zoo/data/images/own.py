"""Images with captions of your own: a folder of them and a table of captions."""

from typing import Unpack

from zoo.arguments import Count
from zoo.data.captions.own import CaptionTable, CaptionTableArguments
from zoo.data.images.module import ImageData


class OwnCaptionArguments(CaptionTableArguments, total=False):
    """The arguments of `OwnCaptions` besides `images`."""

    captions_per_image: Count | None


class OwnCaptions(CaptionTable, ImageData):
    """Images from `path`. Splits that neither a column nor a table names are drawn by `split.seed`, by image."""

    name = "captions"

    def __init__(self, *, images: str | None = None, **rest: Unpack[OwnCaptionArguments]) -> None:
        """`images` is the folder of the images, or its parent; None: the folder of the table. The rest is as in
        `CaptionTable`."""
        super().__init__(files=images, **rest)

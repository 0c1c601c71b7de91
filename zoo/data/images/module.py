"""The base class of all data sets of images with captions."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from zoo.arguments import Count
from zoo.data.captions.module import CaptionArguments, CaptionData
from zoo.data.captions.pictures import FILES, PIXELS, PictureFiles, Pictures, StoredPictures
from zoo.data.images.batch import ImageSpec
from zoo.data.images.encoding import ImageCaptionEncoder


class ImageArguments(CaptionArguments, total=False):
    """The arguments of `ImageData`."""

    captions_per_image: Count | None


class ImageData(CaptionData):
    """Images, each with some captions; see `CaptionData`."""

    tasks: ClassVar[tuple[str, ...]] = ("captioning",)
    encoding = ImageCaptionEncoder
    picture_files: type[PictureFiles] = PictureFiles  # The class of pictures that are not stored
    spec: ImageSpec
    encoder: ImageCaptionEncoder

    def pixels(self, folder: Path, about: Mapping[str, Any]) -> Pictures:
        if shape := about["picture_shape"]:
            return StoredPictures(folder / PIXELS, tuple(shape))
        return self.picture_files(json.loads((folder / FILES).read_text("utf-8")), self.picture, self.loader.seed)

    def spec_of(self, about: Mapping[str, Any], **facts: Any) -> ImageSpec:
        return ImageSpec(**facts)

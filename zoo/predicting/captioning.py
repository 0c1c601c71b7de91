"""The captions of images."""

import io
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from PIL import Image
from torch import Tensor

from zoo.data.images.batch import ImageBatch, ImageSpec
from zoo.predicting.captions import Caption, Captioned, CaptionPredictions


@dataclass(frozen=True)
class Picture:
    """An image as a network sees it."""

    name: str  # Its file, or the number of a generated image
    png: bytes | None  # The content of a PNG file; None where only features of the image are known


@dataclass(frozen=True)
class CaptionPrediction(Captioned):
    """The captions of one image: the best first, or in the order in which they were sampled."""

    picture: Picture
    grid: tuple[int, int]
    """Rows and columns of the cells that the network attends to. They have one size and cover the picture."""
    captions: tuple[Caption, ...]

    @property
    def name(self) -> str:
        return self.picture.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as written by `zoo predict --json`, with the name of the image."""
        return {"image": self.picture.name, "grid": self.grid, "captions": [asdict(one) for one in self.captions]}


class CaptioningPredictions(CaptionPredictions):
    """The captions that any network for `captioning` writes."""

    name = "captioning"
    view: ClassVar[str] = "zoo.visualize.captioning.CaptioningView"
    spec: ImageSpec

    def contents(self, batch: ImageBatch) -> list[Tensor]:
        return list(batch.image)

    def prediction(
        self, name: str, pixels: Tensor | None, captions: tuple[Caption, ...], batch: ImageBatch
    ) -> CaptionPrediction:
        return CaptionPrediction(Picture(name, None if pixels is None else png(pixels)), batch.grid, captions)


def png(pixels: Tensor) -> bytes:
    """The content of a PNG file with these pixels, uint8 (3, H, W)."""
    file = io.BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).cpu().numpy()).save(file, "png", compress_level=1)
    return file.getvalue()

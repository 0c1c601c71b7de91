"""Converts images with captions to batches, and ids back to captions."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zoo.data.captions.decoding import seen
from zoo.data.captions.encoding import CaptionEncoder, caption_parts
from zoo.data.images.batch import ImageBatch, ImageDescription
from zoo.data.images.truth import alignment, named_words
from zoo.data.parts import Ragged


class ImageCaptionEncoder(CaptionEncoder):
    """Converts images, with or without captions, to batches, and ids to captions."""

    takes = "an image: a path, a PIL image, or an array of bytes (H, W, 3)"
    parts = caption_parts("boxes")
    places, description, plural = "boxes", ImageDescription, "images"

    def pixels(self, one: Any) -> Tensor:
        """uint8 (3, H, W) of a path, a PIL image or an array of bytes, as a network sees it. Raises DataError for
        anything that is not a picture."""
        return seen(one, self.picture)

    def joined(self, pixels: Sequence[Tensor]) -> Tensor:
        images = torch.stack(list(pixels))
        return images if self.features is None else self.features(images)

    def named_words(self, caption: str, facts: Any) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        return named_words(caption, facts)

    def alignment(self, shape: tuple[int, int], named: Ragged, places: NDArray[Any], images: Any) -> NDArray[np.bool_]:
        """The cells of the box of each word that names an object."""
        row = np.repeat(np.arange(len(named.lengths)), named.lengths)
        return alignment(shape, row, named.values, places, self.grid)

    def made(self, images: Tensor, **captions: Any) -> ImageBatch:
        return ImageBatch(images, self.grid, **captions)
